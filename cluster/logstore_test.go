package cluster

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"herd/internal/vfs"
)

func openStore(t *testing.T, fs vfs.FS) *logStore {
	t.Helper()
	s, err := openLogStore(logStoreOptions{FS: fs, Dir: "/log", SegmentBytes: 3 << 20, SegmentBytesMax: 3 << 20, Fatal: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The Raft log in segments is compared with a map over random stores, conflicts, truncations, resets and restarts.
func TestLogStoreAgainstModel(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Log("seed", seed)
	r := rand.New(rand.NewSource(seed))
	fs := vfs.NewMem()
	if err := fs.MkdirAll("test", "/log"); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, fs)
	model := map[uint64]raft.Log{}
	first, last, term := uint64(0), uint64(0), uint64(1)
	check := func(what string) {
		t.Helper()
		f, _ := s.FirstIndex()
		l, _ := s.LastIndex()
		if f != first || l != last {
			t.Fatalf("%s: entries %d to %d, expected %d to %d", what, f, l, first, last)
		}
		for range 5 {
			if first == 0 {
				break
			}
			i := first + uint64(r.Int63n(int64(last-first+1)))
			var got raft.Log
			if err := s.GetLog(i, &got); err != nil {
				t.Fatalf("%s: entry %d of %d to %d: %v", what, i, first, last, err)
			}
			want := model[i]
			if got.Index != i || got.Term != want.Term || got.Type != want.Type || !bytes.Equal(got.Data, want.Data) || !bytes.Equal(got.Extensions, want.Extensions) {
				t.Fatalf("%s: entry %d is of term %d with %d bytes, expected term %d with %d", what, i, got.Term, len(got.Data), want.Term, len(want.Data))
			}
		}
		var none raft.Log
		for _, i := range []uint64{first - 1, last + 1} {
			if err := s.GetLog(i, &none); err != raft.ErrLogNotFound {
				t.Fatalf("%s: entry %d outside of %d to %d: %v", what, i, first, last, err)
			}
		}
	}
	for step := range 400 {
		what := fmt.Sprint("step ", step)
		switch n := r.Intn(20); {
		case n < 13:
			next := last + 1
			if first == 0 {
				next += uint64(r.Intn(50))
			}
			var logs []*raft.Log
			for range 1 + r.Intn(8) {
				size := r.Intn(3000)
				if r.Intn(60) == 0 {
					size = 1<<20 + r.Intn(2<<20) // over several records
				}
				data := make([]byte, size)
				r.Read(data)
				l := raft.Log{Index: next, Term: term, Type: raft.LogType(r.Intn(3)), Data: data, Extensions: data[:min(len(data), r.Intn(5))]}
				model[next] = l
				logs = append(logs, &l)
				next++
			}
			if err := s.StoreLogs(logs); err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = logs[0].Index
			}
			last = next - 1
		case n < 15 && first != 0 && last > first: // a leader has other entries
			term++
			from := first + 1 + uint64(r.Int63n(int64(last-first)))
			if err := s.DeleteRange(from, last); err != nil {
				t.Fatal(err)
			}
			last = from - 1
		case n < 17 && first != 0 && last > first:
			until := first + uint64(r.Int63n(int64(last-first)))
			if err := s.DeleteRange(first, until); err != nil {
				t.Fatal(err)
			}
			first = until + 1
		case n == 17 && r.Intn(4) == 0 && first != 0:
			if err := s.DeleteRange(first, last); err != nil {
				t.Fatal(err)
			}
			// Raft goes on behind a snapshot, never before.
			first = 0
			f, _ := s.FirstIndex()
			if l, _ := s.LastIndex(); f != 0 || l != 0 {
				t.Fatalf("%s: entries %d to %d are left", what, f, l)
			}
			continue
		case n >= 18:
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, fs)
		}
		if first != 0 {
			check(what)
		}
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// Entries that do not follow the last one are refused.
func TestLogStoreRefusesGaps(t *testing.T) {
	fs := vfs.NewMem()
	if err := fs.MkdirAll("test", "/log"); err != nil {
		t.Fatal(err)
	}
	s := openStore(t, fs)
	defer s.close()
	if err := s.StoreLog(&raft.Log{Index: 7, Term: 1}); err != nil {
		t.Fatal(err)
	}
	for _, i := range []uint64{7, 9} {
		if err := s.StoreLog(&raft.Log{Index: i, Term: 1}); err == nil {
			t.Errorf("entry %d was taken behind entry 7", i)
		}
	}
}
