package system

import (
	"os"
	"testing"

	"herd/tests/peer"
)

func TestMain(m *testing.M) { os.Exit(peer.Main(m)) }
