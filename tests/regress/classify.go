package main

import (
	"regexp"
	"slices"
	"strings"
)

// verdict says how a statement's answer relates to PostgreSQL's.
type verdict int

const (
	equal       verdict = iota
	refused             // 0A000 for something the project leaves for later
	unsupported         // any other 0A000
	follows             // different because of an object or a transaction that an earlier refused statement would have made
	followsOn           // the same after an unsupported one
	reordered           // the same lines in another order
	differs
	verdicts
)

// laterFeature matches what is left for later, in the message of a 0A000: PL/pgSQL, triggers, partitions, inheritance, ranges, network
// types, text search, row security, two-phase commit.
var laterFeature = regexp.MustCompile(`(?i)plpgsql|trigger|partition|inherit|\branges?\b|(int4|int8|num|ts|tstz|date)(multi)?range|multirange|inet|cidr|macaddr|tsvector|tsquery|text search|` +
	`row.level security|row security|polic(y|ies)|prepare transaction|prepared transaction|two-phase`)

// saysUnsupported matches herd's wording of a 0A000, for the stretches in which a script has psql print no SQLSTATE.
var saysUnsupported = regexp.MustCompile(`(?m)^ERROR:  .* (is|are) not supported$`)

// windowFrame matches what laterFeature would take for a range type.
var windowFrame = regexp.MustCompile(`RANGE with offset`)

// item is one statement with both answers.
type item struct {
	script   string
	st       *stmt
	explain  bool
	want     string
	got      *string
	states   []string
	verdict  verdict
	cause    string
	rootLine string  // where the statement is that this one follows from
	rootMade verdict // what that statement was: refused or unsupported
}

// judge keeps what earlier statements left behind while the statements of a script are classified in order.
type judge struct {
	kept    map[string]root // names that a refused statement of a preparing script would have made
	tainted map[string]root // the same within this script
	aborted root            // the statement that aborted the open transaction, if it was refused or follows
	broken  string          // the statement that aborted it for another reason
}

// root is a refused or unsupported statement that others follow from.
type root struct {
	where string
	made  verdict
}

func (j *judge) begin() { j.tainted, j.aborted, j.broken = map[string]root{}, root{}, "" }

// judge decides about one statement.
func (j *judge) judge(it *item, counted bool) {
	got := ""
	if it.got != nil {
		got = *it.got
	}
	sql := it.st.sql()
	switch {
	case it.got != nil && got == it.want:
		it.verdict = equal
		for _, n := range made(sql) {
			delete(j.tainted, n)
		}
		if !strings.Contains(got, "aborted") {
			j.aborted, j.broken = root{}, ""
		}
		return
	case it.got == nil:
		it.verdict, it.cause = differs, "no answer: psql did not get that far"
		return
	}
	it.cause = cause(it.want, got)
	j.place(it, sql, got)
	from := root{it.rootLine, it.rootMade}
	if it.verdict == refused || it.verdict == unsupported {
		from = root{it.st.place(it.script), it.verdict}
	}
	if from.where != "" {
		for _, n := range slices.Concat(made(sql), changed(sql), attached(sql)) {
			j.tainted[n] = from
			if !counted {
				j.kept[n] = from
			}
		}
	}
	if strings.Contains(got, "ERROR:  ") && !strings.Contains(got, "current transaction is aborted") {
		j.aborted, j.broken = from, it.st.place(it.script)
	}
}

// place sets the verdict of a statement whose answer differs.
func (j *judge) place(it *item, sql, got string) {
	notSupported := (slices.Contains(it.states, "0A000") || len(it.states) == 0 && saysUnsupported.MatchString(got)) && !strings.Contains(it.want, firstError(got))
	switch {
	case strings.Contains(got, "current transaction is aborted") && j.aborted.where != "":
		it.follow(j.aborted)
	case strings.Contains(got, "current transaction is aborted") && !strings.Contains(it.want, "current transaction is aborted"):
		it.verdict, it.cause = differs, "in the transaction that "+j.broken+" aborted"
	case notSupported && laterFeature.MatchString(firstError(got)) && !windowFrame.MatchString(firstError(got)):
		it.verdict = refused
	case notSupported:
		it.verdict = unsupported
	default:
		it.verdict = differs
		if from := j.root(sql + " " + messages(it.want) + " " + firstError(got)); from.where != "" {
			it.follow(from)
		} else if sameLines(it.want, got) {
			it.verdict = reordered
		}
	}
}

