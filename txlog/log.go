package txlog

import (
	"errors"
	"fmt"
	"io"
)

// Epoch counts changes of the log's writer: openings of a local log's database, terms of a Raft leader.
type Epoch uint64

// Seq numbers the entries of a database, 1 being the first.
type Seq uint64

// Position is a byte position in the log, comparable across segments.
type Position uint64

// Kind says what an entry is. The log only carries it.
type Kind uint8

// The kinds of entries.
const (
	// Commit makes a transaction effective, together with its earlier parts.
	Commit Kind = 1
	// Part carries changes of a transaction that is not committed yet.
	Part Kind = 2
	// Abort drops the parts of a transaction.
	Abort Kind = 3
	// Open begins an epoch.
	Open Kind = 4
	// SeqReserve reserves sequence values or row ids, outside any transaction.
	SeqReserve Kind = 5
	// Sum has every node sum up the state before it, to be compared. It has no payload.
	Sum Kind = 6
)

// String returns the kind's name, for inspection.
func (k Kind) String() string {
	switch k {
	case Commit:
		return "commit"
	case Part:
		return "part"
	case Abort:
		return "abort"
	case Open:
		return "open"
	case SeqReserve:
		return "seqreserve"
	case Sum:
		return "sum"
	}
	return fmt.Sprintf("kind%d", uint8(k))
}

// MaxEntry is the most bytes of payload an entry may have. Larger transactions are written in parts.
const MaxEntry = 1 << 20

// Entry is one record of the log.
type Entry struct {
	Epoch   Epoch
	Seq     Seq
	Prev    Seq // Seq of the entry before, 0 for the first
	Kind    Kind
	Payload []byte
	// Awaited says that whoever appends the entry is about to call Wait for it: the log need not begin to write it before that,
	// or before the room in memory is needed. It is not kept.
	Awaited bool
}

// Reservation is room in the log that Append will use. The zero value is no room. It is used once.
type Reservation struct{ cost int64 }

// Class says on whose account room is reserved.
type Class uint8

const (
	// Normal is any write.
	Normal Class = iota
	// Shrinking is DELETE, TRUNCATE, DROP and what the engine needs itself: it may use the last bytes.
	Shrinking
)

// Log orders entries and makes them durable.
type Log interface {
	// Reserve sets room aside for an entry with a payload of the given size. ErrNoSpace when there is none; the caller
	// may try again later. It may block while the log is far behind or a segment is being prepared.
	Reserve(bytes int, c Class) (Reservation, error)
	// Cancel gives a reservation back that Append was not called with.
	Cancel(r Reservation)
	// Append adds e behind all earlier entries; e.Payload may be reused after it returns. It does not wait for the
	// disk. An error means that the log has failed for good.
	Append(r Reservation, e Entry) error
	// AppendAll appends entries in order, es[i] into the room of rs[i]. None of them is said to be durable, or handed to an
	// Applier, before all are: one snapshot is published for all.
	AppendAll(rs []Reservation, es []Entry) error
	// Durable returns the highest sequence number known to be safe.
	Durable() Seq
	// Wait returns nil when seq is durable, or an error when the log has failed, or ErrInterrupted when stop (which may
	// be nil) is closed or delivers first.
	Wait(seq Seq, stop <-chan struct{}) error
	// Barrier returns when everything appended before the call is durable.
	Barrier() error
	// End returns the position behind the last appended entry: replay from there sees only later ones.
	End() Position
	// EndOf returns a position such that a replay from there sees every entry with a sequence number above seq.
	EndOf(seq Seq) Position
	// Read hands entries again to f, in order, beginning at a position that End or EndOf returned, until f returns false or
	// no more follow; the last may not be durable. A payload is valid during the call only. ErrTruncated: the log does not
	// go back that far.
	Read(from Position, f func(Position, Entry) bool) error
	// Bytes returns the length of what is kept.
	Bytes() int64
	// Truncate allows the log to forget everything below a position.
	Truncate(below Position) error
	// Last returns the number of the last appended entry.
	Last() Seq
	// Stats returns the live counters.
	Stats() *Stats
	// Close flushes, syncs and closes.
	Close() error
}

