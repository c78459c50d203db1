package postgres

import (
	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

func (c *converter) alterTable(s *pg.AlterTableStmt) ast.Stmt {
	kind := c.objectKind(s.Objtype)
	switch kind {
	case ast.ObjTable, ast.ObjIndex, ast.ObjView, ast.ObjMatView, ast.ObjSequence, ast.ObjType:
	default:
		c.unsupported(ast.NoPos, "ALTER "+string(kind))
		return nil
	}
	out := &ast.AlterTable{Loc: ast.At(c.start), Kind: kind, Table: c.tableRef(s.Relation, "ALTER TABLE"), IfExists: s.MissingOk}
	for _, n := range s.Cmds {
		x, ok := n.GetNode().(*pg.Node_AlterTableCmd)
		if !ok {
			c.unknown(n, "ALTER TABLE")
			return nil
		}
		if c.err != nil {
			return nil
		}
		out.Cmds = append(out.Cmds, c.alterCmd(x.AlterTableCmd))
	}
	return out
}

// alterUse says which of a command's fields its conversion reads; another that is set is refused.
type alterUse uint8

const (
	useName alterUse = 1 << iota
	useNum
	useOwner
	useDef
	useBehavior
	useMissing
)

// simpleAlters are the subcommands that need no code: the kind and the fields they use.
var simpleAlters = map[pg.AlterTableType]struct {
	kind ast.AlterKind
	use  alterUse
}{
	pg.AlterTableType_AT_DropNotNull:        {ast.AlterDropNotNull, useName},
	pg.AlterTableType_AT_SetNotNull:         {ast.AlterSetNotNull, useName},
	pg.AlterTableType_AT_DropExpression:     {ast.AlterDropExpression, useName | useMissing},
	pg.AlterTableType_AT_DropColumn:         {ast.AlterDropColumn, useName | useBehavior | useMissing},
	pg.AlterTableType_AT_ValidateConstraint: {ast.AlterValidateConstraint, useName},
	pg.AlterTableType_AT_DropConstraint:     {ast.AlterDropConstraint, useName | useBehavior | useMissing},
	pg.AlterTableType_AT_ChangeOwner:        {ast.AlterChangeOwner, useOwner},
	pg.AlterTableType_AT_ClusterOn:          {ast.AlterClusterOn, useName},
	pg.AlterTableType_AT_DropCluster:        {ast.AlterDropCluster, 0},
	pg.AlterTableType_AT_SetLogged:          {ast.AlterSetLogged, 0},
	pg.AlterTableType_AT_SetUnLogged:        {ast.AlterSetUnlogged, 0},
	pg.AlterTableType_AT_SetAccessMethod:    {ast.AlterSetAccessMethod, useName},
	pg.AlterTableType_AT_SetTableSpace:      {ast.AlterSetTablespace, useName},
	pg.AlterTableType_AT_DropOf:             {ast.AlterNotOf, 0},
	pg.AlterTableType_AT_EnableRowSecurity:  {ast.AlterEnableRowSecurity, 0},
	pg.AlterTableType_AT_DisableRowSecurity: {ast.AlterDisableRowSecurity, 0},
	pg.AlterTableType_AT_ForceRowSecurity:   {ast.AlterForceRowSecurity, 0},
	pg.AlterTableType_AT_NoForceRowSecurity: {ast.AlterNoForceRowSecurity, 0},
	pg.AlterTableType_AT_DropIdentity:       {ast.AlterDropIdentity, useName | useMissing},
	pg.AlterTableType_AT_SetRelOptions:      {ast.AlterSetOptions, useDef},
	pg.AlterTableType_AT_ResetRelOptions:    {ast.AlterResetOptions, useDef},
	pg.AlterTableType_AT_SetOptions:         {ast.AlterSetColumnOptions, useName | useDef},
	pg.AlterTableType_AT_ResetOptions:       {ast.AlterResetColumnOptions, useName | useDef},
}

// triggerAlters and ruleAlters map the enabling and disabling of triggers and rules to the word in AlterCmd.Text.
var triggerAlters = map[pg.AlterTableType]string{
	pg.AlterTableType_AT_EnableTrig: "enable", pg.AlterTableType_AT_EnableAlwaysTrig: "enable always",
	pg.AlterTableType_AT_EnableReplicaTrig: "enable replica", pg.AlterTableType_AT_DisableTrig: "disable",
	pg.AlterTableType_AT_EnableTrigAll: "enable", pg.AlterTableType_AT_DisableTrigAll: "disable",
	pg.AlterTableType_AT_EnableTrigUser: "enable user", pg.AlterTableType_AT_DisableTrigUser: "disable user",
}

var ruleAlters = map[pg.AlterTableType]string{
	pg.AlterTableType_AT_EnableRule: "enable", pg.AlterTableType_AT_EnableAlwaysRule: "enable always",
	pg.AlterTableType_AT_EnableReplicaRule: "enable replica", pg.AlterTableType_AT_DisableRule: "disable",
}

func (c *converter) checkAlter(s *pg.AlterTableCmd, use alterUse) {
	what := s.Subtype.String()
	c.refuse(s.Name != "" && use&useName == 0, ast.NoPos, "name of "+what)
	c.refuse(s.Num != 0 && use&useNum == 0, ast.NoPos, "number of "+what)
	c.refuse(s.Newowner != nil && use&useOwner == 0, ast.NoPos, "owner of "+what)
	c.refuse(s.Def.GetNode() != nil && use&useDef == 0, ast.NoPos, "definition of "+what)
	c.refuse(s.MissingOk && use&useMissing == 0, ast.NoPos, "IF EXISTS of "+what)
	c.refuse(s.Recurse, ast.NoPos, "recursion of "+what)
	if c.cascade(s.Behavior) && use&useBehavior == 0 {
		c.unsupported(ast.NoPos, "CASCADE of "+what)
	}
}

func (c *converter) alterCmd(s *pg.AlterTableCmd) ast.AlterCmd {
	out := ast.AlterCmd{Loc: ast.At(ast.NoPos), Name: s.Name}
	if simple, ok := simpleAlters[s.Subtype]; ok {
		c.checkAlter(s, simple.use)
		out.Kind, out.IfExists, out.Cascade = simple.kind, s.MissingOk, c.cascade(s.Behavior)
		if s.Newowner != nil {
			role := c.roleSpec(s.Newowner)
			out.Role = &role
		}
		if simple.use&useDef != 0 {
			out.Options = c.options(c.items(s.Def, "ALTER TABLE"), "ALTER TABLE")
		}
		return out
	}
	if word, ok := triggerAlters[s.Subtype]; ok {
		c.checkAlter(s, useName)
		out.Kind, out.Text = ast.AlterTrigger, word
		return out
	}
	if word, ok := ruleAlters[s.Subtype]; ok {
		c.checkAlter(s, useName)
		out.Kind, out.Text = ast.AlterRule, word
		return out
	}
	c.alterWithDef(&out, s)
	return out
}

// alterWithDef converts the subcommands whose definition is a node of its own.
func (c *converter) alterWithDef(out *ast.AlterCmd, s *pg.AlterTableCmd) {
	use := useName | useDef
	switch s.Subtype {
	case pg.AlterTableType_AT_AddColumn:
		use = useDef | useMissing | useBehavior
		out.Kind, out.IfNotExists, out.Cascade = ast.AlterAddColumn, s.MissingOk, c.cascade(s.Behavior)
		if d, ok := s.Def.GetNode().(*pg.Node_ColumnDef); ok {
			out.Column = c.columnDef(d.ColumnDef)
			out.Off = d.ColumnDef.Location
		} else {
			c.unknown(s.Def, "ADD COLUMN")
		}
	case pg.AlterTableType_AT_ColumnDefault:
		if out.Kind = ast.AlterDropDefault; s.Def.GetNode() != nil {
			out.Kind, out.Expr = ast.AlterSetDefault, c.expr(s.Def)
		}
	case pg.AlterTableType_AT_AlterColumnType:
		use |= useBehavior
		out.Cascade = c.cascade(s.Behavior)
		c.alterType(out, s)
	case pg.AlterTableType_AT_SetStatistics:
		use |= useNum
		out.Kind, out.Number = ast.AlterSetStatistics, s.Num
		switch v := s.Def.GetNode().(type) {
		case *pg.Node_Integer:
			out.Value = v.Integer.Ival
		case nil:
			out.Value = -1
		default:
			c.unknown(s.Def, "SET STATISTICS")
		}
	case pg.AlterTableType_AT_SetStorage:
		out.Kind, out.Text = ast.AlterSetStorage, c.str(s.Def, "SET STORAGE")
	case pg.AlterTableType_AT_SetCompression:
		out.Kind, out.Text = ast.AlterSetCompression, c.str(s.Def, "SET COMPRESSION")
	case pg.AlterTableType_AT_AddIdentity, pg.AlterTableType_AT_AddConstraint:
		out.Kind = ast.AlterAddConstraint
		if s.Subtype == pg.AlterTableType_AT_AddIdentity {
			out.Kind = ast.AlterAddIdentity
		}
		if d, ok := s.Def.GetNode().(*pg.Node_Constraint); ok {
			out.Constraint = c.constraint(d.Constraint)
			out.Off = d.Constraint.Location
		} else {
			c.unknown(s.Def, "ADD CONSTRAINT")
		}
	case pg.AlterTableType_AT_SetIdentity:
		out.Kind = ast.AlterSetIdentity
		c.setIdentity(out, s)
	case pg.AlterTableType_AT_AlterConstraint:
		out.Kind = ast.AlterAlterConstraint
		c.alterConstraint(out, s)
	case pg.AlterTableType_AT_AddInherit, pg.AlterTableType_AT_DropInherit:
		out.Kind = ast.AlterInherit
		if s.Subtype == pg.AlterTableType_AT_DropInherit {
			out.Kind = ast.AlterNoInherit
		}
		if r, ok := s.Def.GetNode().(*pg.Node_RangeVar); ok {
			out.Table = c.plainRelation(r.RangeVar, "INHERIT")
		} else {
			c.unknown(s.Def, "INHERIT")
		}
	case pg.AlterTableType_AT_AddOf:
		out.Kind = ast.AlterOfType
		if t, ok := s.Def.GetNode().(*pg.Node_TypeName); ok {
			out.Type = c.typeName(t.TypeName)
		} else {
			c.unknown(s.Def, "OF")
		}
	case pg.AlterTableType_AT_ReplicaIdentity:
		out.Kind = ast.AlterReplicaIdentity
		if r, ok := s.Def.GetNode().(*pg.Node_ReplicaIdentityStmt); ok {
			out.Text, out.Name = r.ReplicaIdentityStmt.IdentityType, r.ReplicaIdentityStmt.Name
		} else {
			c.unknown(s.Def, "REPLICA IDENTITY")
		}
		use = useDef
	case pg.AlterTableType_AT_AttachPartition, pg.AlterTableType_AT_DetachPartition:
		c.alterPartition(out, s)
	default:
		c.unsupported(ast.NoPos, "ALTER TABLE subcommand "+s.Subtype.String())
		return
	}
	c.checkAlter(s, use)
}

func (c *converter) alterType(out *ast.AlterCmd, s *pg.AlterTableCmd) {
	out.Kind = ast.AlterColumnType
	d, ok := s.Def.GetNode().(*pg.Node_ColumnDef)
	if !ok {
		c.unknown(s.Def, "ALTER COLUMN TYPE")
		return
	}
	// The USING expression sits in the definition's default.
	using := d.ColumnDef.RawDefault
	d.ColumnDef.RawDefault = nil
	out.Column = c.columnDef(d.ColumnDef)
	d.ColumnDef.RawDefault = using
	out.Expr = c.exprOrNil(using)
	out.Off = d.ColumnDef.Location
	c.refuse(len(d.ColumnDef.Constraints) > 0 || d.ColumnDef.Colname != "", d.ColumnDef.Location, "constraint in ALTER COLUMN TYPE")
}

func (c *converter) setIdentity(out *ast.AlterCmd, s *pg.AlterTableCmd) {
	var rest []*pg.Node
	for _, n := range c.items(s.Def, "SET GENERATED") {
		d, ok := n.GetNode().(*pg.Node_DefElem)
		if !ok || d.DefElem.Defname != "generated" {
			rest = append(rest, n)
			continue
		}
		if out.SetAlways {
			c.failAt(d.DefElem.Location, sqlerr.SyntaxError, "conflicting or redundant options")
			return
		}
		v, ok := d.DefElem.Arg.GetNode().(*pg.Node_Integer)
		if !ok || v.Integer.Ival != 'a' && v.Integer.Ival != 'd' {
			c.unknown(n, "SET GENERATED")
			return
		}
		out.SetAlways, out.Always = true, v.Integer.Ival == 'a'
	}
	seq := c.sequenceOptions(rest)
	out.Sequence = &seq
}

func (c *converter) alterConstraint(out *ast.AlterCmd, s *pg.AlterTableCmd) {
	d, ok := s.Def.GetNode().(*pg.Node_AtalterConstraint)
	if !ok {
		c.unknown(s.Def, "ALTER CONSTRAINT")
		return
	}
	a := d.AtalterConstraint
	c.refuse(a.AlterEnforceability, ast.NoPos, "ALTER CONSTRAINT ... ENFORCED")
	c.refuse(!a.IsEnforced, ast.NoPos, "NOT ENFORCED")
	c.refuse(a.AlterInheritability || a.Noinherit, ast.NoPos, "ALTER CONSTRAINT ... INHERIT")
	out.Name = a.Conname
	out.Constraint = &ast.Constraint{Loc: ast.At(ast.NoPos), Name: a.Conname, Deferrable: a.Deferrable, InitiallyDeferred: a.Initdeferred}
	c.refuse(!a.AlterDeferrability && (a.Deferrable || a.Initdeferred), ast.NoPos, "deferrability")
	// ALTER CONSTRAINT without attributes means NOT DEFERRABLE in PostgreSQL 15, as the zero values say.
}

func (c *converter) alterPartition(out *ast.AlterCmd, s *pg.AlterTableCmd) {
	out.Kind = ast.AlterAttachPartition
	if s.Subtype == pg.AlterTableType_AT_DetachPartition {
		out.Kind = ast.AlterDetachPartition
	}
	d, ok := s.Def.GetNode().(*pg.Node_PartitionCmd)
	if !ok {
		c.unknown(s.Def, "partition command")
		return
	}
	out.Table = c.plainRelation(d.PartitionCmd.Name, "partition command")
	out.Bound = c.partitionBound(d.PartitionCmd.Bound)
	out.Concurrently = d.PartitionCmd.Concurrent
}
