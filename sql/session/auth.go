package session

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/secure/precis"
)

// Verifier is what a server keeps of a SCRAM-SHA-256 password (RFC 5802).
type Verifier struct {
	Iterations           int
	Salt                 []byte
	StoredKey, ServerKey []byte
}

// ScramIterations is PostgreSQL's iteration count of new verifiers.
const ScramIterations = 4096

// LoginRole is what authentication needs to know of a role.
type LoginRole struct {
	CanLogin    bool
	HasPassword bool
	Verifier    Verifier
}

// MakeVerifier derives a verifier with a fresh salt.
func MakeVerifier(password string) (Verifier, error) {
	salt := make([]byte, 16)
	rand.Read(salt)
	return deriveVerifier(password, salt, ScramIterations)
}

func deriveVerifier(password string, salt []byte, iterations int) (Verifier, error) {
	// SASLprep as PostgreSQL applies it: a password it cannot prepare is used as it is.
	if p, err := precis.OpaqueString.String(password); err == nil {
		password = p
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		return Verifier{}, fmt.Errorf("derive a SCRAM verifier: %w", err)
	}
	stored := sha256.Sum256(hmacSHA256(salted, "Client Key"))
	return Verifier{Iterations: iterations, Salt: salt, StoredKey: stored[:], ServerKey: hmacSHA256(salted, "Server Key")}, nil
}

func hmacSHA256(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// String is the form of pg_authid.rolpassword.
func (v Verifier) String() string {
	e := base64.StdEncoding
	return "SCRAM-SHA-256$" + strconv.Itoa(v.Iterations) + ":" + e.EncodeToString(v.Salt) + "$" +
		e.EncodeToString(v.StoredKey) + ":" + e.EncodeToString(v.ServerKey)
}

// ParseVerifier reads the form that String writes.
func ParseVerifier(s string) (Verifier, error) {
	bad := errors.New("not a SCRAM-SHA-256 verifier")
	rest, ok := strings.CutPrefix(s, "SCRAM-SHA-256$")
	if !ok {
		return Verifier{}, bad
	}
	head, keys, ok1 := strings.Cut(rest, "$")
	iter, salt, ok2 := strings.Cut(head, ":")
	stored, server, ok3 := strings.Cut(keys, ":")
	if !ok1 || !ok2 || !ok3 {
		return Verifier{}, bad
	}
	var v Verifier
	var err error
	if v.Iterations, err = strconv.Atoi(iter); err != nil || v.Iterations <= 0 {
		return Verifier{}, bad
	}
	for _, f := range []struct {
		dst  *[]byte
		text string
	}{{&v.Salt, salt}, {&v.StoredKey, stored}, {&v.ServerKey, server}} {
		if *f.dst, err = base64.StdEncoding.DecodeString(f.text); err != nil {
			return Verifier{}, bad
		}
	}
	if len(v.StoredKey) != sha256.Size || len(v.ServerKey) != sha256.Size {
		return Verifier{}, bad
	}
	return v, nil
}

var mockSecret = sync.OnceValue(func() []byte {
	b := make([]byte, 32)
	rand.Read(b)
	return b
})

// MockVerifier is a stable made-up verifier for a role that does not exist or has no password.
func MockVerifier(user string) Verifier {
	salt := hmacSHA256(mockSecret(), user)[:16]
	return Verifier{Iterations: ScramIterations, Salt: salt, StoredKey: make([]byte, sha256.Size), ServerKey: hmacSHA256(mockSecret(), "key"+user)}
}
