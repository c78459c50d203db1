package cluster

import (
	"encoding/binary"
	"fmt"

	"herd/txlog"
)

// A Raft entry holds a batch of log entries: version u8, then for each kind u8, epoch, seq, prev u64, length u32, payload.
// Integers are little-endian.
const (
	batchVersion = 1
	batchHeader  = 1
	itemHeader   = 1 + 3*8 + 4
)

var le = binary.LittleEndian

func appendItem(b []byte, e *txlog.Entry) []byte {
	if len(b) == 0 {
		b = append(b, batchVersion)
	}
	b = append(b, byte(e.Kind))
	b = le.AppendUint64(b, uint64(e.Epoch))
	b = le.AppendUint64(b, uint64(e.Seq))
	b = le.AppendUint64(b, uint64(e.Prev))
	b = le.AppendUint32(b, uint32(len(e.Payload)))
	return append(b, e.Payload...)
}

// decodeBatch appends the entries of b to es; their payloads point into b.
func decodeBatch(es []txlog.Entry, b []byte) ([]txlog.Entry, error) {
	if len(b) < batchHeader || b[0] != batchVersion {
		return es, fmt.Errorf("a Raft entry of %d bytes is not of version %d", len(b), batchVersion)
	}
	for b = b[batchHeader:]; len(b) > 0; {
		if len(b) < itemHeader {
			return es, fmt.Errorf("a Raft entry ends inside an item, %d bytes are left", len(b))
		}
		n := int(le.Uint32(b[25:]))
		if n > txlog.MaxEntry || itemHeader+n > len(b) {
			return es, fmt.Errorf("a Raft entry's item of %d bytes in %d", n, len(b))
		}
		end := itemHeader + n
		es = append(es, txlog.Entry{
			Kind: txlog.Kind(b[0]), Epoch: txlog.Epoch(le.Uint64(b[1:])), Seq: txlog.Seq(le.Uint64(b[9:])),
			Prev: txlog.Seq(le.Uint64(b[17:])), Payload: b[itemHeader:end:end],
		})
		b = b[end:]
	}
	return es, nil
}
