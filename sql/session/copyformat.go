package session

import (
	"strings"

	"herd/sql/ast"
	"herd/sql/sqlerr"
)

// copyFormat is COPY's options with defaults filled in and checked.
type copyFormat struct {
	kind         ast.CopyFormat
	delim        byte
	null         string
	header       ast.CopyHeader
	quote        byte
	escape       byte
	forceQuote   []bool // by column of the COPY
	forceNotNull []bool
	forceNull    []bool
}

// newCopyFormat checks the options as PostgreSQL does, in its order; columns are the names copied.
func newCopyFormat(o *ast.CopyOptions, from bool, columns []string) (*copyFormat, error) {
	f := &copyFormat{kind: o.Format, delim: '\t', null: "\\N", header: o.Header}
	csv := f.kind == ast.CopyCSV
	if csv {
		f.delim, f.null, f.quote = ',', "", '"'
	}
	if f.kind == ast.CopyBinary {
		switch {
		case o.Delimiter != nil:
			return nil, sqlerr.New(sqlerr.SyntaxError, "cannot specify DELIMITER in BINARY mode")
		case o.Null != nil:
			return nil, sqlerr.New(sqlerr.SyntaxError, "cannot specify NULL in BINARY mode")
		case o.Header != ast.HeaderOff:
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot specify HEADER in BINARY mode")
		}
	}
	if o.Delimiter != nil {
		if len(*o.Delimiter) != 1 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY delimiter must be a single one-byte character")
		}
		f.delim = (*o.Delimiter)[0]
	}
	if o.Null != nil {
		f.null = *o.Null
	}
	if err := f.checkText(csv); err != nil {
		return nil, err
	}
	if err := f.quoting(o, csv, from); err != nil {
		return nil, err
	}
	if o.Encoding != nil {
		if _, err := checkEncoding(nil, *o.Encoding); err != nil {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "COPY encoding \"%s\" is not supported: only UTF8 is", *o.Encoding)
		}
	}
	return f, f.forceLists(o, csv, from, columns)
}

func (f *copyFormat) checkText(csv bool) error {
	if f.delim == '\r' || f.delim == '\n' {
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter cannot be newline or carriage return")
	}
	if strings.ContainsAny(f.null, "\r\n") {
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY null representation cannot use newline or carriage return")
	}
	if !csv && strings.IndexByte("\\.abcdefghijklmnopqrstuvwxyz0123456789", f.delim) >= 0 {
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter cannot be \"%c\"", f.delim)
	}
	return nil
}

func (f *copyFormat) quoting(o *ast.CopyOptions, csv, from bool) error {
	if o.Quote != nil {
		if !csv {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY quote available only in CSV mode")
		}
		if len(*o.Quote) != 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY quote must be a single one-byte character")
		}
		f.quote = (*o.Quote)[0]
	}
	if csv && f.delim == f.quote {
		return sqlerr.New(sqlerr.InvalidParameterValue, "COPY delimiter and quote must be different")
	}
	f.escape = f.quote
	if o.Escape != nil {
		if !csv {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY escape available only in CSV mode")
		}
		if len(*o.Escape) != 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY escape must be a single one-byte character")
		}
		f.escape = (*o.Escape)[0]
	}
	if f.kind != ast.CopyBinary && strings.IndexByte(f.null, f.delim) >= 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY delimiter must not appear in the NULL specification")
	}
	if csv && strings.IndexByte(f.null, f.quote) >= 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "CSV quote character must not appear in the NULL specification")
	}
	return nil
}

func (f *copyFormat) forceLists(o *ast.CopyOptions, csv, from bool, columns []string) error {
	lists := []struct {
		names     []string
		all, on   bool
		dst       *[]bool
		what      string
		wantsFrom bool
	}{
		{o.ForceQuote, o.ForceQuoteAll, len(o.ForceQuote) > 0 || o.ForceQuoteAll, &f.forceQuote, "force quote", false},
		{o.ForceNotNull, false, len(o.ForceNotNull) > 0, &f.forceNotNull, "force not null", true},
		{o.ForceNull, false, len(o.ForceNull) > 0, &f.forceNull, "force null", true},
	}
	for _, l := range lists {
		*l.dst = make([]bool, len(columns))
		if !l.on {
			continue
		}
		if !csv {
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY %s available only in CSV mode", l.what)
		}
		if from != l.wantsFrom {
			only := "COPY TO"
			if l.wantsFrom {
				only = "COPY FROM"
			}
			return sqlerr.New(sqlerr.FeatureNotSupported, "COPY %s only available using %s", l.what, only)
		}
		for i := range columns {
			(*l.dst)[i] = l.all
		}
		for _, n := range l.names {
			found := false
			for i, c := range columns {
				if c == n {
					(*l.dst)[i], found = true, true
				}
			}
			if !found {
				return sqlerr.New(sqlerr.InvalidColumnReference, "%s column \"%s\" not referenced by COPY",
					strings.ToUpper(strings.ReplaceAll(l.what, " ", "_")), n)
			}
		}
	}
	return nil
}
