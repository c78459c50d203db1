package scan

import "strings"

// ExcludeColumn stands for the column name exclude in the text of NameExclude: a name of the same length.
const ExcludeColumn = "exclud$"

// NameExclude returns text with ExcludeColumn for each column that is defined with the name exclude, which the parser takes for the beginning
// of an exclusion constraint. ok is false when there is none, or when text
// has ExcludeColumn itself.
func NameExclude(text string) (named string, ok bool) {
	if strings.Contains(text, ExcludeColumn) {
		return "", false
	}
	var b []byte
	for from := 0; ; {
		st, more := Next(text, from)
		if !more {
			return string(b), b != nil
		}
		from = st.Next
		words := tokens(text, st.Start, st.End, st.End)
		for i := 1; i+1 < len(words); i++ {
			if !words[i].is(text, "exclude") || words[i+1].is(text, "using") || text[words[i+1].start] == '(' {
				continue
			}
			before := words[i-1]
			if c := text[before.start]; c == '(' || c == ',' || before.is(text, "add") || before.is(text, "column") || before.is(text, "exists") {
				if b == nil {
					b = []byte(text)
				}
				copy(b[words[i].start:], ExcludeColumn)
			}
		}
	}
}
