package wire

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Block is one command of a script with its messages and expected answers.
type Block struct {
	Line    int
	Command string
	Args    []string
	Send    []string
	Want    []string
}

// Parse reads a script.
func Parse(text string) ([]Block, error) {
	var out []Block
	var cur *Block
	want := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "":
			cur = nil
		case cur == nil:
			words := strings.Fields(line)
			out = append(out, Block{Line: i + 1, Command: words[0], Args: words[1:]})
			cur, want = &out[len(out)-1], false
		case line == "----":
			want = true
		case want:
			cur.Want = append(cur.Want, line)
		default:
			cur.Send = append(cur.Send, line)
		}
	}
	return out, nil
}

// Encode turns a line of a script into a frame:
//
//	Q "text" | P name "text" [oid...] | B portal statement [value...] [rf CODE...] | D S|P name | E portal limit | C S|P name
//	S | H | X | d "data" | c | f "reason" | raw HEX
//
// A value is text:..., bin:HEX or null; names and texts are Go strings in quotes.
func Encode(line string) ([]byte, error) {
	words, err := split(line)
	if err != nil || len(words) == 0 {
		return nil, fmt.Errorf("message %q: %v", line, err)
	}
	kind, args := words[0], words[1:]
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	z := func(s string) []byte { return append([]byte(s), 0) }
	var body []byte
	switch kind {
	case "raw":
		return hex.DecodeString(strings.Join(args, ""))
	case "Q", "f":
		body = z(arg(0))
	case "d":
		body = []byte(arg(0))
	case "P":
		body = append(z(arg(0)), z(arg(1))...)
		oids := args[min(2, len(args)):]
		body = binary.BigEndian.AppendUint16(body, uint16(len(oids)))
		for _, o := range oids {
			n, err := strconv.ParseUint(o, 10, 32)
			if err != nil {
				return nil, err
			}
			body = binary.BigEndian.AppendUint32(body, uint32(n))
		}
	case "B":
		if body, err = encodeBind(args); err != nil {
			return nil, err
		}
	case "D", "C":
		body = append([]byte(arg(0)), z(arg(1))...)
	case "E":
		n, err := strconv.ParseInt(arg(1), 10, 32)
		if err != nil {
			return nil, err
		}
		body = binary.BigEndian.AppendUint32(z(arg(0)), uint32(n))
	case "S", "H", "X", "c":
	default:
		return nil, fmt.Errorf("message %q: unknown kind", line)
	}
	frame := binary.BigEndian.AppendUint32([]byte(kind), uint32(len(body)+4))
	return append(frame, body...), nil
}

func encodeBind(args []string) ([]byte, error) {
	if len(args) < 2 {
		return nil, fmt.Errorf("bind wants portal and statement")
	}
	body := append(append([]byte(args[0]), 0), append([]byte(args[1]), 0)...)
	var formats, results []byte
	var values []byte
	n, nr := 0, 0
	for i := 2; i < len(args); i++ {
		if args[i] == "rf" {
			for _, r := range args[i+1:] {
				code, err := strconv.Atoi(r)
				if err != nil {
					return nil, err
				}
				results = binary.BigEndian.AppendUint16(results, uint16(code))
				nr++
			}
			break
		}
		n++
		kind, v, _ := strings.Cut(args[i], ":")
		code := uint16(0)
		data := []byte(v)
		switch kind {
		case "bin":
			code = 1
			var err error
			if data, err = hex.DecodeString(v); err != nil {
				return nil, err
			}
		case "hex":
			var err error
			if data, err = hex.DecodeString(v); err != nil {
				return nil, err
			}
		}
		formats = binary.BigEndian.AppendUint16(formats, code)
		if kind == "null" {
			values = binary.BigEndian.AppendUint32(values, 0xffffffff)
			continue
		}
		values = binary.BigEndian.AppendUint32(values, uint32(len(data)))
		values = append(values, data...)
	}
	body = binary.BigEndian.AppendUint16(body, uint16(n))
	body = append(body, formats...)
	body = binary.BigEndian.AppendUint16(body, uint16(n))
	body = append(body, values...)
	body = binary.BigEndian.AppendUint16(body, uint16(nr))
	return append(body, results...), nil
}

// split cuts a line at blanks; a word may contain Go-quoted strings.
func split(line string) ([]string, error) {
	var out []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		var b strings.Builder
		for line != "" && line[0] != ' ' {
			if line[0] != '"' {
				b.WriteByte(line[0])
				line = line[1:]
				continue
			}
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			s, err := strconv.Unquote(q)
			if err != nil {
				return nil, err
			}
			b.WriteString(s)
			line = line[len(q):]
		}
		out = append(out, b.String())
	}
	return out, nil
}
