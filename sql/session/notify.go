package session

import (
	"sync"
	"sync/atomic"

	"herd/engine"
	"herd/internal/mem"
	"herd/sql/ast"
	"herd/sql/sqlerr"
	"herd/sql/types"
)

const (
	notifyQueueMax   = 64 << 20 // bytes of notifications that listeners have not read
	notifyPayloadMax = 8000     // bytes, as in PostgreSQL
	channelNameMax   = 63
	notificationSize = 64 // bytes beside channel and payload
)

// notification is one NOTIFY.
type notification struct {
	pid              int32
	channel, payload string
}

func (n *notification) size() int64 { return int64(notificationSize + len(n.channel) + len(n.payload)) }

// notifyHub takes committed notifications to the sessions that listen, in the order of the commits.
type notifyHub struct {
	order sync.Mutex // held while a transaction with notifications gets its place among the commits
	used  atomic.Int64
	acct  *mem.Account

	mu        sync.Mutex
	listeners map[*engine.Database]map[string]map[*Session]struct{} // guarded by mu
	queue     []*notifyBatch                                        // guarded by mu: ordered commits whose outcome or predecessors are awaited
}

// notifyBatch is what one transaction notified.
type notifyBatch struct {
	db      *engine.Database
	list    []notification
	settled bool
}

// append gives a batch its place; order is held.
func (h *notifyHub) append(b *notifyBatch) {
	h.mu.Lock()
	h.queue = append(h.queue, b)
	h.mu.Unlock()
}

// settle delivers a batch, as soon as those before it are settled, or drops it when its commit has failed.
func (h *notifyHub) settle(b *notifyBatch, committed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.settled = true
	if !committed {
		b.list = nil
	}
	for len(h.queue) > 0 && h.queue[0].settled {
		h.deliver(h.queue[0])
		h.queue[0] = nil
		h.queue = h.queue[1:]
	}
}

// deliver puts notifications into the inboxes of those who listen; mu is held.
func (h *notifyHub) deliver(b *notifyBatch) {
	for i := range b.list {
		n := &b.list[i]
		for s := range h.listeners[b.db][n.channel] {
			h.take(n.size())
			s.inbox.add(s, n)
		}
	}
}

func (h *notifyHub) take(n int64) {
	h.used.Add(n)
	h.acct.Force(n)
}

func (h *notifyHub) give(n int64) {
	h.used.Add(-n)
	h.acct.Shrink(n)
}

// listen makes a session hear of a channel.
func (h *notifyHub) listen(s *Session, channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners == nil {
		h.listeners = map[*engine.Database]map[string]map[*Session]struct{}{}
	}
	channels := h.listeners[s.db]
	if channels == nil {
		channels = map[string]map[*Session]struct{}{}
		h.listeners[s.db] = channels
	}
	if channels[channel] == nil {
		channels[channel] = map[*Session]struct{}{}
	}
	channels[channel][s] = struct{}{}
}

// unlisten undoes listen.
func (h *notifyHub) unlisten(s *Session, channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	channels := h.listeners[s.db]
	delete(channels[channel], s)
	if len(channels[channel]) == 0 {
		delete(channels, channel)
	}
	if len(channels) == 0 {
		delete(h.listeners, s.db)
	}
}

// usage is the part of the queue that is full.
func (h *notifyHub) usage() float64 { return float64(h.used.Load()) / notifyQueueMax }

// inbox holds what a session was notified of and has not told its client yet.
type inbox struct {
	mu      sync.Mutex
	list    []notification // guarded by mu
	waiting bool           // guarded by mu: the connection waits for the client, outside a transaction
	woken   bool           // guarded by mu: the wait was interrupted
}

// add is called by the session that notifies.
func (b *inbox) add(s *Session, n *notification) {
	b.mu.Lock()
	b.list = append(b.list, *n)
	b.wake(s)
	b.mu.Unlock()
}

