package txlog

import (
	"sync/atomic"
	"time"
)

// Histogram counts durations in buckets whose upper bounds double from 16 us.
type Histogram struct {
	Buckets [18]atomic.Int64
	Count   atomic.Int64
	Nanos   atomic.Int64
}

// BucketBound returns the upper bound of bucket i; the last bucket has none.
func BucketBound(i int) time.Duration { return 16 * time.Microsecond << i }

// Observe adds one duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(h.Buckets)-1 && d > BucketBound(i) {
		i++
	}
	h.Buckets[i].Add(1)
	h.Count.Add(1)
	h.Nanos.Add(int64(d))
}

// Stats are the counters of a log since it was opened.
type Stats struct {
	Bytes   atomic.Int64 // written, headers included
	Groups  atomic.Int64
	Entries atomic.Int64
	Sync    Histogram

	ArchivedBytes   atomic.Int64
	ArchivedUntil   atomic.Int64 // unix nanoseconds: all that was durable before is in the archive; 0 = nothing yet
	ArchiveFailures atomic.Int64
	ArchiveGaps     atomic.Int64 // segments that went without having been archived
}

// Stats returns the live counters.
func (l *Local) Stats() *Stats { return &l.stats }
