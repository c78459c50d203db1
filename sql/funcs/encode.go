package funcs

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"herd/sql/sqlerr"
	"herd/sql/types"
)

func init() {
	each(func(r *row) error {
		s := md5.Sum(r.Bytes(0))
		return r.Finish(hex.AppendEncode(r.Start(), s[:]))
	}, "md5_text", "md5_bytea")
	each(func(r *row) error { s := sha256.Sum224(r.Bytes(0)); return r.RetBytes(s[:]) }, "sha224_bytea")
	each(func(r *row) error { s := sha256.Sum256(r.Bytes(0)); return r.RetBytes(s[:]) }, "sha256_bytea")
	each(func(r *row) error { s := sha512.Sum384(r.Bytes(0)); return r.RetBytes(s[:]) }, "sha384_bytea")
	each(func(r *row) error { s := sha512.Sum512(r.Bytes(0)); return r.RetBytes(s[:]) }, "sha512_bytea")
	each(binaryEncode, "binary_encode")
	each(binaryDecode, "binary_decode")
	each(func(r *row) error { return r.Finish(strconv.AppendUint(r.Start(), uint64(uint32(r.Int(0))), 16)) }, "to_hex32")
	each(func(r *row) error { return r.Finish(strconv.AppendUint(r.Start(), uint64(r.Int(0)), 16)) }, "to_hex64")
	each(func(r *row) error { return r.Finish(appendIdent(r.Start(), r.Bytes(0))) }, "quote_ident")
	each(func(r *row) error { return r.Finish(appendLiteral(r.Start(), r.Bytes(0))) }, "quote_literal")
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetStr("NULL")
		}
		return r.Finish(appendLiteral(r.Start(), r.Bytes(0)))
	}, "quote_nullable")
	each(func(r *row) error {
		return r.Finish(appendLiteral(r.Start(), textOf(r.c.IO, r.Type(0), r.Datum(0))))
	}, "quote_literal(anyelement)")
	each(func(r *row) error {
		if r.Null(0) {
			return r.RetStr("NULL")
		}
		return r.Finish(appendLiteral(r.Start(), textOf(r.c.IO, r.Type(0), r.Datum(0))))
	}, "quote_nullable(anyelement)")
	each(unistr, "unistr")
	each(func(r *row) error {
		f, err := normalForm(r.Str(1))
		if err != nil {
			return err
		}
		return r.Finish(f.Append(r.Start(), r.Bytes(0)...))
	}, "unicode_normalize_func")
	each(func(r *row) error {
		f, err := normalForm(r.Str(1))
		if err != nil {
			return err
		}
		return r.RetBool(f.IsNormal(r.Bytes(0)))
	}, "unicode_is_normalized")
	each(convertFrom, "pg_convert_from")
	each(func(r *row) error {
		if err := onlyUTF8("destination", r.Str(1)); err != nil {
			return err
		}
		return r.RetArg(0)
	}, "pg_convert_to")
	each(byteAt, "byteaGetByte")
	each(setByteAt, "byteaSetByte")
	each(bitOfBytes, "byteaGetBit")
	each(setBitOfBytes, "byteaSetBit")
	each(func(r *row) error {
		n := int64(0)
		for _, c := range r.Bytes(0) {
			for ; c != 0; c &= c - 1 {
				n++
			}
		}
		return r.RetInt(n)
	}, "bytea_bit_count")
	each(func(r *row) error { d := r.Datum(0); return r.Finish(types.Send(r.c.IO, r.Start(), r.Type(0), d)) },
		fields("int2send int4send int8send float4send float8send textsend boolsend byteasend uuid_send numeric_send date_send time_send timetz_send timestamp_send timestamptz_send interval_send bpcharsend varcharsend namesend json_send jsonb_send jsonpath_send array_send oidsend bit_send varbit_send charsend record_send")...)
}