// wake interrupts the wait for the client when there is something to tell; mu is held.
func (b *inbox) wake(s *Session) {
	if b.waiting && !b.woken && len(b.list) > 0 {
		b.woken = true
		s.client.Wake()
	}
}

// idle begins the wait for the client.
func (b *inbox) idle(s *Session) {
	b.mu.Lock()
	b.waiting = s.TxStatus() == 'I'
	b.wake(s)
	b.mu.Unlock()
}

// busy ends it: nothing may be interrupted any more, and what was is not. It says whether it was.
func (b *inbox) busy(s *Session) (woken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	woken = b.woken
	b.waiting, b.woken = false, false
	if woken {
		s.client.Rest()
	}
	return woken
}

// Notified is called by the connection when its wait for the client was interrupted: it says whether notifications were the
// reason, which are written then.
func (s *Session) Notified() bool {
	if s.inbox == nil || !s.inbox.busy(s) || s.EndReason() != nil {
		return false
	}
	s.sendNotifications()
	s.inbox.idle(s)
	return true
}

// sendNotifications tells the client what the session was notified of, unless it is in a transaction.
func (s *Session) sendNotifications() {
	b := s.inbox
	if b == nil || s.TxStatus() != 'I' {
		return
	}
	b.mu.Lock()
	list := b.list
	b.list = nil
	b.mu.Unlock()
	for i := range list {
		n := &list[i]
		s.out.Begin('A')
		s.out.Int32(n.pid)
		s.out.String(n.channel)
		s.out.String(n.payload)
		s.out.End()
		if s.out.Pending() > notifyFlush {
			s.out.Flush() // an error is the connection's to find
		}
		s.srv.notify.give(n.size())
	}
}

const notifyFlush = 64 << 10 // bytes

// noteAction is a LISTEN or UNLISTEN that waits for the end of its transaction; channel "" is UNLISTEN *.
type noteAction struct {
	channel string
	listen  bool
}

// pendingNotes is what takes effect when the transaction commits.
type pendingNotes struct {
	actions []noteAction
	sends   []notification
	seen    map[notification]struct{} // of sends, once they are many
	bytes   int64
}

// manySends is from how many notifications on equal ones are looked for in a table.
const manySends = 16

// has says whether the transaction has notified this already.
func (p *pendingNotes) has(n notification) bool {
	if len(p.sends) < manySends {
		for i := range p.sends {
			if p.sends[i] == n {
				return true
			}
		}
		return false
	}
	if p.seen == nil {
		p.seen = make(map[notification]struct{}, 2*manySends)
		for _, o := range p.sends {
			p.seen[o] = struct{}{}
		}
	}
	_, ok := p.seen[n]
	return ok
}

func (p *pendingNotes) add(n notification) {
	p.sends = append(p.sends, n)
	p.bytes += n.size()
	if p.seen != nil {
		p.seen[n] = struct{}{}
	}
}

// noteMark is a point in a transaction's notes to go back to.
type noteMark struct{ actions, sends int }

func (p *pendingNotes) mark() noteMark { return noteMark{len(p.actions), len(p.sends)} }

func (p *pendingNotes) truncate(m noteMark) {
	for i := m.sends; i < len(p.sends); i++ {
		p.bytes -= p.sends[i].size()
	}
	p.actions, p.sends, p.seen = p.actions[:m.actions], p.sends[:m.sends], nil
}

// notifyChannel is NOTIFY and pg_notify.
func (s *Session) notifyChannel(channel, payload string) error {
	switch {
	case s.replica:
		return errNotesReplica("NOTIFY")
	case channel == "":
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name cannot be empty")
	case len(channel) > channelNameMax:
		return sqlerr.New(sqlerr.InvalidParameterValue, "channel name too long")
	case len(payload) >= notifyPayloadMax:
		return sqlerr.New(sqlerr.InvalidParameterValue, "payload string too long")
	}
	n := notification{pid: s.info.PID, channel: channel, payload: payload}
	if s.notes.has(n) {
		return nil
	}
	if s.notes.bytes+n.size() > notifyQueueMax {
		return errNotifyFull()
	}
	s.notes.add(n)
	return nil
}

