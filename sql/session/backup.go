package session

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"herd/engine"
	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// backupCommand is what a replication connection is asked for: BACKUP [DATABASE name [, ...]] [RATE bytes-a-second].
type backupCommand struct {
	databases []string
	rate      int64
}

// replicationWords cuts a command of a replication connection into words, names in double quotes, and commas.
func replicationWords(text string) (words []string, quoted []bool, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimLeft(text, " \t\r\n") {
		switch {
		case text[0] == ';' && strings.TrimSpace(text[1:]) == "":
			return words, quoted, nil
		case text[0] == ',':
			words, quoted, text = append(words, ","), append(quoted, false), text[1:]
		case text[0] == '"':
			name, rest, ok := "", text[1:], false
			for !ok {
				part, after, found := strings.Cut(rest, `"`)
				if !found {
					return nil, nil, sqlerr.New(sqlerr.SyntaxError, "unterminated quoted identifier")
				}
				name, rest = name+part, after
				if ok = !strings.HasPrefix(rest, `"`); !ok {
					name, rest = name+`"`, rest[1:]
				}
			}
			words, quoted, text = append(words, name), append(quoted, true), rest
		default:
			n := strings.IndexAny(text, " \t\r\n,;\"")
			if n < 0 {
				n = len(text)
			}
			if n == 0 {
				return nil, nil, errReplicationSyntax(text)
			}
			words, quoted, text = append(words, text[:n]), append(quoted, false), text[n:]
		}
	}
	return words, quoted, nil
}

func errReplicationSyntax(near string) error {
	return sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\"", near).
		WithHint("A replication connection takes BACKUP [DATABASE name [, ...]] [RATE bytes].")
}

func parseBackup(text string) (c backupCommand, err error) {
	words, quoted, err := replicationWords(text)
	if err != nil {
		return c, err
	}
	i := 0
	is := func(w string) bool { return i < len(words) && !quoted[i] && strings.EqualFold(words[i], w) }
	wrong := func() (backupCommand, error) {
		if i < len(words) {
			return c, errReplicationSyntax(words[i])
		}
		return c, sqlerr.New(sqlerr.SyntaxError, "syntax error at end of input")
	}
	if !is("BACKUP") {
		return wrong()
	}
	i++
	if is("DATABASE") {
		for more := true; more; more = is(",") {
			if i++; i >= len(words) || is(",") {
				return wrong()
			}
			name := words[i]
			if !quoted[i] {
				name = strings.ToLower(name)
			}
			c.databases = append(c.databases, name)
			i++
		}
	}
	if is("RATE") {
		if i++; i >= len(words) {
			return wrong()
		}
		if c.rate, err = strconv.ParseInt(words[i], 10, 64); err != nil || c.rate < 0 {
			return wrong()
		}
		i++
	}
	if i < len(words) {
		return wrong()
	}
	return c, nil
}

// replicationQuery runs a command of a replication connection.
func (s *Session) replicationQuery(text string) error {
	s.begunStatement(text)
	c, err := parseBackup(text)
	if err != nil {
		return err
	}
	if !s.superuser {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to back up the server")
	}
	return s.backup(c)
}

// backup streams a backup as COPY data: each message is the kind of a piece and the piece.
func (s *Session) backup(c backupCommand) error {
	s.srv.setBackingUp(s, &c)
	defer s.srv.setBackingUp(s, nil)
	if s.srv.opts.Cluster != nil {
		if err := s.upToDate(c.databases); err != nil {
			return err
		}
	}
	s.copyResponse('H', &copyFormat{kind: ast.CopyBinary}, 0)
	o := engine.BackupOptions{Databases: c.databases, Rate: c.rate, Sleep: func(d time.Duration) error {
		if d <= 0 {
			return s.interrupt()
		}
		return s.eng.Interrupt().Sleep(max(1, int(d.Milliseconds())))
	}}
	err := s.srv.engine.Backup(o, func(kind engine.BackupPiece, p []byte) error {
		s.out.Begin('d')
		s.out.Byte(byte(kind))
		s.out.Raw(p)
		s.out.End()
		if s.out.Err() != nil {
			return errClientGone()
		}
		return nil
	})
	if errors.Is(err, engine.ErrNoDatabase) {
		for _, name := range c.databases {
			if _, err := s.srv.engine.Database(name); err != nil {
				return sqlerr.New(sqlerr.UndefinedDatabase, "database \"%s\" does not exist", name)
			}
		}
	}
	if told := (*sqlerr.Error)(nil); err != nil && !errors.As(err, &told) {
		return sqlerr.New(sqlerr.DataCorrupted, "cannot back up: %v", err)
	}
	if err != nil {
		return err
	}
	s.out.Begin('c')
	s.out.End()
	s.complete(commandTag{text: "BACKUP"})
	return nil
}

// setBackingUp notes what a session backs up, nil for nothing: DROP DATABASE waits for it as for a session in the database.
func (srv *Server) setBackingUp(s *Session, c *backupCommand) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	s.backingUp = c
}

// occupies tells whether the session is in a database or backs it up. srv.mu is held.
func (s *Session) occupies(database string) bool {
	if s.info.Database == database {
		return true
	}
	b := s.backingUp
	return b != nil && (len(b.databases) == 0 || slices.Contains(b.databases, database))
}
