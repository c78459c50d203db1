package pgdata

import (
	"strings"
	"sync"

	"herd/sql/types"
)

// Collation is one row of pg_collation.
type Collation struct {
	OID           types.OID
	Name          string
	Namespace     types.OID
	Provider      byte // d default, c libc, i ICU
	Deterministic bool
	Encoding      int // -1 all
	Collate       string
	CType         string
	ICULocale     string
}

// Language is one row of pg_language.
type Language struct {
	OID     types.OID
	Name    string
	Trusted bool
}

// Keyword is one row of pg_get_keywords().
type Keyword struct {
	Word      string
	Category  byte // U unreserved, C column name, T type or function name, R reserved
	BareLabel bool
}

// Setting is what pg_show_all_settings() says about a configuration parameter at boot.
type Setting struct {
	Name      string
	Boot      string // default; "" may be NULL, see HasBoot
	HasBoot   bool
	Unit      string // "kB", "8kB", "ms", "s", "min", "MB", "B"; "" none
	Category  string
	ShortDesc string
	ExtraDesc string
	Context   string // internal, postmaster, sighup, superuser-backend, backend, superuser, user
	VarType   string // bool, integer, real, string, enum
	Enum      []string
	Min, Max  string // "" none
	Flags     string // "EXPLAIN", "NO_RESET_ALL" ..., separated by commas
}

var loadCollations = sync.OnceValue(func() []Collation {
	var list []Collation
	lines("pg_collation", func(f []string) {
		list = append(list, Collation{oid(f[0]), f[1], oid(f[2]), char(f[4]), yes(f[5]), number(f[6]), str(f[7]), str(f[8]), str(f[9])})
	})
	return list
})

// Collations returns all built-in collations.
func Collations() []Collation { return loadCollations() }

// CollationByOID returns a collation, nil when there is none.
func CollationByOID(id types.OID) *Collation {
	list := loadCollations()
	for i := range list {
		if list[i].OID == id {
			return &list[i]
		}
	}
	return nil
}

// CollationByName returns the collation of a name for UTF8 or all encodings, nil when there is none.
func CollationByName(name string) *Collation {
	list := loadCollations()
	for i := range list {
		if list[i].Name == name && (list[i].Encoding == -1 || list[i].Encoding == 6) {
			return &list[i]
		}
	}
	return nil
}

var loadLanguages = sync.OnceValue(func() []Language {
	var list []Language
	lines("pg_language", func(f []string) { list = append(list, Language{oid(f[0]), f[1], yes(f[4])}) })
	return list
})

// Languages returns the procedural languages.
func Languages() []Language { return loadLanguages() }

var loadKeywords = sync.OnceValue(func() map[string]*Keyword {
	m := make(map[string]*Keyword, 480)
	lines("keywords", func(f []string) { m[f[0]] = &Keyword{f[0], char(f[1]), yes(f[2])} })
	return m
})

// KeywordByName returns a keyword of PostgreSQL's grammar (lower case), nil when it is none.
func KeywordByName(word string) *Keyword { return loadKeywords()[word] }

// Keywords calls f for all keywords in alphabetical order.
func Keywords(f func(k *Keyword)) {
	m := loadKeywords()
	lines("keywords", func(fields []string) { f(m[fields[0]]) })
}

type settingIndex struct {
	list   []Setting
	byName map[string]*Setting
}

var loadSettings = sync.OnceValue(func() *settingIndex {
	x := &settingIndex{list: make([]Setting, 0, 360), byName: make(map[string]*Setting, 360)}
	lines("settings", func(f []string) {
		boot, has := unescape(f[1])
		x.list = append(x.list, Setting{
			Name: f[0], Boot: boot, HasBoot: has, Unit: str(f[2]), Category: str(f[3]), ShortDesc: str(f[4]),
			ExtraDesc: str(f[5]), Context: f[6], VarType: f[7], Enum: texts(f[8]), Min: str(f[9]), Max: str(f[10]),
		})
	})
	for i := range x.list {
		x.byName[strings.ToLower(x.list[i].Name)] = &x.list[i]
	}
	lines("setting_flags", func(f []string) { x.byName[strings.ToLower(f[0])].Flags = f[1] })
	return x
})

// Settings returns PostgreSQL's configuration parameters in the order of SHOW ALL.
func Settings() []Setting { return loadSettings().list }

// SettingByName returns a configuration parameter (any case), nil when there is none.
func SettingByName(name string) *Setting { return loadSettings().byName[strings.ToLower(name)] }

var loadEncodings = sync.OnceValue(func() []string {
	var list []string
	lines("encodings", func(f []string) { list = append(list, str(f[1])) })
	return list
})

// EncodingUTF8 is the number of UTF8, the encoding of every database.
const EncodingUTF8 = 6

// Encodings returns the names of character encodings by number.
func Encodings() []string { return loadEncodings() }

type objectKey struct {
	class, object types.OID
	sub           int
}

var loadDescriptions = sync.OnceValue(func() map[objectKey]string {
	m := make(map[objectKey]string, 5200)
	lines("pg_description", func(f []string) {
		m[objectKey{oid(f[1]), oid(f[0]), number(f[2])}] = str(f[3])
	})
	return m
})

// Description returns the comment on a built-in object, "" when it has none.
func Description(class, object types.OID, sub int) string {
	return loadDescriptions()[objectKey{class, object, sub}]
}
