package cluster

import (
	"runtime"
	"syscall"
)

// niceness is how much less than others a state's transfer gets of processors that are short.
const niceness = 5

// inBackground has the calling goroutine give way to others for the rest of its life: its thread ends with it.
func inBackground() {
	runtime.LockOSThread()
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), niceness) // without it the transfer merely gives way less
}