// follow makes the statement one that differs because of another.
func (it *item) follow(from root) {
	it.verdict, it.rootLine, it.rootMade = follows, from.where, from.made
	if from.made == unsupported {
		it.verdict = followsOn
	}
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_$]*`)

// root finds a name in a statement, its error or the messages it should have had that a refused statement would have made.
func (j *judge) root(text string) root {
	var other root
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		for _, r := range []root{j.tainted[w], j.kept[w]} {
			switch {
			case r.where != "" && r.made == refused: // before one that is only unsupported
				return r
			case other.where == "":
				other = r
			}
		}
	}
	return other
}

var (
	makes = regexp.MustCompile(`(?is)\bcreate\s+(?:or\s+replace\s+)?(?:(?:global|local|temp|temporary|unlogged|unique|recursive|materialized|constraint|foreign|event|trusted|procedural)\s+)*` +
		`(?:table|view|index|sequence|type|domain|function|procedure|aggregate|schema|trigger|rule|operator\s+class|operator\s+family|operator|collation|policy|language|role|user|cast|tablespace)\s+` +
		`(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?((?:"[^"]+"|[\w$]+)(?:\.(?:"[^"]+"|[\w$]+))?)`)
	alters = regexp.MustCompile(`(?is)\b(?:alter\s+table|alter\s+view|alter\s+type|alter\s+domain|alter\s+sequence|alter\s+index|alter\s+function|insert\s+into|merge\s+into|delete\s+from|update|copy|truncate|` +
		`alter\s+materialized\s+view|refresh\s+materialized\s+view|drop\s+table|drop\s+type|drop\s+function|drop\s+view|drop\s+schema|prepare|declare|into)\s+` +
		`(?:table\s+|if\s+exists\s+|only\s+)*((?:"[^"]+"|[\w$]+)(?:\.(?:"[^"]+"|[\w$]+))?)`)
)

var (
	inherits = regexp.MustCompile(`(?is)\binherits\s*\(([^)]*)\)`)
	onTable  = regexp.MustCompile(`(?is)\bcreate\s+(?:or\s+replace\s+)?(?:constraint\s+)?(?:trigger|policy|rule)\b.*?\b(?:on|to)\s+((?:"[^"]+"|[\w$]+)(?:\.(?:"[^"]+"|[\w$]+))?)`)
)

// made and changed return the names of what a statement creates and changes; attached the tables whose behaviour it changes by
// something else: rows of their children, triggers, rules, policies.
func made(sql string) []string    { return names(makes, sql) }
func changed(sql string) []string { return names(alters, sql) }

func attached(sql string) []string {
	out := names(onTable, sql)
	for _, m := range inherits.FindAllStringSubmatch(sql, -1) {
		for parent := range strings.SplitSeq(m[1], ",") {
			out = append(out, strings.ToLower(strings.Trim(strings.TrimSpace(parent), `"`)))
		}
	}
	return out
}

func names(re *regexp.Regexp, sql string) []string {
	var out []string
	for _, m := range re.FindAllStringSubmatch(sql, -1) {
		name := m[1]
		if i := strings.LastIndexByte(name, '.'); i >= 0 {
			name = name[i+1:]
		}
		if name = strings.ToLower(strings.Trim(name, `"`)); name != "on" && name != "set" {
			out = append(out, name)
		}
	}
	return out
}

func sameLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

var namedInMessage = regexp.MustCompile(`relation "([^"]+)"|table "([^"]+)"|child "([^"]+)"|type "?([\w$]+)|drop cascades to [a-z ]*?([\w$]+)(?:\(.*\))?$`)

// messages returns the relations and types that the errors and notices of an answer name.
func messages(answer string) string {
	var out []string
	for line := range strings.Lines(answer) {
		for _, kind := range []string{"ERROR:  ", "NOTICE:  ", "WARNING:  ", "DETAIL:  ", "drop cascades to "} {
			if !strings.HasPrefix(line, kind) {
				continue
			}
			for _, m := range namedInMessage.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
				out = append(out, m[1:]...)
			}
		}
	}
	return strings.Join(out, " ")
}

func firstError(answer string) string {
	for line := range strings.Lines(answer) {
		if strings.HasPrefix(line, "ERROR:  ") || strings.HasPrefix(line, "FATAL:  ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

var (
	quoted  = regexp.MustCompile(`"[^"]*"`)
	numbers = regexp.MustCompile(`-?\d+(\.\d+)?`)
)

// cause puts a difference in a class, so that the same fault gathers under one title.
func cause(want, got string) string {
	w, g := firstError(want), firstError(got)
	switch {
	case w == "" && g != "":
		return "new " + shorten(g)
	case w != "" && g == "":
		return "missing " + shorten(w)
	case w != g:
		return "other " + shorten(g)
	}
	for _, line := range firstDifference(want, got) {
		for _, kind := range []string{"LINE ", "DETAIL:", "HINT:", "CONTEXT:", "NOTICE:", "WARNING:", "QUERY:"} {
			if strings.HasPrefix(line, kind) {
				return "wording of " + strings.Trim(kind, ": ")
			}
		}
	}
	return "rows"
}

func shorten(message string) string {
	message = quoted.ReplaceAllString(message, `"..."`)
	return numbers.ReplaceAllString(message, "N")
}

// firstDifference returns the first lines in which two answers differ.
func firstDifference(a, b string) []string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return []string{y[i]}
		case i >= len(y):
			return []string{x[i]}
		case x[i] != y[i]:
			return []string{x[i], y[i]}
		}
	}
	return nil
}
