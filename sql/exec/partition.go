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
