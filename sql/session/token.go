package session

import (
	"errors"
	"time"

	"herd/engine"
	"herd/sql/sqlerr"
)

// checkToken serves SET herd.commit_token.
func checkToken(_ *Session, v string) (string, error) {
	if len(v) > engine.TokenMax {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"herd.commit_token\": it has %d bytes, at most %d are allowed", len(v), engine.TokenMax)
	}
	return v, nil
}

// claimToken makes the transaction the one that the session's token stands for, if it has one: the first statement that writes does, so that
// a transaction that was committed already is not taken for one that meets its own rows.
func (s *Session) claimToken() error {
	if s.token == "" || s.tx == nil || s.tx.Token() == s.token {
		return nil
	}
	return tokenError(s.tx.ClaimToken(s.token))
}

// tokenError is what the client is told when its transaction was committed already.
func tokenError(err error) error {
	var used *engine.TokenError
	if !errors.As(err, &used) {
		return err
	}
	return sqlerr.New(sqlerr.CommitTokenUsed, "the transaction of this commit token was committed already").
		WithDetail("Transaction %d was committed at %s.", used.Use.Transaction, used.Use.At.UTC().Format(time.RFC3339)).
		WithHint("Nothing of this one is kept. Another transaction needs another herd.commit_token.")
}