// textOf is a cast of any value to text.
func textOf(io *types.IOContext, t types.OID, d types.Datum) []byte {
	switch t {
	case types.BoolOID:
		if d.I != 0 {
			return []byte("true")
		}
		return []byte("false")
	case types.BPCharOID:
		return types.TrimPad(d.B)
	}
	return types.Output(io, nil, t, d)
}

func binaryEncode(r *row) error {
	b, f := r.Bytes(0), strings.ToLower(r.Str(1))
	switch f {
	case "hex":
		return r.Finish(hex.AppendEncode(r.Start(), b))
	case "base64":
		// A line break after every 76 characters, as MIME wants.
		dst := r.Start()
		for len(b) > 57 {
			dst = append(base64.StdEncoding.AppendEncode(dst, b[:57]), '\n')
			b = b[57:]
		}
		return r.Finish(base64.StdEncoding.AppendEncode(dst, b))
	case "escape":
		dst := r.Start()
		for _, c := range b {
			switch {
			case c == 0 || c >= 0x80:
				dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			case c == '\\':
				dst = append(dst, '\\', '\\')
			default:
				dst = append(dst, c)
			}
		}
		return r.Finish(dst)
	}
	return invalidParam("unrecognized encoding: \"%s\"", r.Str(1))
}

func binaryDecode(r *row) error {
	b, f := r.Bytes(0), strings.ToLower(r.Str(1))
	switch f {
	case "hex":
		out, err := types.HexDecode(b)
		if err != nil {
			return err
		}
		return r.RetBytes(out)
	case "base64":
		return decodeBase64(r, b)
	case "escape":
		d, err := types.Input(r.c.IO, types.ByteaOID, -1, bytes.TrimPrefix(b, []byte("\\x")))
		if err != nil {
			return err
		}
		return r.RetBytes(d.B)
	}
	return invalidParam("unrecognized encoding: \"%s\"", r.Str(1))
}

func decodeBase64(r *row, b []byte) error {
	clean := make([]byte, 0, len(b))
	ended := false
	for _, c := range b {
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '=':
			ended = true
		case ended:
			return invalidParam("unexpected \"=\" while decoding base64 sequence")
		case !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '/'):
			return invalidParam("invalid symbol \"%s\" found while decoding base64 sequence", firstRune(b[bytes.IndexByte(b, c):]))
		}
		clean = append(clean, c)
	}
	out, err := base64.StdEncoding.DecodeString(string(clean))
	if err != nil {
		return sqlerr.New(sqlerr.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return r.RetBytes(out)
}

func firstRune(b []byte) string {
	for i := 1; i < len(b) && i < 4; i++ {
		if b[i]&0xC0 != 0x80 {
			return string(b[:i])
		}
	}
	return string(b[:min(len(b), 4)])
}

// appendLiteral quotes a string literal; one with backslashes becomes an E” literal.
func appendLiteral(dst, b []byte) []byte {
	if bytes.IndexByte(b, '\\') >= 0 {
		dst = append(dst, 'E')
	}
	dst = append(dst, '\'')
	for _, c := range b {
		if c == '\'' || c == '\\' {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, '\'')
}

func normalForm(s string) (norm.Form, error) {
	switch strings.ToUpper(s) {
	case "NFC":
		return norm.NFC, nil
	case "NFD":
		return norm.NFD, nil
	case "NFKC":
		return norm.NFKC, nil
	case "NFKD":
		return norm.NFKD, nil
	}
	return 0, invalidParam("invalid normalization form: %s", s)
}

// onlyUTF8 accepts the names of UTF-8; other encodings are not supported.
func onlyUTF8(side, name string) error {
	n := strings.ToLower(strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == ' ' {
			return -1
		}
		return c
	}, name))
	switch n {
	case "utf8", "unicode":
		return nil
	case "sqlascii":
		return nil
	}
	for _, e := range encodings() {
		if strings.EqualFold(e, name) {
			return unsupported("conversion between UTF8 and %s", e)
		}
	}
	return invalidParam("invalid %s encoding name \"%s\"", side, name)
}

