package session

import (
	"sync"
	"sync/atomic"

	"herd/engine"
	"herd/engine/lock"
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

// delivered is a notification in the inboxes of those who listened when it was committed.
type delivered struct {
	notification
	unread atomic.Int32 // inboxes that it is in
}

// pointerSize is what an inbox keeps of a notification.
const pointerSize = 8

// notifyHub takes committed notifications to the sessions that listen.
type notifyHub struct {
	used atomic.Int64 // bytes of notifications that are committed, or about to be, and that not all who listen have read
	acct *mem.Account

	mu        sync.Mutex
	databases map[uint32]*notifyQueue // guarded by mu; by OID
}

// notifyQueue is a database's part of it: its commits, and thus its notifications, have an order of their own, and what holds up one
// database does not hold up another.
type notifyQueue struct {
	hub   *notifyHub
	order chan struct{} // has a token while a transaction with notifications gets its place among the commits

	mu        sync.Mutex
	listeners map[string]map[*Session]struct{} // guarded by mu
	queue     []*notifyBatch                   // guarded by mu: ordered commits whose outcome or predecessors are awaited
}

// notifyBatch is what one transaction notified.
type notifyBatch struct {
	q       *notifyQueue
	list    []notification
	settled bool
}

// of returns the queue of a database.
func (h *notifyHub) of(db *engine.Database) *notifyQueue {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := h.databases[db.OID()]
	if q == nil {
		if h.databases == nil {
			h.databases = map[uint32]*notifyQueue{}
		}
		q = &notifyQueue{hub: h, order: make(chan struct{}, 1), listeners: map[string]map[*Session]struct{}{}}
		h.databases[db.OID()] = q
	}
	return q
}

// forget drops the queue of a database that is dropped, which has no sessions.
func (h *notifyHub) forget(database uint32) {
	h.mu.Lock()
	delete(h.databases, database)
	h.mu.Unlock()
}

// reserve takes room for n bytes of notifications; false when there is none.
func (h *notifyHub) reserve(n int64) bool {
	if h.used.Add(n) > notifyQueueMax {
		h.used.Add(-n)
		return false
	}
	h.acct.Force(n)
	return true
}

// give gives such room back.
func (h *notifyHub) give(n int64) {
	h.used.Add(-n)
	h.acct.Shrink(n)
}

// enter waits for its turn among the commits with notifications, until something interrupts the session.
func (q *notifyQueue) enter(intr *lock.Interrupt) error {
	select {
	case q.order <- struct{}{}:
		return nil
	default:
	}
	for {
		if intr.Pending() {
			if err := intr.Err(); err != nil {
				return err
			}
		}
		select {
		case q.order <- struct{}{}:
			return nil
		case <-intr.Woken():
		}
	}
}

func (q *notifyQueue) leave() { <-q.order }

// append gives a batch its place; the caller has entered.
func (q *notifyQueue) append(b *notifyBatch) {
	q.mu.Lock()
	q.queue = append(q.queue, b)
	q.mu.Unlock()
}

// settle delivers a batch, as soon as those before it are settled, or drops it when its commit has failed.
func (b *notifyBatch) settle(committed bool) {
	q := b.q
	q.mu.Lock()
	defer q.mu.Unlock()
	b.settled = true
	if !committed {
		for i := range b.list {
			q.hub.give(b.list[i].size())
		}
		b.list = nil
	}
	for len(q.queue) > 0 && q.queue[0].settled {
		q.deliver(q.queue[0])
		q.queue[0] = nil
		q.queue = q.queue[1:]
	}
}

// deliver puts notifications into the inboxes of those who listen; mu is held.
func (q *notifyQueue) deliver(b *notifyBatch) {
	for i := range b.list {
		listeners := q.listeners[b.list[i].channel]
		if len(listeners) == 0 {
			q.hub.give(b.list[i].size())
			continue
		}
		n := &delivered{notification: b.list[i]}
		n.unread.Store(int32(len(listeners)))
		q.hub.acct.Force(int64(len(listeners)) * pointerSize)
		for s := range listeners {
			s.inbox.add(s, n)
		}
	}
}

// read says that a notification has left an inbox.
func (h *notifyHub) read(n *delivered) {
	h.acct.Shrink(pointerSize)
	if n.unread.Add(-1) == 0 {
		h.give(n.size())
	}
}

// listen makes a session hear of a channel.
func (q *notifyQueue) listen(s *Session, channel string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.listeners[channel] == nil {
		q.listeners[channel] = map[*Session]struct{}{}
	}
	q.listeners[channel][s] = struct{}{}
}

// unlisten undoes listen.
func (q *notifyQueue) unlisten(s *Session, channel string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.listeners[channel], s)
	if len(q.listeners[channel]) == 0 {
		delete(q.listeners, channel)
	}
}