// Verifier is a Log that another node may have become the writer of.
type Verifier interface {
	// Verify returns when this node is known to have been the writer at a moment after the call; ErrLost when it is not.
	Verify() error
}

var _ Log = (*Local)(nil)

// Applier is a state machine that a log drives.
type Applier interface {
	// Apply applies entries in order. It skips those that are void: of an epoch that is not the open one, or behind an
	// entry that is not the last applied. On the node that leads, its own entries are applied already and become
	// durable. An error means that this node can go on with nothing.
	Apply(batch []Entry) error
	// Serve gives the applied state to Fetch at the other end of conn, until that closes it.
	Serve(conn io.ReadWriter) error
	// Fetch makes the state what Serve at the other end of conn gives, of which it asks for what is not there already. It closes conn and
	// tells how far it is, in bytes. On error the state is the one before.
	Fetch(conn io.ReadWriteCloser, progress func(done, total int64)) error
}

// Replica is a database as a log drives it that several nodes share. Lead and Follow are called one at a time; Apply goes
// on while Lead waits for its entry.
type Replica interface {
	Applier
	// Applied returns the last entry applied.
	Applied() Seq
	// Lead begins an epoch, higher than any before: the node was elected and has applied everything that was agreed on.
	// The replica appends Open(epoch), waits for it and then serves. An error says that leadership is lost again.
	Lead(epoch Epoch) error
	// Follow ends it: what is ordered and was not applied is dropped. Appends and waits have begun to fail with ErrLost.
	Follow() error
}

// Summer is a Replica that can sum up its state at one place of the log, the same on all nodes.
type Summer interface {
	// SumUp appends a Sum entry, which this node has to lead for, and returns its place. The entry may not be durable yet.
	SumUp() (Place, error)
	// Sums returns the sums of the state before the entry at a place, in order of the trees' numbers. ok is false when the entry was not
	// applied here, or too many others were after it.
	Sums(p Place) (sums []TreeSum, ok bool)
}

// Place is an entry of one epoch.
type Place struct {
	Epoch Epoch
	Seq   Seq
}

// TreeSum is the number of rows of a tree of the database and the sum of their hashes.
type TreeSum struct {
	Tree uint32
	Rows uint64
	Sum  uint64
}

// Opening is what a database tells the log that it opens.
type Opening struct {
	Database uint32
	Name     string
	Dir      string   // for the log's files
	From     Position // entries below are in the state
	Replica  Replica  // its state contains Replica.Applied()
	// Fatal is called once when the log has failed. The process should stop.
	Fatal func(error)
}

// Errors of this package.
var (
	// ErrNoSpace: no room can be reserved, the disk is full. SQL reports 53100.
	ErrNoSpace = errors.New("no space left for the transaction log")
	// ErrFailed: a write or sync failed earlier; the log accepts nothing any more.
	ErrFailed = errors.New("transaction log has failed")
	// ErrLost: the node does not lead, or no longer; whether the entry will be agreed on is not known.
	ErrLost = errors.New("leadership of the log is lost")
	// ErrClosed: the log was closed.
	ErrClosed = errors.New("transaction log is closed")
	// ErrInterrupted: a Wait was given up by its caller.
	ErrInterrupted = errors.New("wait for the transaction log was interrupted")
	// ErrTooLarge: an entry's payload exceeds MaxEntry.
	ErrTooLarge = errors.New("log entry is too large")
	// ErrNewerFormat: the file was written by a later version of herd.
	ErrNewerFormat = errors.New("written by a newer version of herd")
)

// CorruptError reports bytes that were durable once and do not verify now. The database must not start.
type CorruptError struct {
	File   string
	Offset int64
	Reason string
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("transaction log is corrupt: %s at offset %d: %s", e.File, e.Offset, e.Reason)
}
