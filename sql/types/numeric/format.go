package numeric

import "strconv"

// Append appends n as PostgreSQL prints it.
func (n Num) Append(dst []byte) []byte {
	switch n.kind {
	case NaN:
		return append(dst, "NaN"...)
	case PosInf:
		return append(dst, "Infinity"...)
	case NegInf:
		return append(dst, "-Infinity"...)
	}
	if n.scale == 0 {
		if n.big != nil {
			return n.big.Append(dst, 10)
		}
		return strconv.AppendInt(dst, n.coef, 10)
	}
	start := len(dst)
	if n.big != nil {
		dst = n.big.Append(dst, 10)
	} else {
		dst = strconv.AppendInt(dst, n.coef, 10)
	}
	if dst[start] == '-' {
		start++
	}
	// Insert the point, with zeros in front when there are too few digits.
	s := int(n.scale)
	if pad := s + 1 - (len(dst) - start); pad > 0 {
		have := len(dst) - start
		for range pad {
			dst = append(dst, '0')
		}
		copy(dst[start+pad:], dst[start:start+have])
		for i := range pad {
			dst[start+i] = '0'
		}
	}
	dst = append(dst, 0)
	p := len(dst) - 1 - s
	copy(dst[p+1:], dst[p:len(dst)-1])
	dst[p] = '.'
	return dst
}

// String returns n as PostgreSQL prints it.
func (n Num) String() string { return string(n.Append(nil)) }
