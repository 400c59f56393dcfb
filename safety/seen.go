package safety

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// If the end of a chain is removed, the rest still matches its signatures, and so do rows that are put back to match it. The
// database alone cannot distinguish that from an audit log that never went further. So a ledger remembers how far it has seen the
// audit log.

// A cutError reports that the audit log is shorter than it was.
type cutError struct{ postroom.HeldError }

func (e *cutError) Error() string   { return "safety: " + e.Reason }
func (e *cutError) Unwrap() []error { return []error{ErrLogCut, &e.HeldError} }

func cut(seen AuditHead) error {
	return cutf("chain %d had %d entries, and no longer has the last of them; somebody has removed them, or has put the database back to what it was",
		seen.Lane, seen.Entries)
}

func cutf(format string, args ...any) error {
	return &cutError{postroom.HeldError{Reason: fmt.Sprintf("%v: %s: find out who, and accept the log as it is", ErrLogCut, fmt.Sprintf(format, args...))}}
}

// unseen returns an error that holds an action that needs the audit log, while the seen file cannot be used.
func unseen(err error) error { return fmt.Errorf("safety: %w", held(err.Error(), time.Time{})) }

// follows returns [ErrLogCut] if the end of a chain does not come after one that was seen before it was read, and [ErrOldState] if only the
// transaction does not see that it does.
func (l *Ledger) follows(ctx context.Context, q dbquery.Querier, end, seen AuditHead) error {
	if l.seen.knows(end, seen) {
		return nil
	}
	if end.Entries <= seen.Entries {
		return l.missing(ctx, q, seen)
	}
	if there, err := l.has(ctx, q, seen); err != nil || !there {
		return cmp.Or(err, l.missing(ctx, q, seen))
	}
	l.seen.follows(end, seen)
	return nil
}

// missing returns why a chain does not have an end that was seen: it is gone, or q is a transaction of the host's own that reads an older
// state of the database, as at REPEATABLE READ.
func (l *Ledger) missing(ctx context.Context, q dbquery.Querier, seen AuditHead) error {
	switch tx := q.(type) {
	case *snapshot, *sqlx.DB:
		return cut(seen)
	case queue.Tx:
		if isOwn(tx) {
			return cut(seen)
		}
	}
	db := l.cfg.DB.Reader()
	var lanes []laneRow
	if err := dbquery.Select(ctx, db, &lanes, selectLanes); err != nil {
		return fmt.Errorf("safety: read how far the log goes: %w", err)
	}
	if err := l.uncut(ctx, db, []AuditHead{seen}, lanes); err != nil {
		return err
	}
	return fmt.Errorf("safety: %w", ErrOldState)
}

// isOwn reports whether a transaction is one of the queue's own, whose end is known, and which reads what was committed last.
func isOwn(tx queue.Tx) bool { return queue.OnCommit(tx, func() {}) }

// uncut returns an error as follows does if the chains do not come after all ends that were seen.
func (l *Ledger) uncut(ctx context.Context, q dbquery.Querier, ends []AuditHead, lanes []laneRow) error {
	now := make(map[int]AuditHead, len(lanes))
	for i := range lanes {
		now[lanes[i].Lane] = lanes[i].AuditHead
	}
	for _, seen := range ends {
		end, ok := now[seen.Lane]
		if !ok {
			return l.missing(ctx, q, seen)
		}
		if err := l.follows(ctx, q, end, seen); err != nil {
			return err
		}
	}
	return nil
}

// An addition is the effect of new entries on a chain.
type addition struct {
	from, to AuditHead
	seen     AuditHead // from comes after that
	lost     error     // or the audit log was cut
	kept     bool      // the seen file must have it before the program goes on
	rules    map[seenRule]int
	refused  []string // the ids of actions that a person has rejected
}

// note collects what must be kept of an entry.
func (a *addition) note(e *AuditEntry) {
	a.kept = a.kept || e.kept
	if e.refuses() {
		a.refused = append(a.refused, e.Subject)
	}
	if aboutRule(e.Kind) && e.Kind != string(postroom.RuleKindVersion) && e.Kind != auditAdoption {
		if a.rules == nil {
			a.rules = map[seenRule]int{}
		}
		a.rules[seenRule{e.Kind, e.Subject}] = e.Rev
	}
}

// mayAdd compares a chain with what was seen, before entries are added to it. It returns an error if an entry starts something
// and the audit log is known to be cut.
func (l *Ledger) mayAdd(ctx context.Context, tx queue.Tx, from AuditHead, entries []AuditEntry) (a addition, err error) {
	starts := false
	for i := range entries {
		a.note(&entries[i])
		starts = starts || entries[i].starts()
	}
	a.from, a.seen, a.lost = from, from, l.seen.missed(from)
	if a.lost == nil && a.kept {
		a.seen = l.seen.end(from.Lane)
		if err = l.follows(ctx, tx, from, a.seen); errors.Is(err, ErrLogCut) {
			a.lost, err = err, nil
		}
	}
	if starts {
		err = cmp.Or(err, a.lost)
	}
	return a, err
}

// starts reports whether the entry must not be added to an audit log that was cut: it starts an action, or records a person's
// rejection.
func (e *AuditEntry) starts() bool {
	return e.refuses() || e.Kind == auditAction && e.Note == string(postroom.ActionExecuting)
}

// refuses reports whether the entry says that a person has rejected an action.
func (e *AuditEntry) refuses() bool {
	return e.Kind == auditAction && e.Note == string(postroom.ActionRejected)
}

