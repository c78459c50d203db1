package ddl_test

import (
	"testing"

	"herd/tests/script"
)

func TestScripts(t *testing.T) { script.Run(t, "testdata/*.sql") }
