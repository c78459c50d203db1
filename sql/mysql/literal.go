package mysql

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	tidb "github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
)

// TiDB's parser leaves the making of literals to whoever uses it, by variables of its package.
func init() {
	tidb.NewValueExpr = func(v any, _, _ string) tidb.ValueExpr {
		if l, ok := v.(*literal); ok {
			return l
		}
		return &literal{value: v}
	}
	tidb.NewParamMarkerExpr = func(offset int) tidb.ParamMarkerExpr { return &marker{literal: literal{value: offset}} }
	tidb.NewDecimal = func(text string) (any, error) { return decimal(text), nil }
	tidb.NewHexLiteral = func(text string) (any, error) { return hexDigits(text) }
	tidb.NewBitLiteral = func(text string) (any, error) { return bitDigits(text), nil }
}

// The values that a literal may have beside nil, int64, uint64, float64, string and bool.
type (
	decimal string // as written
	hexText string // digits, an even number
	bitText string // digits
)

// hexDigits reads x'1f' or 0x1f.
func hexDigits(text string) (any, error) {
	s := strings.TrimPrefix(text, "0x")
	if len(s) == len(text) {
		s = strings.Trim(s[1:], "'")
	}
	if len(s)%2 != 0 {
		s = "0" + s
	}
	if _, err := hex.DecodeString(s); err != nil {
		return nil, fmt.Errorf("hexadecimal literal %s: %w", text, err)
	}
	return hexText(strings.ToLower(s)), nil
}

// bitDigits reads b'101' or 0b101.
func bitDigits(text string) bitText {
	if s, ok := strings.CutPrefix(text, "0b"); ok {
		return bitText(s)
	}
	return bitText(strings.Trim(text[1:], "'"))
}

// literal is a literal in the parser's tree.
type literal struct {
	tidb.TexprNode
	value any
	proj  int
}

// SetValue implements tidb.ValueExpr.
func (l *literal) SetValue(v any) { l.value = v }

// GetValue implements tidb.ValueExpr.
func (l *literal) GetValue() any { return l.value }

// GetString implements tidb.ValueExpr.
func (l *literal) GetString() string {
	switch v := l.value.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return fmt.Sprint(l.value)
}

// GetDatumString implements tidb.ValueExpr.
func (l *literal) GetDatumString() string { return l.GetString() }

// GetProjectionOffset implements tidb.ValueExpr.
func (l *literal) GetProjectionOffset() int { return l.proj }

// SetProjectionOffset implements tidb.ValueExpr.
func (l *literal) SetProjectionOffset(n int) { l.proj = n }

// Format implements tidb.ExprNode.
func (l *literal) Format(w io.Writer) { fmt.Fprint(w, l.sql()) }

// Restore implements tidb.Node.
func (l *literal) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(l.sql())
	return nil
}

// sql is the literal as text that gives it back.
func (l *literal) sql() string {
	switch v := l.value.(type) {
	case nil:
		return "NULL"
	case string:
		return quote(v)
	case hexText:
		return "x'" + string(v) + "'"
	case bitText:
		return "b'" + string(v) + "'"
	case bool:
		return strings.ToUpper(fmt.Sprint(v))
	case float64:
		return fmt.Sprintf("%e", v)
	}
	return fmt.Sprint(l.value)
}

// quote makes a MySQL string of s.
func quote(s string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "''", "\x00", "\\0", "\n", "\\n", "\r", "\\r").Replace(s) + "'"
}

// Accept implements tidb.Node.
func (l *literal) Accept(v tidb.Visitor) (tidb.Node, bool) {
	n, _ := v.Enter(l)
	return v.Leave(n)
}

// marker is a ? in the parser's tree; its value is its offset until SetOrder gives it a number.
type marker struct {
	literal
	order int
}

// SetOrder implements tidb.ParamMarkerExpr.
func (m *marker) SetOrder(n int) { m.order = n }

// Restore implements tidb.Node.
func (m *marker) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain("?")
	return nil
}

// Accept implements tidb.Node.
func (m *marker) Accept(v tidb.Visitor) (tidb.Node, bool) {
	n, _ := v.Enter(m)
	return v.Leave(n)
}
