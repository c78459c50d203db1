package exec

import (
	"herd/planner/plan"
	"herd/sql/types"
)

// KeyConverter turns the values of one end of a foreign key into the types of the other. The nil one has nothing to do.
type KeyConverter struct {
	ev *Evaluator
}

// NewKeyConverter compiles the casts of a foreign key; none make the nil converter.
func NewKeyConverter(casts []plan.Expr) (*KeyConverter, error) {
	if casts == nil {
		return nil, nil
	}
	ev, err := NewEvaluator(casts)
	return &KeyConverter{ev: ev}, err
}

// Convert returns the converted values; known is false when a value has no equal in the other type. The values are the caller's
// until the next call.
func (c *KeyConverter) Convert(e *Env, vals []types.Datum) (out []types.Datum, known bool, err error) {
	if c == nil {
		return vals, true, nil
	}
	if out, err = c.ev.Row(e, vals); err != nil {
		return nil, false, err
	}
	for i := range out {
		if out[i].Null && !vals[i].Null {
			return out, false, nil
		}
	}
	return out, true, nil
}
