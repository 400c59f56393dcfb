package safety

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// The entries about later changes of a row reveal that the row was put back, but an attacker may have removed or altered them as
// well. So the audit log must be whole from the last entry about the row on. That check is worth its cost for requests, for
// approved actions, and for actions that cannot be undone. A process reads each entry once and remembers it.

// errBroken ends the reading of a chain that is not whole.
var errBroken = errors.New("the log is not whole")

const (
	firstPage  = 20 // usually enough
	recentPage = 1000
	// mostRemembered bounds the rows whose last entry a process remembers: about 20 MB.
	mostRemembered = 500_000
)

// needsLog reports whether an action starts only if the audit log is whole. An action that has started continues only if it is.
func (l *Ledger) needsLog(p *permitRow) bool {
	if p.State == postroom.ActionExecuting {
		return true
	}
	kind, ok := l.cfg.Kinds.Kind(p.Type)
	return p.ApprovalID != "" || !ok || kind.Danger == postroom.Dangerous || keyOf(signatureOf(p.Last.digest)) != l.keys.id
}

// A recentLog is the end of the audit log as this process has read it. A caller that finds it in use reads for itself: its user
// may be waiting for the database, and so for the caller's transaction.
type recentLog struct {
	mu   sync.Mutex
	read *readLog
}

// A readLog is the end of the audit log, as read and verified.
type readLog struct {
	lanes map[int]*recentLane
	rows  map[uint64]rowEnd // of actions and requests, by the hash of their ids: the last entry, which may have been altered since
	seed  maphash.Seed
}

// A rowEnd is the last entry about a row.
type rowEnd struct {
	rev int
	sum uint64
}

func newReadLog() *readLog {
	return &readLog{lanes: map[int]*recentLane{}, rows: map[uint64]rowEnd{}, seed: maphash.MakeSeed()}
}

// note keeps an entry if it is the last about its row.
func (l *readLog) note(e *AuditEntry) {
	if e.Kind != auditAction && e.Kind != auditApproval {
		return
	}
	if key := maphash.String(l.seed, e.Subject); e.Rev > l.rows[key].rev {
		l.rows[key] = l.end(&lastEntry{e.Lane, e.Entry, e.Seen, e.Rev, e.Digest})
	}
}

func (l *readLog) end(e *lastEntry) rowEnd { return rowEnd{e.rev, maphash.Comparable(l.seed, *e)} }

// has reports whether last are the last entries about the rows with these ids.
func (l *readLog) has(last map[string]*lastEntry) bool {
	for id, e := range last {
		if l.rows[maphash.String(l.seed, id)] != l.end(e) {
			return false
		}
	}
	return true
}

// A recentLane is the end of one chain.
type recentLane struct {
	to   int64       // the last entry that was read
	mac  string      // of that
	top  int64       // how many entries there were in all chains then
	next *AuditEntry // the first entry that was read, which is verified with its predecessor; nil if all were read
	seen int64       // of the first that was checked
}

// A logState says whether the audit log is whole since the last entries about some rows.
type logState int

const (
	logBroken   logState = iota // what was done after the last entries cannot be told
	logWhole                    // these are the last
	logAccepted                 // these are the last entries, from before a person accepted an audit log that was cut
)

// whole reports whether the entries in last, by row id, are the last about their rows, and whether no later entry was altered or
// removed. If the audit log was cut, it returns [ErrLogCut]. q must be the caller's transaction: another connection might have to
// wait for one that waits for the caller.
func (l *Ledger) whole(ctx context.Context, q dbquery.Querier, last map[string]*lastEntry) (logState, error) {
	ends, accepted, err := l.knownBefore(q)
	if err != nil {
		return logBroken, err
	}
	ok, err := l.wholeNow(ctx, q, ends, last)
	switch {
	case err != nil && !errors.Is(err, ErrLogCut):
		return logBroken, fmt.Errorf("safety: read the log: %w", err)
	case err != nil || !ok:
		return logBroken, err
	}
	latest := int64(0)
	for _, e := range last {
		latest = max(latest, e.seen)
	}
	if latest <= accepted.entries {
		return logAccepted, nil
	}
	return logWhole, nil
}

// knownBefore returns what was seen before the state of the database that q reads.
func (l *Ledger) knownBefore(q dbquery.Querier) ([]AuditHead, acceptance, error) {
	if s, ok := q.(*snapshot); ok {
		return s.ends, s.accepted, s.unknown
	}
	return l.kept()
}

