package lock

// AdvisoryKey is the user's name of an advisory lock: one bigint, or two ints, which are different spaces.
type AdvisoryKey struct {
	Hi, Lo  uint32 // of the bigint, or the two ints
	TwoInts bool
}

func (k AdvisoryKey) name() name {
	n := name{classAdvisory, uint64(k.Hi)<<32 | uint64(k.Lo)}
	if k.TwoInts {
		n.class = classAdvisoryTwo
	}
	return n
}

// advisoryHold counts how often the owner has a lock, by mode (0 shared, 1 exclusive), for the session and for the
// transaction.
type advisoryHold struct {
	name    name
	session [2]int32
	tx      [2]int32
}

func (h *advisoryHold) held() (m mask) {
	if h.session[0]+h.tx[0] > 0 {
		m |= bit(AdvisoryShare)
	}
	if h.session[1]+h.tx[1] > 0 {
		m |= bit(AdvisoryExclusive)
	}
	return m
}

type advisoryRecord struct {
	name name
	mode Mode
}

// Advisory takes an advisory lock, until the transaction's end when xact is set, else until it is unlocked as often or
// the session ends. With policy SkipLocked it is a try: granted says if it has the lock. Errors as for Row.
func (o *Owner) Advisory(k AdvisoryKey, shared, xact bool, p Policy) (granted bool, err error) {
	n, m := k.name(), AdvisoryExclusive
	if shared {
		m = AdvisoryShare
	}
	h := o.hold(n)
	if h.held()&bit(m) == 0 {
		o.m.heavyMu.Lock()
		granted, _, err = o.acquire(o.m.heavyLock(n), m, p, "advisory lock")
		if !granted || err != nil {
			o.dropHold(n)
			return false, err
		}
	}
	if xact {
		h.tx[m-AdvisoryShare]++
		o.advTx = append(o.advTx, advisoryRecord{n, m})
	} else {
		h.session[m-AdvisoryShare]++
	}
	return true, nil
}

// hold returns the counts of a lock. The pointer is valid until the next call.
func (o *Owner) hold(n name) *advisoryHold {
	for i := range o.adv {
		if o.adv[i].name == n {
			return &o.adv[i]
		}
	}
	o.adv = append(o.adv, advisoryHold{name: n})
	return &o.adv[len(o.adv)-1]
}

// dropHold forgets a lock that is not held.
func (o *Owner) dropHold(n name) {
	for i := range o.adv {
		if o.adv[i].name == n && o.adv[i].held() == 0 {
			o.adv[i] = o.adv[len(o.adv)-1]
			o.adv = o.adv[:len(o.adv)-1]
			return
		}
	}
}

// AdvisoryUnlock gives one session-level lock back; false when the session does not hold it.
func (o *Owner) AdvisoryUnlock(k AdvisoryKey, shared bool) bool {
	m := AdvisoryExclusive
	if shared {
		m = AdvisoryShare
	}
	return o.releaseAdvisory(k.name(), m, true)
}

// releaseAdvisory takes one count back and releases the lock when it was the last.
func (o *Owner) releaseAdvisory(n name, m Mode, session bool) bool {
	h := o.hold(n)
	count := &h.tx[m-AdvisoryShare]
	if session {
		count = &h.session[m-AdvisoryShare]
	}
	if *count == 0 {
		o.dropHold(n)
		return false
	}
	*count--
	left := h.held()
	if left&bit(m) != 0 {
		return true
	}
	o.m.heavyMu.Lock()
	if w := o.m.heavy[n]; w != nil {
		if left == 0 {
			w.drop(o)
		} else {
			w.replace(o, left)
		}
		w.grant()
		o.m.forget(w)
	}
	o.m.heavyMu.Unlock()
	o.dropHold(n)
	return true
}

// AdvisoryUnlockAll gives all session-level locks back.
func (o *Owner) AdvisoryUnlockAll() {
	for i := len(o.adv) - 1; i >= 0; i-- {
		h := o.adv[i]
		for m, n := range h.session {
			for range n {
				o.releaseAdvisory(h.name, AdvisoryShare+Mode(m), true)
			}
		}
		i = min(i, len(o.adv))
	}
}
