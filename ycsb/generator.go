package ycsb

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
)

// fnv64 is YCSB's Utils.FNVhash64: FNV-1 over the eight bytes of a number, lowest first, then made positive.
func fnv64(n int64) int64 {
	const offset, prime = 0xCBF29CE484222325, 1099511628211
	h, v := uint64(offset), uint64(n)
	for range 8 {
		h = (h ^ v&0xff) * prime
		v >>= 8
	}
	if s := int64(h); s < 0 {
		return -s
	}
	return int64(h)
}

// keyNumber maps the n-th record to the number in its key.
func keyNumber(n int64, ordered bool) int64 {
	if ordered {
		return n
	}
	return fnv64(n)
}

// appendKey appends the key of the n-th record: "user" and its number.
func appendKey(b []byte, n int64, ordered bool) []byte {
	return strconv.AppendInt(append(b, "user"...), keyNumber(n, ordered), 10)
}

const zipfTheta = 0.99

// zipf is YCSB's ZipfianGenerator (Gray et al., "Quickly generating billion-record synthetic databases"): it gives
// numbers from 0 to n-1, small ones most often. The number of items may grow.
type zipf struct {
	mu         sync.Mutex // guards the three below while n grows
	n          int64
	zetan, eta float64
}

func zeta(from, to int64, sum float64) float64 {
	for i := from; i < to; i++ {
		sum += 1 / math.Pow(float64(i+1), zipfTheta)
	}
	return sum
}

func zipfEta(n int64, zetan float64) float64 {
	return (1 - math.Pow(2/float64(n), 1-zipfTheta)) / (1 - zeta(0, 2, 0)/zetan)
}

func newZipf(n int64) *zipf {
	z := &zipf{n: n, zetan: zeta(0, n, 0)}
	z.eta = zipfEta(n, z.zetan)
	return z
}

// next draws one number below n, which may be larger than at the last call but is never taken back.
func (z *zipf) next(u float64, n int64) int64 {
	z.mu.Lock()
	if n > z.n {
		z.zetan = zeta(z.n, n, z.zetan)
		z.n, z.eta = n, zipfEta(n, z.zetan)
	}
	zetan, eta, items := z.zetan, z.eta, z.n
	z.mu.Unlock()
	return zipfDraw(u, items, zetan, eta)
}

func zipfDraw(u float64, items int64, zetan, eta float64) int64 {
	uz := u * zetan
	if uz < 1 {
		return 0
	}
	if uz < 1+math.Pow(0.5, zipfTheta) {
		return 1
	}
	return int64(float64(items) * math.Pow(eta*u-eta+1, 1/(1-zipfTheta)))
}

// chooser picks record numbers for one workload; safe for all workers at once.
type chooser struct {
	kind  Chooser
	items int64 // zipfian and uniform: records at the start and twice the inserts expected
	last  func() int64
	zipf  *zipf // latest
}

// The scrambled generator draws from 10^10 items whose zeta YCSB knows by heart, so that the skew does not depend on the table.
const (
	scrambledItems = 10_000_000_000
	scrambledZeta  = 26.46902820178302
)

var scrambledEta = zipfEta(scrambledItems, scrambledZeta)

func newChooser(w *Workload, records, operations int64, last func() int64) *chooser {
	c := &chooser{kind: w.Chooser, last: last, items: records}
	switch w.Chooser {
	case Zipfian:
		c.items += int64(float64(operations) * w.Insert * 2)
	case Latest:
		c.zipf = newZipf(max(records, 2))
	}
	return c
}

// next returns a record number that has been inserted.
func (c *chooser) next(r *rand.Rand) int64 {
	for {
		var n int64
		last := c.last()
		switch c.kind {
		case Zipfian:
			n = fnv64(zipfDraw(r.Float64(), scrambledItems, scrambledZeta, scrambledEta)) % c.items
		case Latest:
			n = last - c.zipf.next(r.Float64(), last+1)
		default:
			n = r.Int64N(last + 1)
		}
		if n >= 0 && n <= last {
			return n
		}
	}
}

// ackedCounter hands out record numbers and knows the highest number below which all were acknowledged
// (YCSB's AcknowledgedCounterGenerator), so that readers choose only rows that are there.
type ackedCounter struct {
	given atomic.Int64 // next number to hand out
	limit atomic.Int64 // every number up to and including this one is acknowledged

	mu   sync.Mutex // guards ring
	ring []uint64   // one bit a number, for the window above limit
}

// ackWindow bounds how far acknowledgements may run ahead of the slowest one.
const ackWindow = 1 << 20

func newAckedCounter(start int64) *ackedCounter {
	c := &ackedCounter{ring: make([]uint64, ackWindow/64)}
	c.given.Store(start)
	c.limit.Store(start - 1)
	return c
}

func (c *ackedCounter) next() int64 { return c.given.Add(1) - 1 }

func (c *ackedCounter) last() int64 { return c.limit.Load() }

// acknowledge marks n as inserted. It reports false when n is too far ahead, which needs a million operations in flight.
func (c *ackedCounter) acknowledge(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	limit := c.limit.Load()
	if n-limit >= ackWindow {
		return false
	}
	c.ring[n%ackWindow/64] |= 1 << (n % 64)
	for {
		next := limit + 1
		word := &c.ring[next%ackWindow/64]
		if *word>>(next%64)&1 == 0 {
			break
		}
		*word &^= 1 << (next % 64)
		limit = next
	}
	c.limit.Store(limit)
	return true
}

// fillValue writes printable characters without quotes or backslashes: 64 of them, so one random word gives ten.
func fillValue(b []byte, r *rand.Rand) {
	const perWord = 10
	for len(b) > 0 {
		word := r.Uint64()
		n := min(perWord, len(b))
		for i := range n {
			b[i] = '0' + byte(word&63)
			if b[i] == '\\' {
				b[i] = '~'
			}
			word >>= 6
		}
		b = b[n:]
	}
}

// mix64 spreads a number over 64 bits, to pick the rows whose updates are checked.
func mix64(n uint64) uint64 {
	hi, lo := bits.Mul64(n^0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)
	return hi ^ lo
}