// remember notes the new end of a chain when the transaction commits, if the seen file must have it at once. The rest is left to
// Remember.
func (l *Ledger) remember(tx queue.Tx, a addition) {
	if a.lost != nil {
		queue.OnCommit(tx, func() { l.seen.lose(a.lost) })
	}
	l.seen.step(a.from, a.to)
	if !a.kept {
		return
	}
	there := false // and was not rolled back with a savepoint
	queue.AtEnd(tx, func(ctx context.Context) (err error) {
		there, err = l.has(ctx, tx, a.to)
		return err
	})
	queue.OnCommit(tx, func() {
		if !there {
			return
		}
		if a.lost == nil {
			l.seen.reach(a.to, a.from, a.seen)
		}
		for rule, rev := range a.rules {
			l.seen.wrote(rule, rev)
		}
		for _, id := range a.refused {
			l.seen.refuse(id)
		}
		_ = l.seen.keep() // if that fails, nothing more starts that needs it
	})
}

// has reports whether the audit log has the entry.
func (l *Ledger) has(ctx context.Context, q dbquery.Querier, at AuditHead) (bool, error) {
	var page []AuditEntry
	if err := dbquery.Select(ctx, q, &page, selectEntriesBack, at.Lane, at.Entries, 1); err != nil {
		return false, fmt.Errorf("safety: read the log: %w", err)
	}
	return len(page) == 1 && page[0].Entry == at.Entries && page[0].MAC == at.MAC, nil
}

// kept writes the seen file and returns what was seen. If the file cannot be written, the error holds actions that need the audit
// log.
func (l *Ledger) kept() (ends []AuditHead, accepted acceptance, err error) {
	if err = l.seen.keep(); err == nil {
		ends, accepted, err = l.seen.now()
	}
	if err != nil {
		err = unseen(err)
	}
	return ends, accepted, err
}

// heldByLog returns a [*postroom.HeldError] if the audit log prevents an action from starting.
func (l *Ledger) heldByLog(ctx context.Context, p *permitRow) error {
	db := l.cfg.DB.Reader()
	if err := l.keys.load(ctx, db); err != nil || !l.needsLog(p) {
		return err
	}
	_, _, err := l.readUncut(ctx, db)
	return err
}

// readUncut reads the ends of the chains. It returns [ErrLogCut] if they do not continue the ends that were seen before.
func (l *Ledger) readUncut(ctx context.Context, q dbquery.Querier) (ends []AuditHead, lanes []laneRow, err error) {
	if ends, _, err = l.kept(); err != nil {
		return nil, nil, err
	}
	if err := dbquery.Select(ctx, q, &lanes, selectLanes); err != nil {
		return nil, nil, fmt.Errorf("safety: read how far the log goes: %w", err)
	}
	return ends, lanes, l.uncut(ctx, q, ends, lanes)
}

// Remember reads how far the log goes, and which actions people have rejected, and keeps that in [Config].SeenFile, if there is one. The
// answers of people, what becomes of an action that cannot be taken back, and changes of rules, which the ledger writes in a transaction of
// the queue's, it remembers without that. All else, what other programs write, and what is written in transactions that the host has begun,
// it sees only now. So call it when a program begins, every second or so, and when it ends. It costs one small statement, another for each
// chain that has grown, and a write of the file if there is something new.
//
// The error is [ErrLogCut] if the audit log is shorter than it was. From then on no action and no undo starts, and no request is
// answered; see [Ledger.AcceptLog]. If the file cannot be used, the error is a [*postroom.HeldError]: no action starts that a person
// has approved or that cannot be undone, and if it cannot be read, no rule of [Config].RuleStores decides.
func (l *Ledger) Remember(ctx context.Context) error {
	db := l.cfg.DB.Reader()
	if err := l.keys.load(ctx, db); err != nil {
		return err
	}
	ends, lanes, err := l.readUncut(ctx, db)
	if err == nil || errors.Is(err, ErrLogCut) {
		l.seen.lose(err)
	}
	if err != nil {
		return err
	}
	for i := range lanes {
		r := &lanes[i]
		switch fits := l.sealed(r); {
		case fits == signedWrong:
			return cutf("the end of chain %d was written by somebody else", r.Lane)
		case fits == signedByAnotherKey || r.Entries == 0:
			continue
		}
		if err := l.seeRefusals(ctx, db, r.AuditHead); err != nil {
			return err
		}
		l.seen.reach(r.AuditHead, ends...)
	}
	_, _, err = l.kept()
	return err
}

// seeRefusals remembers which actions were rejected, by other programs as well, since that was last looked for in a chain.
func (l *Ledger) seeRefusals(ctx context.Context, q dbquery.Querier, end AuditHead) error {
	after := l.seen.unsearched(end)
	if after >= end.Entries {
		return nil
	}
	var entries []refusalRow
	if err := dbquery.Select(ctx, q, &entries, selectRefusals, end.Lane, after, end.Entries); err != nil {
		return fmt.Errorf("safety: look for rejections in the log: %w", err)
	}
	for i := range entries {
		if e := &entries[i]; l.keys.checkEntry(&e.AuditEntry, e.Before) == signedRight {
			l.seen.refuse(e.Subject)
		}
	}
	l.seen.search(end)
	return nil
}

// A refusalRow is an entry that says that a person has rejected an action, and the signature over the entry before.
type refusalRow struct {
	AuditEntry
	Before string `db:"before_mac"`
}
