package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herd/engine/lock"
	"herd/internal/vfs"
	"herd/storage"
)

// Many sessions try the same transactions at the same time; each is applied once, and the token outlives a restart.
func TestTokens(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.MkdirAll("t", "/data"))
	e := openMem(t, m)
	db := e.System()
	first := db.NewSession(SessionOptions{})
	tree := newTree(t, first)
	put(t, first, tree, "sum", "0")
	const tries, tokens = 8, 20
	var applied, refused atomic.Int64
	var wait sync.WaitGroup
	for range tries {
		s := db.NewSession(SessionOptions{})
		wait.Go(func() {
			defer s.Close()
			for i := range tokens {
				tx := s.Begin(TxOptions{})
				err := tx.ClaimToken(fmt.Sprint("token ", i))
				if err == nil {
					if _, _, err = tx.LockRow(tree, []byte("sum"), lock.Update, lock.Wait); err == nil {
						var v []byte
						v, _, err = tx.NewestGet(tree, []byte("sum"))
						n := 0
						fmt.Sscan(string(v), &n)
						err = errors.Join(err, tx.Put(tree, []byte("sum"), []byte(fmt.Sprint(n+1))))
					}
				}
				if err == nil {
					err = tx.Commit()
				}
				var used *TokenError
				switch {
				case err == nil:
					applied.Add(1)
				case errors.As(err, &used):
					refused.Add(1)
				default:
					t.Error(err)
				}
				tx.Rollback()
				must(t, s.WaitDurable())
			}
		})
	}
	wait.Wait()
	if got := get(t, first, tree, "sum"); got != fmt.Sprint(tokens) || applied.Load() != tokens || refused.Load() != tokens*(tries-1) {
		t.Errorf("sum %s, %d applied, %d refused", got, applied.Load(), refused.Load())
	}
	tx := first.Begin(TxOptions{})
	must(t, tx.ClaimToken("of a transaction without changes"))
	must(t, tx.Commit())
	tx = first.Begin(TxOptions{})
	must(t, tx.ClaimToken("of a transaction without changes"))
	tx.Rollback()
	first.Close()
	must(t, e.Close())

	e = openMem(t, m)
	s := e.System().NewSession(SessionOptions{})
	tx = s.Begin(TxOptions{})
	var used *TokenError
	if err := tx.ClaimToken("token 3"); !errors.As(err, &used) || time.Since(used.Use.At) > time.Hour {
		t.Errorf("after a restart: %v", err)
	}
	tx.Rollback()
	s.Close()
	must(t, e.Close())
}

// Old tokens go, a few with each commit that has one; a token that was used anew since stays.
func TestTokensAreForgotten(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.MkdirAll("t", "/data"))
	e := openMem(t, m)
	s := e.System().NewSession(SessionOptions{})
	tree := newTree(t, s)
	commit := func(token string) {
		t.Helper()
		tx := s.Begin(TxOptions{})
		must(t, tx.ClaimToken(token))
		must(t, tx.Put(tree, []byte("k"), []byte(token)))
		must(t, tx.Commit())
		must(t, s.WaitDurable())
	}
	commit("new")
	const old = 10
	long := uint64(time.Now().Add(-TokenRetention - time.Hour).UnixMicro())
	tx := s.Begin(TxOptions{})
	for i := range old {
		token, at := fmt.Sprint("old ", i), binary.BigEndian.AppendUint64(nil, long+uint64(i))
		must(t, tx.Put(tokenTree, []byte(token), append(at, make([]byte, 8)...)))
		must(t, tx.Put(tokenAges, append(at, token...), nil))
	}
	at := binary.BigEndian.AppendUint64(nil, long) // "new" was used before, too
	must(t, tx.Put(tokenAges, append(at, "new"...), nil))
	must(t, tx.Commit())
	count := func(id storage.TreeID) (n int64) {
		must(t, e.System().ReadTip(func(v storage.View) error { n = v.Snap.Count(id); return nil }))
		return n
	}
	for i := range 5 {
		commit(fmt.Sprint("next ", i))
	}
	if a, b := count(tokenTree), count(tokenAges); a != 6 || b != 6 {
		t.Errorf("%d tokens and %d ages are kept, not those of the last six commits", a, b)
	}
	tx = s.Begin(TxOptions{})
	var used *TokenError
	if err := tx.ClaimToken("new"); !errors.As(err, &used) {
		t.Errorf("a token that is not old is forgotten: %v", err)
	}
	tx.Rollback()
	tx = s.Begin(TxOptions{})
	must(t, tx.ClaimToken("old 3"))
	tx.Rollback()
	s.Close()
	must(t, e.Close())
}
