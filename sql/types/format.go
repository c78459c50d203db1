package types

import (
	"strconv"
	"strings"

	"herd/sql/types/datetime"
)

// TypmodText returns what a type's modifier adds to its name ("(10,2)"), "" for none. For time types it belongs in the
// middle of the name; see FormatType.
func TypmodText(t OID, mod Typmod) string {
	if mod < 0 {
		return ""
	}
	switch t {
	case VarcharOID, BPCharOID:
		if mod >= 4 {
			return "(" + strconv.Itoa(int(mod)-4) + ")"
		}
	case NumericOID:
		p, s := NumericParts(mod)
		return "(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")"
	case BitOID, VarbitOID, TimestampOID, TimestampTZOID, TimeOID, TimeTZOID:
		return "(" + strconv.Itoa(int(mod)) + ")"
	case IntervalOID:
		return datetime.IntervalTypmodText(int32(mod))
	}
	return ""
}

// FormatType returns a type's SQL name with its modifier as format_type(t, mod) shows built-in types; haveMod false is
// format_type(t, NULL). The empty string means that t is not built in.
func FormatType(t OID, mod Typmod, haveMod bool) string {
	if e := ElemOf(t); e != 0 && t != Int2VectorOID && t != OIDVectorOID {
		if s := FormatType(e, mod, haveMod); s != "" {
			return s + "[]"
		}
		return ""
	}
	b := BuiltinByOID(t)
	if b == nil {
		return ""
	}
	switch t {
	case BPCharOID:
		if haveMod && mod >= 4 {
			return "character" + TypmodText(t, mod)
		}
		if haveMod {
			return "bpchar"
		}
		return "character"
	case BitOID:
		if haveMod && mod >= 0 {
			return "bit" + TypmodText(t, mod)
		}
		if haveMod {
			return "\"bit\""
		}
		return "bit"
	}
	if !haveMod || mod < 0 {
		return b.SQL
	}
	if i := strings.Index(b.SQL, " with"); i > 0 {
		return b.SQL[:i] + TypmodText(t, mod) + b.SQL[i:]
	}
	return b.SQL + TypmodText(t, mod)
}
