package txlog

import (
	"testing"
	"time"

	"herd/internal/vfs"
)

// heldFS holds writes of one label back while held is set.
type heldFS struct {
	vfs.FS
	label vfs.Label
	let   chan struct{} // closed to let them go
}

func (h *heldFS) Create(l vfs.Label, name string) (vfs.File, error) {
	f, err := h.FS.Create(l, name)
	return heldFile{f, h}, err
}

func (h *heldFS) Open(l vfs.Label, name string) (vfs.File, error) {
	f, err := h.FS.Open(l, name)
	return heldFile{f, h}, err
}

type heldFile struct {
	vfs.File
	h *heldFS
}

func (f heldFile) WriteAt(l vfs.Label, p []byte, off int64) (int, error) {
	if l == f.h.label {
		<-f.h.let
	}
	return f.File.WriteAt(l, p, off)
}

// TestSmallBesideLarge has the disk hang while a large transaction writes its parts, in the write of a group and in the
// making of a segment: the parts wait, and the room and the group that they leave are enough for small commits.
func TestSmallBesideLarge(t *testing.T) {
	for _, label := range []vfs.Label{labelWrite, labelSegment} {
		t.Run(string(label), func(t *testing.T) {
			plain := newMem(t)
			l, err := OpenLocal(Options{FS: plain, Dir: dir}, 0, nil)
			must(t, err)
			must(t, l.Close())
			held := &heldFS{FS: plain, label: label, let: make(chan struct{})}
			if l, _, err = reopen(t, Options{FS: held, Dir: dir}, 0); err != nil {
				t.Fatal(err)
			}
			const part, small = 900 << 10, 1000
			parts := make(chan Reservation)
			go func() { // the large transaction
				for range 40 {
					r, err := l.Reserve(part, Normal)
					if err != nil {
						t.Error(err)
						break
					}
					parts <- r
				}
				close(parts)
			}()
			seq := Seq(0)
			for waits := false; !waits; {
				select {
				case r := <-parts:
					seq++
					must(t, l.Append(r, Entry{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: Part, Payload: payload(seq, part)}))
				case <-time.After(300 * time.Millisecond):
					waits = true
				}
			}
			l.mu.Lock()
			gathers := len(l.buf)
			l.mu.Unlock()
			// The last part asked while less gathered; another one may have been reserved and not appended then.
			if gathers > pendingLarge+2*part+small {
				t.Errorf("%d bytes gather", gathers)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range 200 {
					r, err := l.Reserve(small, Normal)
					if err != nil {
						t.Error(err)
						return
					}
					l.Cancel(r)
				}
			}()
			select {
			case <-done:
			case <-time.After(10 * time.Second):
				t.Error("small commits wait")
			}
			close(held.let)
			for r := range parts {
				seq++
				must(t, l.Append(r, Entry{Epoch: 1, Seq: seq, Prev: seq - 1, Kind: Part, Payload: payload(seq, part)}))
			}
			<-done
			must(t, l.Barrier())
			must(t, l.Close())
			if _, got, err := reopen(t, Options{FS: plain, Dir: dir}, 0); err != nil || len(got) != int(seq) {
				t.Errorf("%d of %d entries are read back: %v", len(got), seq, err)
			}
		})
	}
}