func convertFrom(r *row) error {
	name := r.Str(1)
	if strings.EqualFold(name, "latin1") || strings.EqualFold(name, "iso-8859-1") || strings.EqualFold(name, "iso_8859_1") {
		dst := r.Start()
		for _, c := range r.Bytes(0) {
			dst = append(dst, string(rune(c))...)
		}
		return r.Finish(dst)
	}
	if err := onlyUTF8("source", name); err != nil {
		return err
	}
	if err := types.ValidText(r.Bytes(0)); err != nil {
		return err
	}
	return r.RetArg(0)
}

// unistr decodes \XXXX, \+XXXXXX, \uXXXX, \UXXXXXXXX and \\.
func unistr(r *row) error {
	b, dst := r.Bytes(0), r.Start()
	bad := func() error {
		return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode escape").
			WithHint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
	}
	high := rune(0)
	for i := 0; i < len(b); {
		if b[i] != '\\' {
			if high != 0 {
				return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair")
			}
			dst = append(dst, b[i])
			i++
			continue
		}
		if i+1 < len(b) && b[i+1] == '\\' {
			dst = append(dst, '\\')
			i += 2
			continue
		}
		digits, skip := 4, 1
		if i+1 < len(b) {
			switch b[i+1] {
			case '+':
				digits, skip = 6, 2
			case 'u':
				skip = 2
			case 'U':
				digits, skip = 8, 2
			}
		}
		if i+skip+digits > len(b) {
			return bad()
		}
		v, err := strconv.ParseUint(string(b[i+skip:i+skip+digits]), 16, 32)
		if err != nil {
			return bad()
		}
		i += skip + digits
		c := rune(v)
		switch {
		case c == 0 || c > 0x10FFFF:
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid Unicode code point: %04X", v)
		case high != 0:
			if c < 0xDC00 || c > 0xDFFF {
				return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair")
			}
			c = 0x10000 + (high-0xD800)<<10 + (c - 0xDC00)
			high = 0
		case c >= 0xD800 && c < 0xDC00:
			high = c
			continue
		case c >= 0xDC00 && c <= 0xDFFF:
			return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair")
		}
		dst = append(dst, string(c)...)
	}
	if high != 0 {
		return sqlerr.New(sqlerr.SyntaxError, "invalid Unicode surrogate pair")
	}
	return r.Finish(dst)
}

func indexRange(i int64, n int) error {
	return sqlerr.New(sqlerr.ArraySubscriptError, "index %d out of valid range, 0..%d", i, n-1)
}

func byteAt(r *row) error {
	b, i := r.Bytes(0), r.Int(1)
	if i < 0 || i >= int64(len(b)) {
		return indexRange(i, len(b))
	}
	return r.RetInt(int64(b[i]))
}

func setByteAt(r *row) error {
	b, i := r.Bytes(0), r.Int(1)
	if i < 0 || i >= int64(len(b)) {
		return indexRange(i, len(b))
	}
	out := append([]byte(nil), b...)
	out[i] = byte(r.Int(2))
	return r.RetBytes(out)
}

func bitOfBytes(r *row) error {
	b, i := r.Bytes(0), r.Int(1)
	if i < 0 || i >= int64(len(b))*8 {
		return indexRange(i, len(b)*8)
	}
	return r.RetInt(int64(b[i/8] >> (i % 8) & 1))
}

func setBitOfBytes(r *row) error {
	b, i, v := r.Bytes(0), r.Int(1), r.Int(2)
	if i < 0 || i >= int64(len(b))*8 {
		return indexRange(i, len(b)*8)
	}
	if v != 0 && v != 1 {
		return invalidParam("new bit must be 0 or 1")
	}
	out := append([]byte(nil), b...)
	out[i/8] = out[i/8]&^(1<<(i%8)) | byte(v)<<(i%8)
	return r.RetBytes(out)
}
