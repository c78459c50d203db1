package scan

// Statement is one statement of a text.
type Statement struct {
	// Start and End are its byte span without the semicolon, surrounding blanks and comments before it.
	Start, End int
	// Next is where the search for the next one goes on.
	Next int
}

// Next finds the first statement at or after from, and reports false when only blanks, comments and semicolons are left.
// A semicolon ends a statement outside strings, names, comments, brackets and BEGIN ATOMIC bodies. Text that is no valid SQL
// gives some statement or other, which a parser then refuses.
func Next(text string, from int) (Statement, bool) {
	i := skipBlank(text, from)
	for i < len(text) && text[i] == ';' {
		i = skipBlank(text, i+1)
	}
	if i >= len(text) {
		return Statement{Next: len(text)}, false
	}
	st := Statement{Start: i, End: i}
	depth, body := 0, 0 // body counts BEGIN ATOMIC and the CASEs in it
	begin := false      // the last word was BEGIN
	for i < len(text) {
		end := skipToken(text, i)
		switch c := classes[text[i]]; {
		case c == cSpace:
			i = end
			continue
		case c == cOp && skipComment(text, i) > i:
			i = end
			continue
		case c == cSemi && depth <= 0 && body == 0:
			st.Next = end
			return st, true
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case c == cLetter:
			switch {
			case begin && isWord(text, i, end, "atomic"), body > 0 && isWord(text, i, end, "case"):
				body++
			case body > 0 && isWord(text, i, end, "end"):
				body--
			}
			begin = isWord(text, i, end, "begin")
		}
		st.End = end
		i = end
	}
	st.Next = len(text)
	return st, true
}