func errNotifyFull() error {
	return sqlerr.New(sqlerr.ProgramLimitExceeded, "too many notifications in the NOTIFY queue")
}

func errNotesReplica(command string) error {
	return sqlerr.New(sqlerr.ReadOnlySqlTransaction, "cannot execute %s during recovery", command)
}

// listenTo is LISTEN and UNLISTEN.
func (s *Session) listenTo(command, channel string) (commandTag, error) {
	if s.replica {
		return commandTag{}, errNotesReplica(command)
	}
	s.notes.actions = append(s.notes.actions, noteAction{channel: channel, listen: command == "LISTEN"})
	return commandTag{text: command}, nil
}

// notifyCommand runs LISTEN, NOTIFY and UNLISTEN.
func (s *Session) notifyCommand(stmt ast.Stmt) (commandTag, error) {
	switch st := stmt.(type) {
	case *ast.Listen:
		return s.listenTo("LISTEN", st.Channel)
	case *ast.Unlisten:
		return s.listenTo("UNLISTEN", st.Channel)
	case *ast.Notify:
		return commandTag{text: "NOTIFY"}, s.notifyChannel(st.Channel, st.Payload)
	}
	return commandTag{}, sqlerr.Internal("no command about notifications: %T", stmt)
}

// notifyRoom fails when listeners have left too much unread for the transaction's notifications to be kept.
func (s *Session) notifyRoom() error {
	if s.notes.bytes > 0 && s.srv.notify.used.Load()+s.notes.bytes > notifyQueueMax {
		return errNotifyFull()
	}
	return nil
}

// commitNotes commits the transaction; what it notified has its place among the commits then.
func (s *Session) commitNotes(tx *engine.Tx) (*notifyBatch, error) {
	if len(s.notes.sends) == 0 {
		return nil, tx.Commit()
	}
	h := &s.srv.notify
	h.order.Lock()
	defer h.order.Unlock()
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	b := &notifyBatch{db: s.db, list: s.notes.sends}
	s.notes.sends = nil
	h.append(b)
	return b, nil
}

// endNotes ends the transaction's notes: what it said about listening takes effect when it has committed.
func (s *Session) endNotes(committed bool) {
	if committed {
		for _, a := range s.notes.actions {
			s.applyListen(a)
		}
	}
	if len(s.notes.actions)+len(s.notes.sends) > 0 || s.notes.bytes > 0 {
		s.notes = pendingNotes{}
	}
}

func (s *Session) applyListen(a noteAction) {
	if a.listen {
		if s.inbox == nil {
			s.inbox = &inbox{}
		}
		for _, c := range s.channels {
			if c == a.channel {
				return
			}
		}
		s.channels = append(s.channels, a.channel)
		s.srv.notify.listen(s, a.channel)
		return
	}
	kept := s.channels[:0]
	for _, c := range s.channels {
		if a.channel != "" && a.channel != c {
			kept = append(kept, c)
			continue
		}
		s.srv.notify.unlisten(s, c)
	}
	s.channels = kept
}

// closeNotes ends listening when the session ends.
func (s *Session) closeNotes() {
	s.applyListen(noteAction{})
	if s.inbox == nil {
		return
	}
	s.inbox.mu.Lock()
	defer s.inbox.mu.Unlock()
	for i := range s.inbox.list {
		s.srv.notify.give(s.inbox.list[i].size())
	}
	s.inbox.list = nil
}

// channelRows are the rows of pg_listening_channels.
func (s *Session) channelRows() [][]types.Datum {
	rows := make([][]types.Datum, len(s.channels))
	for i, c := range s.channels {
		rows[i] = []types.Datum{types.Text(c)}
	}
	return rows
}
