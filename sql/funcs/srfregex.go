package funcs

import (
	"herd/sql/types"
	"herd/sql/vec"
)

func init() {
	regSet(func(*CallInfo) setStart {
		return func(c *Ctx, a []types.Datum) (SetFunc, error) { return regexpMatchesSet(c, a) }
	}, "regexp_matches", "regexp_matches_no_flags")
	regSet(func(*CallInfo) setStart {
		return func(c *Ctx, a []types.Datum) (SetFunc, error) { return regexpSplitSet(c, a) }
	}, "regexp_split_to_table", "regexp_split_to_table_no_flags")
}

// flagsOf returns the optional flags argument.
func flagsOf(a []types.Datum) string {
	if len(a) > 2 {
		return string(a[2].B)
	}
	return ""
}

// regexpMatchesSet is regexp_matches: the groups of the first match, of all matches with flag g.
func regexpMatchesSet(c *Ctx, a []types.Datum) (SetFunc, error) {
	re, global, err := CompileRegex(string(a[1].B), flagsOf(a))
	if err != nil {
		return nil, err
	}
	var found [][]byte
	err = re.FindAll(c, a[0].B, 0, func(m []int) bool {
		found = append(found, groupsArray(a[0].B, m))
		return global
	})
	if err != nil {
		return nil, err
	}
	return bytesSet(found), nil
}

func regexpSplitSet(c *Ctx, a []types.Datum) (SetFunc, error) {
	re, global, err := CompileRegex(string(a[1].B), flagsOf(a))
	if err != nil {
		return nil, err
	}
	if global {
		return nil, invalidParam("regexp_split_to_table() does not support the \"global\" option")
	}
	var parts [][]byte
	if err := RegexSplit(c, re, a[0].B, func(p []byte) { parts = append(parts, append([]byte(nil), p...)) }); err != nil {
		return nil, err
	}
	return bytesSet(parts), nil
}

// bytesSet gives rows of one column.
func bytesSet(vals [][]byte) SetFunc {
	return listSet(len(vals), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		out[0].SetVar(i, vals[row])
		return nil
	})
}
