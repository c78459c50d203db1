// Package vfs is every file operation of herd, labelled.
//
// # Purpose
//
// Storage, log and engine touch files only through [FS], and each call names its purpose with a [Label]. The same code
// then runs over the operating system ([OS]), over a memory file system that forgets at a crash what was not synced
// ([Mem]), under fault rules ([Fault]) and over a slow or simulated disk ([Delay]).
//
// # Invariants
//
//	I1  ReadAt returns fewer bytes than asked only together with an error (io.EOF at the end), as io.ReaderAt says.
//	I2  File.Sync makes the contents and the size durable; the name is durable only after FS.SyncDir of its folder.
//	I3  Mem.CrashClone contains exactly what I2 promises, and with CrashOptions a random part of the rest: each page and
//	    each name at some moment since it was last synced, some pages torn.
//
// # Goroutines
//
// None. File systems and files may be used by several goroutines at once.
//
// # Files
//
//	vfs.go    FS, File, Label
//	folder.go making folders durably
//	writesync.go writing and syncing in one call; startwrite.go writing ahead of a sync
//	direct.go past the page cache; aio.go without keeping a thread meanwhile
//	os.go     the real file system
//	mem.go    the memory file system
//	memfile.go its files
//	crash.go  what a crash leaves of it
//	fault.go  rules: fail or damage the n-th call
//	delay.go  slow fsync and the simulated hard disk
package vfs
