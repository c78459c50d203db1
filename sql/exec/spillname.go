package exec

import (
	"os"
	"strconv"
	"sync/atomic"
)

var spillCounter atomic.Uint64

// spillName returns a name for a temporary file that no other statement of this process uses.
func spillName() string {
	return "herd-spill-" + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(spillCounter.Add(1), 10)
}
