package session_test

import (
	"testing"

	"herd/tests/script"
)

// Scripts of statements: planning, prepared statements, bulk INSERT.
func TestScripts(t *testing.T) { script.Run(t, "testdata/*.sql") }
