package ycsb

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Check is the result of looking, after a phase, whether every acknowledged row is there.
type Check struct {
	// RowsAcknowledged, RowsUncertain and RowsFound count rows whose insert was acknowledged, was answered by an error,
	// and that the table holds.
	RowsAcknowledged int64 `json:"rows_acknowledged"`
	RowsUncertain    int64 `json:"rows_uncertain"`
	RowsFound        int64 `json:"rows_found"`
	// RowsMissing and RowsUnknown count acknowledged keys that are not there and keys that nobody inserted.
	RowsMissing int64 `json:"rows_missing"`
	RowsUnknown int64 `json:"rows_unknown"`
	// UpdatesChecked counts fields of sampled rows whose value was read back, UpdatesLost those that hold a value that a later
	// acknowledged update had replaced.
	UpdatesChecked int64 `json:"updates_checked"`
	UpdatesLost    int64 `json:"updates_lost"`
	// Example names one thing that is wrong.
	Example string `json:"example,omitempty"`
}

// OK reports whether nothing that was acknowledged is missing and nothing is there that should not be.
func (c *Check) OK() bool {
	return c.RowsMissing == 0 && c.RowsUnknown == 0 && c.UpdatesLost == 0
}

// String says the result in one line.
func (c *Check) String() string {
	verdict := "all there"
	if !c.OK() {
		verdict = fmt.Sprintf("WRONG: %d missing, %d unknown, %d updates lost: %s", c.RowsMissing, c.RowsUnknown, c.UpdatesLost, c.Example)
	}
	return fmt.Sprintf("%d rows acknowledged (%d uncertain), %d found, %d updated fields read back: %s", c.RowsAcknowledged,
		c.RowsUncertain, c.RowsFound, c.UpdatesChecked, verdict)
}

// verify reads every key of the table and compares it with the book, then the fields that the sampled updates wrote.
func verify(ctx context.Context, drv driver, book *rowBook, ordered bool, updates []updateLog) (*Check, error) {
	c, err := drv.open(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	found, err := readKeys(ctx, c)
	if err != nil {
		return nil, err
	}
	check := compareKeys(book, ordered, found)
	return check, checkUpdates(ctx, c, ordered, updates, check)
}

// readKeys pages through the table and returns the numbers of all keys, sorted. A key that is none of ours is -1.
func readKeys(ctx context.Context, c conn) ([]int64, error) {
	const page = 10_000
	var found []int64
	last := []byte{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		after := slices.Clone(last)
		n, err := c.keys(after, page, func(key []byte) {
			last = append(last[:0], key...)
			found = append(found, parseKey(key))
		})
		if err != nil {
			return nil, fmt.Errorf("read keys above %q: %w", after, err)
		}
		if n < page {
			slices.Sort(found)
			return found, nil
		}
	}
}

func parseKey(key []byte) int64 {
	const prefix = "user"
	if len(key) <= len(prefix) || string(key[:len(prefix)]) != prefix {
		return -1
	}
	n, err := strconv.ParseInt(string(key[len(prefix):]), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func compareKeys(book *rowBook, ordered bool, found []int64) *Check {
	total := book.counter.given.Load()
	check := &Check{RowsFound: int64(len(found)), RowsUncertain: int64(len(book.unacked))}
	check.RowsAcknowledged = total - check.RowsUncertain
	type expectation struct {
		number, record int64
	}
	expected := make([]expectation, total)
	for n := range total {
		expected[n] = expectation{keyNumber(n, ordered), n}
	}
	slices.SortFunc(expected, func(a, b expectation) int {
		switch {
		case a.number < b.number:
			return -1
		case a.number > b.number:
			return 1
		}
		return 0
	})
	i := 0
	for _, e := range expected {
		for i < len(found) && found[i] < e.number {
			check.unknown(found[i])
			i++
		}
		if i < len(found) && found[i] == e.number {
			i++
			continue
		}
		if _, uncertain := book.unacked[e.record]; !uncertain {
			check.RowsMissing++
			check.Example = fmt.Sprintf("row user%d (record %d) is missing", e.number, e.record)
		}
	}
	for ; i < len(found); i++ {
		check.unknown(found[i])
	}
	return check
}

func (c *Check) unknown(number int64) {
	c.RowsUnknown++
	c.Example = fmt.Sprintf("row user%d was never inserted, or is there twice", number)
}

// checkUpdates reads back each updated field of the sampled rows. Its value must be that of an update after whose
// beginning no other update both began and was acknowledged: the last one, or one of those that ran side by side at the end.
func checkUpdates(ctx context.Context, c conn, ordered bool, updates []updateLog, check *Check) error {
	slices.SortFunc(updates, func(a, b updateLog) int {
		if a.record != b.record {
			return int(a.record - b.record)
		}
		return a.field - b.field
	})
	var key, value []byte
	for len(updates) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 1
		for n < len(updates) && updates[n].record == updates[0].record && updates[n].field == updates[0].field {
			n++
		}
		group := updates[:n]
		updates = updates[n:]
		latest := int64(-1) // beginning of the last acknowledged update
		for _, u := range group {
			if u.end != 0 {
				latest = max(latest, u.start)
			}
		}
		if latest < 0 {
			continue // none was acknowledged
		}
		key = appendKey(key[:0], group[0].record, ordered)
		var err error
		if value, err = c.readField(value, key, group[0].field); err != nil {
			return fmt.Errorf("read back field %d of %s: %w", group[0].field, key, err)
		}
		check.UpdatesChecked++
		hash := xxhash.Sum64(value)
		if !slices.ContainsFunc(group, func(u updateLog) bool { return u.hash == hash && (u.end == 0 || u.end >= latest) }) {
			check.UpdatesLost++
			check.Example = fmt.Sprintf("field %d of %s holds none of the values written last", group[0].field, key)
		}
	}
	return nil
}
