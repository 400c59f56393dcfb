package safety

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// A row that was put back as it was once is found by the entries about what happened to it since, which may have been removed, or
// altered, as well: so the log must be whole from the last entry about it on. What a person is asked and has approved, and what
// cannot be taken back, is worth reading as much. A process reads each entry once: it remembers what it has read.

// errBroken ends the reading of a chain that is not whole.
var errBroken = errors.New("the log is not whole")

const (
	firstPage  = 20 // usually enough
	recentPage = 1000
	// mostRemembered bounds the rows of which a process remembers the last entry.
	mostRemembered = 200_000
)

// needsLog reports whether an action is started, or gone on with, only if the log is whole.
func (l *Ledger) needsLog(p *permitRow) bool {
	kind, ok := l.cfg.Kinds.Kind(p.Type)
	return p.ApprovalID != "" || !ok || kind.Danger == postroom.Dangerous || keyOf(signatureOf(p.Last.digest)) != l.keys.id
}

// A recentLog is the end of the log as far as this process has read and checked it.
type recentLog struct {
	mu    sync.Mutex
	lanes map[int]*recentLane
	rows  map[string]lastEntry // of actions and requests, by their ids: the last entry that the log has, which may be altered once it was read
}

// A recentLane is the end of one chain.
type recentLane struct {
	to   int64       // the last entry that was read
	mac  string      // of that
	next *AuditEntry // the first that was read, which is checked with the one before it; nil if all were
	seen int64       // of the first that was checked
}

// whole reports whether nothing was altered in the log, or removed from it, since the entries about some rows that are said to be the
// last, by their ids; and whether they are.
func (l *Ledger) whole(ctx context.Context, q dbquery.Querier, last map[string]*lastEntry) (bool, error) {
	l.recent.mu.Lock()
	defer l.recent.mu.Unlock()
	known := l.recent.lanes != nil && len(l.recent.rows) < mostRemembered
	if !known {
		l.recent.lanes, l.recent.rows = map[int]*recentLane{}, map[string]lastEntry{}
	}
	ok, err := l.readRecent(ctx, q, last)
	if !ok && err == nil && known { // what was read may have been rolled back, or belong to another transaction
		l.recent.lanes, l.recent.rows = map[int]*recentLane{}, map[string]lastEntry{}
		ok, err = l.readRecent(ctx, q, last)
	}
	if !ok {
		l.recent.lanes = nil
	}
	if err != nil {
		return false, fmt.Errorf("safety: read the log: %w", err)
	}
	return ok, nil
}

func (l *Ledger) readRecent(ctx context.Context, q dbquery.Querier, last map[string]*lastEntry) (bool, error) {
	back := int64(1) << 62
	for _, e := range last {
		back = min(back, e.seen)
	}
	var lanes []laneRow
	if err := dbquery.Select(ctx, q, &lanes, selectLanes); err != nil {
		return false, err
	}
	entries := int64(0)
	for i := range lanes {
		entries += lanes[i].Entries
	}
	read := 0
	for i := range lanes {
		if lanes[i].Entries == 0 {
			continue
		}
		read++
		r := recentReader{l: l, q: q, lane: &lanes[i], entries: entries}
		switch err := r.read(ctx, back); {
		case errors.Is(err, errBroken):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	if read < len(l.recent.lanes) { // one that was read is gone
		return false, nil
	}
	for id, e := range last {
		if l.recent.rows[id] != *e {
			return false, nil
		}
	}
	return true, nil
}

// A recentReader reads the end of a chain.
type recentReader struct {
	l       *Ledger
	q       dbquery.Querier
	lane    *laneRow
	entries int64 // of all chains
	*recentLane
}

// read reads what has come since the chain was read last, and back to what was logged when there were so many entries in all. An
// entry that follows from another has seen more than that.
func (r *recentReader) read(ctx context.Context, back int64) error {
	if r.l.keys.checkAt(r.lane.Lane, r.lane.Entries, r.lane.Seal, r.lane.sealedParts()) != signedRight {
		return errBroken
	}
	r.recentLane = r.l.recent.lanes[r.lane.Lane]
	if r.recentLane == nil {
		r.recentLane = &recentLane{to: r.lane.Entries, mac: r.lane.MAC, seen: int64(1) << 62}
		r.l.recent.lanes[r.lane.Lane] = r.recentLane
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

// forward reads what is new.
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
			if e.Entry != r.to+1 || !r.checked(e, r.mac) {
				return errBroken
			}
			r.to, r.mac = e.Entry, e.MAC
		}
	}
	if r.mac != r.lane.MAC { // which is over the number as well
		return errBroken
	}
	return nil
}

// backward reads from an entry back to what has seen no more than so many, or to the first.
func (r *recentReader) backward(ctx context.Context, entry, back int64) error {
	for size := firstPage; ; size = recentPage {
		var page []AuditEntry
		if err := dbquery.Select(ctx, r.q, &page, selectEntriesBack, r.lane.Lane, entry, size); err != nil {
			return err
		}
		for i := range page {
			e := &page[i]
			if e.Entry != entry || r.next == nil && e.MAC != r.mac || r.next != nil && !r.checked(r.next, e.MAC) {
				return errBroken
			}
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

// checked reports whether the entry is signed as the one after another, and notes what it is about.
func (r *recentReader) checked(e *AuditEntry, before string) bool {
	if e.Seen > r.entries || r.l.keys.checkEntry(e, before) != signedRight {
		return false
	}
	if (e.Kind == auditAction || e.Kind == auditApproval) && e.Rev > r.l.recent.rows[e.Subject].rev {
		r.l.recent.rows[e.Subject] = lastEntry{e.Lane, e.Entry, e.Seen, e.Rev, e.Digest}
	}
	return true
}
