package planner

import (
	"testing"

	"herd/engine/lock"
	"herd/planner/plan"
)

// TestLockNumbers: the executor hands strength and policy to the lock manager as they are.
func TestLockNumbers(t *testing.T) {
	f := newFake()
	if err := f.exec("create table t (a int primary key, b text)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		clause string
		mode   lock.Mode
		policy lock.Policy
	}{
		{"for key share", lock.KeyShare, lock.Wait},
		{"for share", lock.Share, lock.Wait},
		{"for no key update", lock.NoKeyUpdate, lock.Wait},
		{"for update", lock.Update, lock.Wait},
		{"for update nowait", lock.Update, lock.NoWait},
		{"for share skip locked", lock.Share, lock.SkipLocked},
		{"for share for update nowait", lock.Update, lock.NoWait},
	} {
		p, err := f.plan("select * from t where a = 1 "+c.clause, nil)
		if err != nil {
			t.Fatal(errorText(err))
		}
		root := p.Root
		if pr, ok := root.(*plan.Project); ok { // drops the row identity
			root = pr.Input
		}
		l, ok := root.(*plan.LockRows)
		if !ok || len(l.Locks) != 1 {
			t.Fatalf("%s: no lock in the plan", c.clause)
		}
		if got := l.Locks[0]; lock.Mode(got.Strength) != c.mode || lock.Policy(got.Policy) != c.policy {
			t.Errorf("%s: strength %d policy %d, want %d %d", c.clause, got.Strength, got.Policy, c.mode, c.policy)
		}
	}
}
