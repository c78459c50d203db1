package funcs

import (
	"herd/sql/sqlerr"
	"herd/sql/types"
	"herd/sql/types/datetime"
	"herd/sql/types/json"
	"herd/sql/types/jsonpath"
	"herd/sql/vec"
)

func init() {
	jsonpath.CheckRegex = func(pattern string, flags jsonpath.RegexFlags) error {
		_, err := compileRegex(pattern, pathRegex(flags))
		return err
	}
	for _, zones := range []bool{false, true} {
		suffix := ""
		if zones {
			suffix = "_tz"
		}
		each(pathExists(zones), "jsonb_path_exists"+suffix)
		each(pathMatch(zones), "jsonb_path_match"+suffix)
		each(pathFirst(zones), "jsonb_path_query_first"+suffix)
		each(pathArray(zones), "jsonb_path_query_array"+suffix)
		regSet(func(*CallInfo) setStart {
			site := &pathSite{}
			return func(c *Ctx, a []types.Datum) (SetFunc, error) { return pathQuery(c, site, a, zones) }
		}, "jsonb_path_query"+suffix)
	}
	each(pathExists(false), "jsonb_path_exists_opr")
	each(pathMatch(false), "jsonb_path_match_opr")
}

// pathRegex gives the options of a pattern of LIKE_REGEX, whose . does not match a newline without the flag s.
func pathRegex(f jsonpath.RegexFlags) reOptions {
	if f.Literal {
		return reOptions{fold: f.Fold, literal: true}
	}
	return reOptions{fold: f.Fold, nlStop: !f.DotAll, nlAnchor: f.Lines}
}

// pathSite keeps what a call site has compiled: its path and that one's patterns.
type pathSite struct {
	text     string
	path     *jsonpath.Path
	patterns map[pathPattern]*Regex
}

type pathPattern struct {
	text  string
	flags jsonpath.RegexFlags
}

// parse returns the path of a stored text.
func (s *pathSite) parse(text []byte) (*jsonpath.Path, error) {
	if s.path != nil && s.text == string(text) {
		return s.path, nil
	}
	p, err := jsonpath.Parse(string(text))
	if err != nil {
		return nil, err
	}
	*s = pathSite{text: string(text), path: p, patterns: map[pathPattern]*Regex{}}
	return p, nil
}

// pathEnv is a jsonpath.Env for one call.
type pathEnv struct {
	c    *Ctx
	site *pathSite
}

func (e pathEnv) Match(pattern string, flags jsonpath.RegexFlags, s []byte) (bool, error) {
	key := pathPattern{pattern, flags}
	re := e.site.patterns[key]
	if re == nil {
		var err error
		if re, err = compileRegex(pattern, pathRegex(flags)); err != nil {
			return false, err
		}
		e.site.patterns[key] = re
	}
	return re.Match(e.c, s)
}

func (e pathEnv) ParseDatetime(text, template string) (jsonpath.Datetime, error) {
	return parseStrictDatetime(text, template)
}

// Zoned gives the infinities themselves; a local time whose moment is out of range is beyond all others.
func (e pathEnv) Zoned(local int64) int64 {
	if datetime.IsInfinite(local) {
		return local
	}
	return datetime.LocalToUTC(local, e.c.IO.Zone)
}

func (e pathEnv) ZoneEast() int {
	east, _ := datetime.OffsetAt(e.c.TxTime, e.c.IO.Zone)
	return east
}

func (e pathEnv) Interrupted() error { return e.c.interrupted() }

// pathCall is a call with its arguments read: target, path, vars, silent; operators have the first two and are silent.
func (s *pathSite) call(c *Ctx, args []types.Datum, zones bool) (*jsonpath.Path, *json.Value, jsonpath.Env, jsonpath.Options, error) {
	o := jsonpath.Options{Zones: zones, Silent: true}
	p, err := s.parse(args[1].B)
	if err != nil {
		return nil, nil, nil, o, err
	}
	target, err := json.Parse(args[0].B)
	if err != nil {
		return nil, nil, nil, o, err
	}
	if len(args) == 4 {
		o.Silent = args[3].I != 0
		if o.Vars, err = json.Parse(args[2].B); err != nil {
			return nil, nil, nil, o, err
		}
	}
	return p, target, pathEnv{c, s}, o, nil
}

// pathCall reads the arguments of a row.
func (r *row) pathCall(zones bool) (*jsonpath.Path, *json.Value, jsonpath.Env, jsonpath.Options, error) {
	site, _ := r.scratch.(*pathSite)
	if site == nil {
		site = &pathSite{}
		r.scratch = site
	}
	args := make([]types.Datum, r.N())
	for k := range args {
		args[k] = r.Datum(k)
	}
	return site.call(r.c, args, zones)
}

func pathExists(zones bool) rowFunc {
	return func(r *row) error {
		p, target, env, o, err := r.pathCall(zones)
		if err != nil {
			return err
		}
		yes, known, err := p.Exists(target, env, o)
		if err != nil {
			return err
		}
		if !known {
			return r.RetNull()
		}
		return r.RetBool(yes)
	}
}

func (r *row) pathItems(zones bool) ([]*json.Value, bool, error) {
	p, target, env, o, err := r.pathCall(zones)
	if err != nil {
		return nil, o.Silent, err
	}
	items, err := p.Query(target, env, o)
	return items, o.Silent, err
}

func pathMatch(zones bool) rowFunc {
	return func(r *row) error {
		items, silent, err := r.pathItems(zones)
		if err != nil {
			return err
		}
		if len(items) == 1 {
			switch items[0].Kind {
			case json.True, json.False:
				return r.RetBool(items[0].Kind == json.True)
			case json.Null:
				return r.RetNull()
			}
		}
		if !silent {
			return sqlerr.New(sqlerr.SingletonSqlJsonItemRequired, "single boolean result is expected")
		}
		return r.RetNull()
	}
}

func pathFirst(zones bool) rowFunc {
	return func(r *row) error {
		items, _, err := r.pathItems(zones)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return r.RetNull()
		}
		return r.Finish(items[0].Append(r.Start()))
	}
}

func pathArray(zones bool) rowFunc {
	return func(r *row) error {
		items, _, err := r.pathItems(zones)
		if err != nil {
			return err
		}
		all := json.Value{Kind: json.Array, Elems: items}
		return r.Finish(all.Append(r.Start()))
	}
}

func pathQuery(c *Ctx, site *pathSite, args []types.Datum, zones bool) (SetFunc, error) {
	p, target, env, o, err := site.call(c, args, zones)
	if err != nil {
		return nil, err
	}
	items, err := p.Query(target, env, o)
	if err != nil {
		return nil, err
	}
	return listSet(len(items), func(_ *Ctx, row, i int, out []*vec.Vector) error {
		out[0].SetVar(i, items[row].Append(nil))
		return nil
	}), nil
}
