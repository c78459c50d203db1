package catalog

import (
	"strconv"
	"strings"

	"herd/sql/types"
)

// Privileges are bits of an access control list entry.
type Privileges uint32

// The privileges, in the order in which aclitem prints their letters.
const (
	PrivInsert      Privileges = 1 << iota // a
	PrivSelect                             // r
	PrivUpdate                             // w
	PrivDelete                             // d
	PrivTruncate                           // D
	PrivReferences                         // x
	PrivTrigger                            // t
	PrivExecute                            // X
	PrivUsage                              // U
	PrivCreate                             // C
	PrivTemporary                          // T
	PrivConnect                            // c
	PrivSet                                // s
	PrivAlterSystem                        // A
)

// Sets of all privileges of an object class.
const (
	AllTable    = PrivInsert | PrivSelect | PrivUpdate | PrivDelete | PrivTruncate | PrivReferences | PrivTrigger
	AllColumn   = PrivInsert | PrivSelect | PrivUpdate | PrivReferences
	AllSequence = PrivSelect | PrivUpdate | PrivUsage
	AllDatabase = PrivCreate | PrivTemporary | PrivConnect
	AllSchema   = PrivUsage | PrivCreate
	AllFunction = PrivExecute
	AllType     = PrivUsage
	AllLanguage = PrivUsage
)

const privLetters = "arwdDxtXUCTcsA"

// ACLItem is one entry of an access control list.
type ACLItem struct {
	Grantee types.OID // 0 = PUBLIC
	Grantor types.OID
	Privs   Privileges
	Options Privileges // the privileges that the grantee may grant on
}

// ParseACL reads a stored list: items are grantee=letters/grantor with role identifiers, and
// an asterisk behind a letter that may be granted on. Damaged items are skipped.
func ParseACL(stored []string) []ACLItem {
	list := make([]ACLItem, 0, len(stored))
	for _, s := range stored {
		grantee, rest, ok := strings.Cut(s, "=")
		letters, grantor, ok2 := strings.Cut(rest, "/")
		if !ok || !ok2 {
			continue
		}
		item := ACLItem{Grantee: parseOID(grantee), Grantor: parseOID(grantor)}
		last := Privileges(0)
		for i := 0; i < len(letters); i++ {
			if letters[i] == '*' {
				item.Options |= last
			} else if at := strings.IndexByte(privLetters, letters[i]); at >= 0 {
				last = 1 << at
				item.Privs |= last
			}
		}
		list = append(list, item)
	}
	return list
}

func parseOID(s string) types.OID {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0
	}
	return types.OID(n)
}

// FormatACL makes the stored form; entries without privileges are left out. An empty list is
// not nil: it differs from the default privileges.
func FormatACL(list []ACLItem) []string {
	out := make([]string, 0, len(list))
	for _, it := range list {
		if it.Privs == 0 {
			continue
		}
		grantee := ""
		if it.Grantee != 0 {
			grantee = strconv.FormatUint(uint64(it.Grantee), 10)
		}
		out = append(out, grantee+"="+letters(it)+"/"+strconv.FormatUint(uint64(it.Grantor), 10))
	}
	return out
}

// letters prints the privileges of an item.
func letters(it ACLItem) string {
	var b []byte
	for i := range len(privLetters) {
		if it.Privs&(1<<i) != 0 {
			b = append(b, privLetters[i])
			if it.Options&(1<<i) != 0 {
				b = append(b, '*')
			}
		}
	}
	return string(b)
}

// aclOut prints an item as aclitem does, with role names.
func aclOut(r Reader, it ACLItem) (string, error) {
	name := func(id types.OID) (string, error) {
		x, err := r.RoleByOID(id)
		if err != nil {
			return "", err
		}
		if x == nil {
			return strconv.FormatUint(uint64(id), 10), nil
		}
		return aclName(x.Name), nil
	}
	grantee := ""
	var err error
	if it.Grantee != 0 {
		if grantee, err = name(it.Grantee); err != nil {
			return "", err
		}
	}
	grantor, err := name(it.Grantor)
	return grantee + "=" + letters(it) + "/" + grantor, err
}

// aclName quotes a role name that is not made of letters, digits and underscores.
func aclName(name string) string {
	for _, c := range []byte(name) {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c < 0x80 {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// DefaultACLOf returns what an object without stored list grants: everything to its owner, and
// to PUBLIC what PostgreSQL gives by default. objType is r relation, c column, S sequence,
// d database, f function, l language, n schema, T type.
func DefaultACLOf(objType byte, owner types.OID) []ACLItem {
	var public, all Privileges
	switch objType {
	case 'c':
		return nil
	case 'r':
		all = AllTable
	case 'S':
		all = AllSequence
	case 'd':
		public, all = PrivTemporary|PrivConnect, AllDatabase
	case 'f':
		public, all = PrivExecute, AllFunction
	case 'l':
		public, all = PrivUsage, AllLanguage
	case 'n':
		all = AllSchema
	case 'T':
		public, all = PrivUsage, AllType
	}
	var list []ACLItem
	if public != 0 {
		list = append(list, ACLItem{Grantor: owner, Privs: public})
	}
	return append(list, ACLItem{Grantee: owner, Grantor: owner, Privs: all})
}

// MayUseSchema says whether a role may look into a schema: it or a role it is a member of owns it or has USAGE.
func MayUseSchema(r Reader, s *Schema, role types.OID) (bool, error) {
	if s.OID == r.TempSchema() {
		return true, nil
	}
	set, err := MembersOf(r, role)
	if err != nil {
		return false, err
	}
	privs, _ := Granted(EffectiveACL(s.ACL, 'n', s.Owner), s.Owner, set)
	return set[s.Owner] || privs&PrivUsage != 0, nil
}

// EffectiveACL returns the stored list, or the default when nothing is stored (nil).
func EffectiveACL(stored []string, objType byte, owner types.OID) []ACLItem {
	if stored == nil {
		return DefaultACLOf(objType, owner)
	}
	return ParseACL(stored)
}

// Granted returns the privileges that a list gives to any of the roles in set and to PUBLIC,
// and those it lets them grant. An owner in the set may always grant everything.
func Granted(list []ACLItem, owner types.OID, set map[types.OID]bool) (privs, options Privileges) {
	if set[owner] {
		options = ^Privileges(0)
	}
	for _, it := range list {
		if it.Grantee == 0 || set[it.Grantee] {
			privs |= it.Privs
			options |= it.Options
		}
	}
	return privs, options
}

// GrantTo adds privileges for a grantee to a list and returns it.
func GrantTo(list []ACLItem, grantee, grantor types.OID, privs Privileges, withOption bool) []ACLItem {
	for i := range list {
		if list[i].Grantee == grantee && list[i].Grantor == grantor {
			list[i].Privs |= privs
			if withOption {
				list[i].Options |= privs
			}
			return list
		}
	}
	it := ACLItem{Grantee: grantee, Grantor: grantor, Privs: privs}
	if withOption {
		it.Options = privs
	}
	return append(list, it)
}

// RevokeFrom removes privileges (or only the option to grant them) of a grantee from a list.
func RevokeFrom(list []ACLItem, grantee, grantor types.OID, privs Privileges, onlyOption bool) []ACLItem {
	out := list[:0]
	for _, it := range list {
		if it.Grantee == grantee && it.Grantor == grantor {
			it.Options &^= privs
			if !onlyOption {
				it.Privs &^= privs
			}
			if it.Privs == 0 {
				continue
			}
		}
		out = append(out, it)
	}
	return out
}
