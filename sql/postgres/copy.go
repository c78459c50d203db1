package postgres

import (
	"strings"

	pg "github.com/sqlc-dev/oliphant/ast"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

func (c *converter) copyStmt(s *pg.CopyStmt) *ast.Copy {
	out := &ast.Copy{
		Loc: ast.At(c.start), Columns: c.strs(s.Attlist, "COPY"), From: s.IsFrom, Program: s.IsProgram, File: s.Filename,
		Where: c.exprOrNil(s.WhereClause),
	}
	if s.Relation != nil {
		out.Table = c.tableRef(s.Relation, "COPY")
	}
	if s.Query.GetNode() != nil {
		c.refuse(s.Relation != nil, ast.NoPos, "COPY of a table and a query")
		out.Query = c.stmt(s.Query)
	} else if s.Relation == nil {
		c.unsupported(ast.NoPos, "COPY of nothing")
	}
	out.Options = c.copyOptions(s.Options, s.IsFrom)
	return out
}

// copyOptions reads COPY's options in order and then checks them together, with PostgreSQL's errors.
func (c *converter) copyOptions(list []*pg.Node, from bool) ast.CopyOptions {
	o := ast.CopyOptions{EncodingLoc: ast.At(ast.NoPos)}
	seen := map[string]bool{}
	for _, d := range c.defElems(list, "COPY options") {
		if c.err != nil {
			return o
		}
		if seen[d.Defname] {
			c.failAt(d.Location, sqlerr.SyntaxError, "conflicting or redundant options")
			return o
		}
		seen[d.Defname] = true
		c.copyOption(&o, d, from)
	}
	if c.err == nil {
		c.checkCopy(&o, from)
	}
	return o
}

func (c *converter) copyOption(o *ast.CopyOptions, d *pg.DefElem, from bool) {
	c.refuse(d.Defnamespace != "", d.Location, "namespace of a COPY option")
	switch d.Defname {
	case "format":
		o.FormatSet = true
		switch f := c.optString(d); f {
		case "text":
			o.Format = ast.CopyText
		case "csv":
			o.Format = ast.CopyCSV
		case "binary":
			o.Format = ast.CopyBinary
		default:
			c.failAt(d.Location, sqlerr.InvalidParameterValue, "COPY format \"%s\" not recognized", f)
		}
	case "freeze":
		o.Freeze = c.optBool(d)
	case "delimiter":
		o.Delimiter = c.optStringPtr(d)
	case "null":
		o.Null = c.optStringPtr(d)
	case "header":
		o.Header, o.HeaderSet = c.copyHeader(d, from), true
	case "quote":
		o.Quote = c.optStringPtr(d)
	case "escape":
		o.Escape = c.optStringPtr(d)
	case "force_quote":
		if _, star := d.Arg.GetNode().(*pg.Node_AStar); star {
			o.ForceQuoteAll = true
		} else {
			o.ForceQuote = c.copyColumns(d)
		}
	case "force_not_null":
		o.ForceNotNull, o.ForceNotNullSet = c.copyColumns(d), true
	case "force_null":
		o.ForceNull, o.ForceNullSet = c.copyColumns(d), true
	case "encoding":
		o.Encoding, o.EncodingLoc = c.optStringPtr(d), ast.At(d.Location)
	default:
		c.failAt(d.Location, sqlerr.SyntaxError, "option \"%s\" not recognized", d.Defname)
	}
}

func (c *converter) optStringPtr(d *pg.DefElem) *string {
	s := c.optString(d)
	return &s
}

func (c *converter) copyColumns(d *pg.DefElem) []string {
	if l, ok := d.Arg.GetNode().(*pg.Node_List); ok {
		return c.strs(l.List.Items, d.Defname)
	}
	c.failAt(d.Location, sqlerr.InvalidParameterValue, "argument to option \"%s\" must be a list of column names", d.Defname)
	return nil
}

func (c *converter) copyHeader(d *pg.DefElem, from bool) ast.CopyHeader {
	switch x := d.Arg.GetNode().(type) {
	case nil:
		return ast.HeaderOn
	case *pg.Node_Integer:
		switch x.Integer.Ival {
		case 0:
			return ast.HeaderOff
		case 1:
			return ast.HeaderOn
		}
	default:
		switch v := c.optString(d); asciiLower(v) {
		case "true", "on":
			return ast.HeaderOn
		case "false", "off":
			return ast.HeaderOff
		case "match":
			if !from {
				c.fail(sqlerr.New(sqlerr.FeatureNotSupported, "cannot use \"%s\" with HEADER in COPY TO", v))
			}
			return ast.HeaderMatch
		}
	}
	c.fail(sqlerr.New(sqlerr.SyntaxError, "%s requires a Boolean value or \"match\"", d.Defname))
	return 0
}

// checkCopy holds PostgreSQL's rules about options in combination, in its order.
func (c *converter) checkCopy(o *ast.CopyOptions, from bool) {
	csv, binary := o.Format == ast.CopyCSV, o.Format == ast.CopyBinary
	fail := func(code sqlerr.Code, format string, args ...any) { c.fail(sqlerr.New(code, format, args...)) }
	if binary && o.Delimiter != nil {
		fail(sqlerr.SyntaxError, "cannot specify DELIMITER in BINARY mode")
	}
	if binary && o.Null != nil {
		fail(sqlerr.SyntaxError, "cannot specify NULL in BINARY mode")
	}
	delim, null, quote := "\t", "\\N", "\""
	if csv {
		delim, null = ",", ""
	}
	setIf(&delim, o.Delimiter)
	setIf(&null, o.Null)
	setIf(&quote, o.Quote)
	escape := quote
	setIf(&escape, o.Escape)
	switch {
	case len(delim) != 1:
		fail(sqlerr.FeatureNotSupported, "COPY delimiter must be a single one-byte character")
	case delim == "\r" || delim == "\n":
		fail(sqlerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	case strings.ContainsAny(null, "\r\n"):
		fail(sqlerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	case !csv && strings.Contains("\\.abcdefghijklmnopqrstuvwxyz0123456789", delim):
		fail(sqlerr.InvalidParameterValue, "COPY delimiter cannot be \"%s\"", delim)
	case binary && o.Header != ast.HeaderOff:
		fail(sqlerr.FeatureNotSupported, "cannot specify HEADER in BINARY mode")
	case !csv && o.Quote != nil:
		fail(sqlerr.FeatureNotSupported, "COPY quote available only in CSV mode")
	case csv && len(quote) != 1:
		fail(sqlerr.FeatureNotSupported, "COPY quote must be a single one-byte character")
	case csv && delim == quote:
		fail(sqlerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	case !csv && o.Escape != nil:
		fail(sqlerr.FeatureNotSupported, "COPY escape available only in CSV mode")
	case csv && len(escape) != 1:
		fail(sqlerr.FeatureNotSupported, "COPY escape must be a single one-byte character")
	case !csv && (o.ForceQuote != nil || o.ForceQuoteAll):
		fail(sqlerr.FeatureNotSupported, "COPY force quote available only in CSV mode")
	case (o.ForceQuote != nil || o.ForceQuoteAll) && from:
		fail(sqlerr.FeatureNotSupported, "COPY force quote only available using COPY TO")
	case !csv && o.ForceNotNull != nil:
		fail(sqlerr.FeatureNotSupported, "COPY force not null available only in CSV mode")
	case o.ForceNotNull != nil && !from:
		fail(sqlerr.FeatureNotSupported, "COPY force not null only available using COPY FROM")
	case !csv && o.ForceNull != nil:
		fail(sqlerr.FeatureNotSupported, "COPY force null available only in CSV mode")
	case o.ForceNull != nil && !from:
		fail(sqlerr.FeatureNotSupported, "COPY force null only available using COPY FROM")
	case strings.Contains(null, delim):
		fail(sqlerr.FeatureNotSupported, "COPY delimiter must not appear in the NULL specification")
	case csv && strings.Contains(null, quote):
		fail(sqlerr.FeatureNotSupported, "CSV quote character must not appear in the NULL specification")
	}
}

func setIf(to *string, from *string) {
	if from != nil {
		*to = *from
	}
}