// usage is the part of the queue that is full.
func (h *notifyHub) usage() float64 { return float64(h.used.Load()) / notifyQueueMax }

// inbox holds what a session was notified of and has not told its client yet.
type inbox struct {
	mu      sync.Mutex
	list    []*delivered // guarded by mu
	waiting bool         // guarded by mu: the connection waits for the client, outside a transaction
	woken   bool         // guarded by mu: the wait was interrupted
}

// add is called by the session that notifies.
func (b *inbox) add(s *Session, n *delivered) {
	b.mu.Lock()
	b.list = append(b.list, n)
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
	for _, n := range list {
		s.out.Begin('A')
		s.out.Int32(n.pid)
		s.out.String(n.channel)
		s.out.String(n.payload)
		s.out.End()
		if s.out.Pending() > notifyFlush {
			s.out.Flush() // an error is the connection's to find
		}
		s.srv.notify.read(n)
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
	// charged is what the session's account pays, reserved what the queue has room for already.
	charged, reserved int64
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

// size is what the transaction's notifications take, with their entries in seen.
func (p *pendingNotes) size() int64 { return p.bytes + int64(len(p.sends))*notificationSize }

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
	if err := s.acct.Grow(n.size() + notificationSize); err != nil {
		return err
	}
	s.notes.add(n)
	s.notes.charged = s.notes.size()
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

// notifyRoom takes room for the transaction's notifications; it fails when listeners, or commits that are not settled, leave none.
func (s *Session) notifyRoom() error {
	n := s.notes.bytes - s.notes.reserved
	if n == 0 {
		return nil
	}
	if n > 0 && !s.srv.notify.reserve(n) {
		return errNotifyFull()
	}
	s.notes.reserved += n
	return nil
}

// commitNotes commits the transaction; what it notified has its place among the commits then.
func (s *Session) commitNotes(tx *engine.Tx) (*notifyBatch, error) {
	if len(s.notes.sends) == 0 {
		return nil, tx.Commit()
	}
	q := s.srv.notify.of(s.db)
	if err := q.enter(s.eng.Interrupt()); err != nil {
		return nil, err
	}
	defer q.leave()
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	b := &notifyBatch{q: q, list: s.notes.sends}
	s.notes.sends, s.notes.reserved = nil, 0 // the room is the batch's
	q.append(b)
	return b, nil
}

// endNotes ends the transaction's notes: what it said about listening takes effect when it has committed.
func (s *Session) endNotes(committed bool) {
	if committed {
		for _, a := range s.notes.actions {
			s.applyListen(a)
		}
	}
	if len(s.notes.actions)+len(s.notes.sends) > 0 || s.notes.charged > 0 {
		s.dropNotes()
	}
}

// truncateNotes goes back to a savepoint.
func (s *Session) truncateNotes(m noteMark) {
	s.notes.truncate(m)
	if more := s.notes.charged - s.notes.size(); more > 0 {
		s.acct.Shrink(more)
		s.notes.charged -= more
	}
}

// dropNotes forgets what was to take effect, and gives back what it holds.
func (s *Session) dropNotes() {
	if s.notes.charged > 0 {
		s.acct.Shrink(s.notes.charged)
	}
	if s.notes.reserved > 0 {
		s.srv.notify.give(s.notes.reserved)
	}
	s.notes = pendingNotes{}
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
		s.srv.notify.of(s.db).listen(s, a.channel)
		return
	}
	if len(s.channels) == 0 {
		return
	}
	q, kept := s.srv.notify.of(s.db), s.channels[:0]
	for _, c := range s.channels {
		if a.channel != "" && a.channel != c {
			kept = append(kept, c)
			continue
		}
		q.unlisten(s, c)
	}
	s.channels = kept
}

// closeNotes ends listening when the session ends.
func (s *Session) closeNotes() {
	s.dropNotes()
	s.applyListen(noteAction{})
	if s.inbox == nil {
		return
	}
	s.inbox.mu.Lock()
	defer s.inbox.mu.Unlock()
	for _, n := range s.inbox.list {
		s.srv.notify.read(n)
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
