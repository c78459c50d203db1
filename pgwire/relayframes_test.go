package pgwire

import (
	"encoding/binary"
	"testing"
)

func frame(typ byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{typ}, uint32(4+len(body))), body...)
}

// A relayed client is told what its session's loss means, however the bytes are cut: nothing inside a message or after the node's own
// error, 08007 while an answer is due, 57P01 between statements.
func TestConversation(t *testing.T) {
	start := string(frame('R', "\x00\x00\x00\x00")) + string(frame('Z', "I"))
	query, answer := string(frame('Q', "select 1\x00")), string(frame('T', "xx"))+string(frame('C', "SELECT 1\x00"))+string(frame('Z', "I"))
	for _, c := range []struct{ name, client, node, want string }{
		{"nothing", "", "", "57P03"},
		{"logged in", "", start, "57P01"},
		{"query", query, start, "08007"},
		{"half a query", query[:7], start, "57P01"},
		{"answered", query, start + answer, "57P01"},
		{"inside an answer", query, start + answer[:9], ""},
		{"before the end of an answer", query, start + answer[:len(answer)-6], "08007"},
		{"an error that is not the end", query, start + string(frame('E', "SERROR\x00\x00")) + string(frame('Z', "I")), "57P01"},
		{"the node's own end", query, start + string(frame('E', "SFATAL\x00\x00")), ""},
		{"pipelined", query + query, start + answer, "08007"},
		{"extended", string(frame('P', "")) + string(frame('B', "")) + string(frame('E', "")) + string(frame('S', "")), start + string(frame('1', "")), "08007"},
		{"goodbye", string(frame('X', "")), start, ""},
	} {
		for piece := 1; piece < 8; piece++ {
			v := newConversation()
			feed := func(f *frames, s string) {
				for len(s) > 0 {
					n := min(piece, len(s))
					f.pass([]byte(s[:n]))
					s = s[n:]
				}
			}
			feed(&v.fromClient, c.client)
			feed(&v.fromNode, c.node)
			got := ""
			if e := v.broken(false); e != nil {
				got = string(e.Code)
			}
			if got != c.want {
				t.Errorf("%s in pieces of %d: %q, want %q", c.name, piece, got, c.want)
			}
		}
	}
}

// When this server ends, a relayed client is told that, unless it waits for an answer.
func TestConversationEnds(t *testing.T) {
	for _, c := range []struct{ client, want string }{{"", "57P01"}, {string(frame('Q', "select 1\x00")), "08007"}} {
		v := newConversation()
		v.fromNode.pass(frame('Z', "I"))
		v.fromClient.pass([]byte(c.client))
		if e := v.broken(true); e == nil || string(e.Code) != c.want {
			t.Errorf("after %q: %v, want %s", c.client, e, c.want)
		}
	}
}
