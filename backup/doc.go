// Package backup is the file that `herd backup` writes and `herd restore` reads.
//
// # Purpose
//
// A [Writer] puts pieces of a stream, each of a kind, into frames; a [Reader] gives them back, checked. What the pieces mean the
// package does not know, except for the two that the manifest at the end repeats. A file is complete or recognised as not:
// [Create] writes under another name, syncs and renames.
//
// # Format 1
//
//	head: "HERDBKUP", format u32, CRC32C u32 of these 12 bytes
//	frames, each: magic "HBFR", format u8, kind u8, flags u8 (1 = the payload is a zstd frame), 0 u8, number u32 from 0,
//	  bytes u32 of the piece, bytes u32 of the payload, CRC32C u32 of the payload, CRC32C u32 of these 24 bytes; the payload
//	the last frame: kind 'M', the manifest, JSON: what of the pieces is where, SHA-256 of all bytes before the frame
//	tail: "HERDBEND", offset u64 of the manifest's frame
//
// Integers are little-endian. Pieces of kind State that follow each other share a frame of about 1 MiB; a frame holds whole
// pieces, so that reading can begin again at any frame.
//
// # Invariants
//
//   - I1: a file under its own name is whole: manifest, tail and every byte before them were synced before the rename.
//   - I2: a Reader hands out only pieces whose checksums match, and ends with io.EOF only behind a manifest that matches all of them.
//   - I3: memory is bounded by pieceMax, whatever a file says.
//
// # Goroutines
//
// None of its own.
//
// # Files
//
//	format.go    the head, frames, the manifest, errors
//	writer.go    Writer
//	reader.go    Reader and its Place
//	file.go      Create
package backup
