package exec

import "encoding/binary"

const (
	// spillParts is the number of partitions that a hash table's input is divided into when memory is refused.
	spillParts = 32
	// maxSpillLevel is how often a partition is divided again: each level takes five other bits of the hash.
	maxSpillLevel = 5
)

// partitions are files that divide rows by five bits of their hash; each level takes other bits.
type partitions struct {
	env   *Env
	level int
	files [spillParts]*spillFile
	head  []byte
}

func newPartitions(env *Env, level int) *partitions { return &partitions{env: env, level: level} }

// write adds a record: hash, key (ok false: it matches nothing), tuple.
func (p *partitions) write(h uint64, k []byte, ok bool, tuple []byte) error {
	i := h >> (59 - 5*p.level) & (spillParts - 1)
	if p.files[i] == nil {
		f, err := newSpill(p.env)
		if err != nil {
			return err
		}
		p.files[i] = f
	}
	n := uint32(len(k)) << 1
	if ok {
		n |= 1
	}
	p.head = binary.LittleEndian.AppendUint64(p.head[:0], h)
	p.head = binary.LittleEndian.AppendUint32(p.head, n)
	return p.files[i].write(p.head, k, tuple)
}

// of returns the file that rows with hash h went to, nil when there were none.
func (p *partitions) of(h uint64) *spillFile { return p.files[h>>(59-5*p.level)&(spillParts-1)] }

// splitPart takes a record of partitions.write apart.
func splitPart(rec []byte) (h uint64, k []byte, ok bool, tuple []byte) {
	h = binary.LittleEndian.Uint64(rec)
	n := binary.LittleEndian.Uint32(rec[8:])
	end := 12 + int(n>>1)
	return h, rec[12:end:end], n&1 != 0, rec[end:]
}

func (p *partitions) close() {
	for i, f := range p.files {
		f.close()
		p.files[i] = nil
	}
}

// stack moves the finished partitions to a list of work.
func (p *partitions) stack(todo []distinctPart) ([]distinctPart, error) {
	for i, f := range p.files {
		if f == nil {
			continue
		}
		p.files[i] = nil
		todo = append(todo, distinctPart{f: f, level: p.level})
		if err := f.seal(); err != nil {
			return todo, err
		}
	}
	return todo, nil
}

// joinPart is a partition of two inputs: the rows on both sides whose keys have the same bits in their hashes.
type joinPart struct {
	left, right *spillFile
	level       int
}

func (p joinPart) close() {
	p.left.close()
	p.right.close()
}

// stackPairs moves the finished partitions of two inputs to a list of work; right may be nil.
func stackPairs(todo []joinPart, left, right *partitions) ([]joinPart, error) {
	for i := range spillParts {
		t := joinPart{left: left.files[i], level: left.level}
		left.files[i] = nil
		if right != nil {
			t.right, right.files[i] = right.files[i], nil
		}
		if t.left == nil && t.right == nil {
			continue
		}
		todo = append(todo, t)
		if err := t.left.seal(); err != nil {
			return todo, err
		}
		if err := t.right.seal(); err != nil {
			return todo, err
		}
	}
	return todo, nil
}
