package session

// portalSet holds a session's portals by name. The unnamed one, which every extended-protocol cycle makes and drops, has
// a field of its own.
type portalSet struct {
	unnamed *portal
	named   map[string]*portal
}

func (ps *portalSet) get(name string) *portal {
	if name == "" {
		return ps.unnamed
	}
	return ps.named[name]
}

func (ps *portalSet) getBytes(name []byte) *portal {
	if len(name) == 0 {
		return ps.unnamed
	}
	return ps.named[string(name)]
}

func (ps *portalSet) put(po *portal) {
	if po.name == "" {
		ps.unnamed = po
		return
	}
	if ps.named == nil {
		ps.named = make(map[string]*portal)
	}
	ps.named[po.name] = po
}

// remove takes po out; a portal that was never put in is no error.
func (ps *portalSet) remove(po *portal) {
	switch {
	case ps.get(po.name) != po:
	case po.name == "":
		ps.unnamed = nil
	default:
		delete(ps.named, po.name)
	}
}

// each calls f for every portal; f may remove the portal that it is given.
func (ps *portalSet) each(f func(po *portal)) {
	if ps.unnamed != nil {
		f(ps.unnamed)
	}
	for _, po := range ps.named {
		f(po)
	}
}
