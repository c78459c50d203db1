package session

import (
	"herd/planner/plan"
	"herd/sql/exec"
	"herd/sql/row"
	"herd/storage"
)

// runPoint runs a plan's named fast path (exec.Point); ran is false when the general plan has to run. The only caller is
// portal.run: a whole execution whose rows go to the client.
func (p *portal) runPoint(s *Session, w *wireSink) (ran bool, err error) {
	pt := s.takePoint(p)
	if pt == nil {
		return false, nil
	}
	kind := pt.Kind()
	if p.cols != nil && kind != plan.FastGet && kind != plan.FastRange {
		return false, nil // RETURNING
	}
	p.status = portalFailed
	old := p.plan
	if err := p.ready(s); err != nil {
		return true, err
	}
	if p.plan != old {
		p.status = portalReady
		return false, nil
	}
	var n int64
	w.view, w.rel = p.env.View, p.plan.Fast.Rel
	switch kind {
	case plan.FastGet:
		n, err = p.getPoint(s, pt, w)
	case plan.FastRange:
		n, err = p.rangePoint(s, pt, w)
	default:
		n, err = pt.Write(&p.env, p.params)
	}
	w.view, w.rel = storage.View{}, nil // an idle session holds no old state
	if err != nil {
		return true, err
	}
	p.affected, p.fetched, p.status = n, n, portalDone
	return true, nil
}

// takePoint returns the statement's fast path for the portal's plan.
func (s *Session) takePoint(p *portal) *exec.Point {
	st := p.stmt
	if st == nil || st.plan != p.plan {
		return nil
	}
	if st.point == nil && !st.noPoint {
		st.point = exec.NewPoint(p.plan)
		st.noPoint = st.point == nil
	}
	return st.point
}

func (p *portal) getPoint(s *Session, pt *exec.Point, w *wireSink) (int64, error) {
	r, layout, attnos, err := pt.Get(&p.env, p.params)
	if err != nil || r == nil {
		return 0, err
	}
	return 1, w.storedRow(layout, attnos, r)
}

func (p *portal) rangePoint(s *Session, pt *exec.Point, w *wireSink) (int64, error) {
	if err := pt.OpenRange(&p.env, p.params); err != nil {
		return 0, err
	}
	defer pt.CloseRange()
	layout, attnos := pt.Columns()
	n := int64(0)
	for {
		r, err := pt.NextRow()
		if err != nil || r == nil {
			return n, err
		}
		if err := w.storedRow(layout, attnos, r); err != nil {
			return n, err
		}
		if n++; n%256 == 0 {
			if err := s.interrupt(); err != nil {
				return n, err
			}
		}
	}
}

// storedRow sends columns of a stored row without decoding them.
func (w *wireSink) storedRow(layout *row.Layout, attnos []int16, r []byte) error {
	w.out.Begin('D')
	w.out.Int16(int16(len(attnos)))
	buf := w.out.Buf()
	var err error
	for i, a := range attnos {
		if len(w.formats) == 0 || w.formats[min(i, len(w.formats)-1)] == 0 {
			buf, err = layout.AppendText(buf, r, int(a)-1, w.io, w)
		} else {
			buf, err = layout.AppendBinary(buf, r, int(a)-1, w.io, w)
		}
		if err != nil {
			w.out.Abandon()
			return err
		}
	}
	w.out.SetBuf(buf)
	w.out.End()
	if w.out.Err() != nil {
		return errClientGone()
	}
	return nil
}
