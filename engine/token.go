package engine

import (
	"encoding/binary"
	"errors"
	"time"

	"herd/engine/lock"
	"herd/storage"
	"herd/txlog"
)

// Tokens of transactions lie in two trees of the database, so they are replicated, restored and forgotten with what they stand for:
//
//	tokenTree: token -> time u64 (microseconds since 1970), transaction u64
//	tokenAges: time u64 big-endian, token -> nothing
//
// A transaction that is committed with a token removes a few that are older than TokenRetention, or the oldest of more than TokensMax.
const (
	tokenTree = storage.SystemTrees
	tokenAges = storage.SystemTrees + 1

	// TokenRetention is how long a token is known at least, unless more than TokensMax come meanwhile.
	TokenRetention = 24 * time.Hour
	// TokensMax is how many tokens a database remembers.
	TokensMax = 1 << 20
	// TokenMax is the most bytes of a token.
	TokenMax = 200

	tokenSweep = 4 // removed by one transaction at most
	tokenValue = 16
)

// TokenUse says which transaction was committed with a token, and when.
type TokenUse struct {
	At          time.Time
	Transaction uint64
}

// TokenError: a transaction was committed with the token already.
type TokenError struct{ Use TokenUse }

// Error implements error.
func (e *TokenError) Error() string { return "a transaction with this token was committed already" }

// ClaimToken makes the transaction the one that a token stands for: nobody else can commit with it meanwhile. A *TokenError says that
// somebody has. The commit records the token if the transaction has changed something.
func (t *Tx) ClaimToken(token string) error {
	t.token = token
	if _, _, err := t.LockRow(tokenTree, []byte(token), lock.Update, lock.Wait); err != nil {
		return err
	}
	v, ok, err := t.NewestGet(tokenTree, []byte(token))
	switch {
	case errors.Is(err, storage.ErrNoTree): // the first one in this database
		return nil
	case err != nil:
		return commitError(err)
	case ok && len(v) == tokenValue:
		use := TokenUse{time.UnixMicro(int64(binary.BigEndian.Uint64(v))), binary.BigEndian.Uint64(v[8:])}
		// It is ordered. That it was committed may be told when it is safe.
		db := t.s.db
		if uint64(db.log.Durable()) < t.s.seen {
			if err := db.awaitDurable(txlog.Seq(t.s.seen)); err != nil {
				return t.s.lost(err, false)
			}
		}
		if db.losses.Load() != t.s.losses { // what is safe may be another leader's entry with that number
			return t.s.lost(txlog.ErrLost, false)
		}
		return &TokenError{use}
	}
	return nil
}

// Changed tells whether the transaction has changes of its own.
func (t *Tx) Changed() bool { return t.s.overlay != nil && t.s.overlay.Len() > 0 }

// Token returns what ClaimToken was told last.
func (t *Tx) Token() string { return t.token }

// recordToken adds the token to the transaction's changes. The lock may be gone with a savepoint, so it is claimed again.
func (t *Tx) recordToken() error {
	if err := t.ClaimToken(t.token); err != nil {
		return err
	}
	if err := t.tokenTrees(); err != nil {
		return err
	}
	now := uint64(time.Now().UnixMicro())
	key := binary.BigEndian.AppendUint64(nil, now)
	val := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, now), t.ID())
	if err := t.Put(tokenTree, []byte(t.token), val); err != nil {
		return err
	}
	if err := t.Put(tokenAges, append(key, t.token...), nil); err != nil {
		return err
	}
	return t.sweepTokens(now)
}

// tokenTrees makes the trees when the database does not have them.
func (t *Tx) tokenTrees() error {
	if t.Newest().Snap.TreeExists(tokenTree) {
		return nil
	}
	if _, _, err := t.LockRow(tokenTree, nil, lock.Update, lock.Wait); err != nil {
		return err
	}
	if t.Newest().Snap.TreeExists(tokenTree) { // another has made them meanwhile
		return nil
	}
	for _, id := range []storage.TreeID{tokenTree, tokenAges} {
		if err := t.always(func() error { return t.changes().CreateTree(id) }); err != nil {
			return err
		}
	}
	return nil
}

// sweepTokens removes tokens that need not be known any more. One that is claimed at the moment stays.
func (t *Tx) sweepTokens(now uint64) error {
	v := storage.View{Snap: t.s.pinNewest()}
	if !v.Snap.TreeExists(tokenAges) {
		return nil
	}
	many := v.Snap.Count(tokenAges) > TokensMax
	var old [][]byte
	var c storage.Cursor
	c.Init(v, tokenAges, nil, nil, false)
	for len(old) < tokenSweep && c.Next() {
		k := c.Key()
		if at := binary.BigEndian.Uint64(k); !many && at+uint64(TokenRetention/time.Microsecond) > now {
			break
		}
		old = append(old, append([]byte(nil), k...))
	}
	err := c.Err()
	c.Close()
	if err != nil {
		return commitError(err)
	}
	for _, k := range old {
		token := k[8:]
		granted, _, err := t.LockRow(tokenTree, token, lock.Update, lock.SkipLocked)
		if err != nil {
			return err
		}
		if !granted {
			continue
		}
		val, ok, err := t.NewestGet(tokenTree, token)
		if err != nil {
			return commitError(err)
		}
		if ok && len(val) == tokenValue && string(val[:8]) == string(k[:8]) { // not used anew since
			if err := t.Delete(tokenTree, token); err != nil {
				return err
			}
		}
		if err := t.Delete(tokenAges, k); err != nil {
			return err
		}
	}
	return nil
}
