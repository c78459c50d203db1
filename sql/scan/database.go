package scan

// PlainDatabase returns text with what CREATE and ALTER DATABASE have beyond PostgreSQL's grammar written in that grammar, every token at its
// place: WITH (replicas = 3, leader = n1) without the brackets and commas, SET LEADER n1 without SET. ok is false when text has none of it.
func PlainDatabase(text string) (plain string, ok bool) {
	var b []byte
	blank := func(i int) {
		if b == nil {
			b = []byte(text)
		}
		b[i] = ' '
	}
	for from := 0; ; {
		st, more := Next(text, from)
		if !more {
			return string(b), b != nil
		}
		from = st.Next
		words := tokens(text, st.Start, st.End, 6)
		if len(words) < 5 || !words[1].is(text, "database") {
			continue
		}
		create, alter := words[0].is(text, "create"), words[0].is(text, "alter")
		with := 3 // what follows the name
		switch {
		case (create || alter) && words[with].is(text, "with") && text[words[with+1].start] == '(':
			blankBrackets(text, words[with+1].start, st.End, blank)
		case alter && words[with].is(text, "set") && words[with+1].is(text, "leader"):
			for i := words[with].start; i < words[with].end; i++ {
				blank(i)
			}
		}
	}
}

// blankBrackets blanks the bracket at i, the commas in it and its end, if the statement ends there.
func blankBrackets(text string, i, end int, blank func(int)) {
	list := tokens(text, i, end, end)
	last := len(list) - 1
	if text[list[last].start] != ')' {
		return
	}
	blank(list[0].start)
	blank(list[last].start)
	for _, t := range list[1:last] {
		if c := text[t.start]; c == ',' {
			blank(t.start)
		}
	}
}

// token is a token's span.
type token struct{ start, end int }

func (t token) is(text, word string) bool { return isWord(text, t.start, t.end, word) }

// tokens returns the first tokens of text[i:end], at most so many, without blanks and comments.
func tokens(text string, i, end, most int) (out []token) {
	for i = skipBlank(text, i); i < end && len(out) < most; i = skipBlank(text, i) {
		next := min(skipToken(text, i), end)
		out = append(out, token{i, next})
		i = next
	}
	return out
}
