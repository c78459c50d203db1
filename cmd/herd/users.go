package main

import (
	"fmt"
	"os"
	"strings"

	"herd/sql/session"
)

// loadUsers makes or updates the roles of server.users.file: lines of name:password, where a password may be a
// SCRAM-SHA-256 verifier as PostgreSQL prints it. Empty lines and lines that begin with # are skipped.
func (in *instance) loadUsers() error {
	file := in.config.Under(in.config.UsersFile)
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("server.users.file: %w", err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, password, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || password == "" {
			return fmt.Errorf("server.users.file %s line %d: expected name:password", file, number)
		}
		v, err := session.ParseVerifier(password)
		if err != nil {
			if v, err = session.MakeVerifier(password); err != nil {
				return fmt.Errorf("server.users.file %s line %d: %w", file, number, err)
			}
		}
		if err := in.sessions.EnsureLogin(name, v.String()); err != nil {
			return fmt.Errorf("server.users.file %s line %d: role %s: %w", file, number, name, err)
		}
	}
	return nil
}