func (l *Ledger) wholeNow(ctx context.Context, q dbquery.Querier, ends []AuditHead, last map[string]*lastEntry) (bool, error) {
	if !l.recent.mu.TryLock() {
		return l.readRecent(ctx, q, newReadLog(), ends, last)
	}
	defer l.recent.mu.Unlock()
	read := l.recent.read
	l.recent.read = nil
	known := read != nil && len(read.rows) < mostRemembered
	if !known {
		read = newReadLog()
	}
	ok, err := l.readRecent(ctx, q, read, ends, last)
	if !ok && err == nil && known { // the entries may have been rolled back, or belong to another transaction
		read = newReadLog()
		ok, err = l.readRecent(ctx, q, read, ends, last)
	}
	if ok {
		l.recent.read = read
	}
	return ok, err
}

func (l *Ledger) readRecent(ctx context.Context, q dbquery.Querier, log *readLog, ends []AuditHead, last map[string]*lastEntry) (bool, error) {
	back := int64(1) << 62
	for _, e := range last {
		back = min(back, e.seen)
	}
	var lanes []laneRow
	if err := dbquery.Select(ctx, q, &lanes, selectLanes); err != nil {
		return false, err
	}
	if err := l.uncut(ctx, q, ends, lanes); err != nil {
		return false, err
	}
	entries, read := entriesOf(lanes), 0
	for i := range lanes {
		if lanes[i].Entries == 0 {
			continue
		}
		read++
		r := recentReader{l: l, q: q, log: log, lane: &lanes[i], entries: entries}
		switch err := r.read(ctx, back); {
		case errors.Is(err, errBroken):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	if read < len(log.lanes) { // one that was read is gone
		return false, nil
	}
	return log.has(last), nil
}

// A recentReader reads the end of a chain.
type recentReader struct {
	l       *Ledger
	q       dbquery.Querier
	log     *readLog
	lane    *laneRow
	entries int64 // of all chains
	*recentLane
}

// read reads the entries that are new since the last read, and then back to the time when all chains together had back entries.
// An entry has seen more entries than its predecessor.
func (r *recentReader) read(ctx context.Context, back int64) error {
	if r.l.keys.checkAt(r.lane.Lane, r.lane.Entries, r.lane.Seal, r.lane.sealedParts()) != signedRight {
		return errBroken
	}
	r.recentLane = r.log.lanes[r.lane.Lane]
	if r.recentLane == nil {
		r.recentLane = &recentLane{to: r.lane.Entries, mac: r.lane.MAC, seen: int64(1) << 62}
		r.log.lanes[r.lane.Lane] = r.recentLane
		if err := r.backward(ctx, r.lane.Entries, back); err != nil {
			return err
		}
	}
	if err := r.forward(ctx); err != nil {
		return err
	}
	if r.next != nil && r.seen > back {
		return r.backward(ctx, r.next.Entry-1, back)
	}
	return nil
}

// forward reads the new entries.
func (r *recentReader) forward(ctx context.Context) error {
	for r.to < r.lane.Entries {
		var page []AuditEntry
		if err := dbquery.Select(ctx, r.q, &page, selectEntries, r.lane.Lane, r.to, recentPage); err != nil {
			return err
		}
		if len(page) == 0 {
			return errBroken
		}
		for i := 0; i < len(page) && r.to < r.lane.Entries; i++ {
			e := &page[i]
			if e.Entry != r.to+1 || e.Seen <= r.top || !r.checked(e, r.mac) {
				return errBroken
			}
			r.to, r.mac, r.top = e.Entry, e.MAC, e.Seen
		}
	}
	if r.mac != r.lane.MAC { // the MAC covers the number of the entry as well
		return errBroken
	}
	return nil
}

// backward reads from an entry back to one that has seen at most back entries, or to the first.
func (r *recentReader) backward(ctx context.Context, entry, back int64) error {
	for size := firstPage; ; size = recentPage {
		var page []AuditEntry
		if err := dbquery.Select(ctx, r.q, &page, selectEntriesBack, r.lane.Lane, entry, size); err != nil {
			return err
		}
		for i := range page {
			e := &page[i]
			if e.Entry != entry || r.next == nil && e.MAC != r.mac || r.next != nil && (r.next.Seen <= e.Seen || !r.checked(r.next, e.MAC)) {
				return errBroken
			}
			r.top = max(r.top, e.Seen)
			done := r.next != nil && r.next.Seen <= back
			if r.next != nil {
				r.seen = r.next.Seen
			}
			r.next, entry = e, entry-1
			if done {
				return nil
			}
		}
		if entry == 0 {
			first := r.next
			r.next, r.seen = nil, 0
			if first == nil || !r.checked(first, "") {
				return errBroken
			}
			return nil
		}
		if len(page) == 0 {
			return errBroken
		}
	}
}

// checked reports whether the entry is signed as the successor of before, and notes its row.
func (r *recentReader) checked(e *AuditEntry, before string) bool {
	if e.Seen > r.entries || r.l.keys.checkEntry(e, before) != signedRight {
		return false
	}
	r.log.note(e)
	return true
}
