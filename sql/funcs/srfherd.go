package funcs

import (
	"herd/sql/catalog"
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/vec"
)

// Tables is what functions may ask of the statement about stored rows. exec's Env implements it.
type Tables interface {
	// TableSum returns the number of rows of a table and the checksum of all that is stored of them, large values included, as the
	// statement sees the table.
	TableSum(rel *catalog.Relation) (rows int64, sum uint64, err error)
}

func init() {
	regSet(func(ci *CallInfo) setStart {
		ts := outTypes(ci.Func)
		return func(c *Ctx, a []types.Datum) (SetFunc, error) {
			rows, sum, err := checksum(c, types.OID(a[0].I))
			if err != nil {
				return nil, err
			}
			return listSet(1, func(_ *Ctx, _, i int, out []*vec.Vector) error {
				setRow(out, i, ts, []types.Datum{types.Int(rows), types.Int(int64(sum))})
				return nil
			}), nil
		}
	}, "herd_checksum")
}

// checksum is herd_checksum(regclass).
func checksum(c *Ctx, id types.OID) (rows int64, sum uint64, err error) {
	if c.Env == nil || c.Tables == nil {
		return 0, 0, sqlerr.Unsupported("function herd_checksum() outside of a session")
	}
	rel, err := c.Env.Catalog().RelationByOID(id)
	if err != nil {
		return 0, 0, err
	}
	if rel == nil {
		return 0, 0, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", id)
	}
	if rel.Virtual != nil {
		return 0, 0, sqlerr.Unsupported("the checksum of system catalog \"%s\"", rel.Name)
	}
	if rel.TreeID == 0 || rel.Kind != catalog.KindTable && rel.Kind != catalog.KindMatView {
		return 0, 0, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table or materialized view", rel.Name)
	}
	may, _, err := c.Env.HasPrivilege(PrivilegeQuery{Kind: "table", Current: true, Object: id, Privileges: "SELECT"})
	if err != nil {
		return 0, 0, err
	}
	if !may {
		return 0, 0, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s", rel.Name)
	}
	return c.Tables.TableSum(rel)
}
