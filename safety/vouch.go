package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The last entry about a row records its progress: each change adds an entry with the number of the change and a signature over
// the whole row, and the ledger continues from there. A row that was altered differs from its last entry. A row that was put back
// is older.

// A lastEntry is the last entry about a row; the zero value means none.
type lastEntry struct {
	lane   int
	entry  int64
	seen   int64
	rev    int
	digest string
}

// Scan reads "lane entry seen rev digest", or NULL.
func (e *lastEntry) Scan(v any) (err error) {
	*e = lastEntry{}
	var text string
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		text = v
	case []byte:
		text = string(v)
	}
	fields := strings.SplitN(text, " ", 5)
	if len(fields) != 5 {
		return fmt.Errorf("safety: %q is no entry of the log", text)
	}
	var faults [4]error
	e.lane, faults[0] = strconv.Atoi(fields[0])
	e.entry, faults[1] = strconv.ParseInt(fields[1], 10, 64)
	e.seen, faults[2] = strconv.ParseInt(fields[2], 10, 64)
	e.rev, faults[3] = strconv.Atoi(fields[3])
	e.digest = fields[4]
	return errors.Join(faults[:]...)
}

// asLogged verifies that an action matches its last entry.
func (l *Ledger) asLogged(r *actionRow, last *lastEntry) signed {
	signature, parts := r.signedAs(last.digest)
	return l.isLast(auditAction, r.Rev, last, signature, parts)
}

func (l *Ledger) isLast(kind string, rev int, last *lastEntry, signature string, parts []string) signed {
	if last.rev != rev || rev == 0 { // the ledger never removes an entry
		return signedWrong
	}
	return l.keys.checkAt(last.lane, last.entry, signature, append([]string{kind}, parts...))
}

// vouched verifies an action: its last entry must match the row, and its seal must match what was permitted.
func (l *Ledger) vouched(p *permitRow) signed {
	if fits := l.asLogged(&p.actionRow, &p.Last); fits != signedRight {
		return fits
	}
	fits := l.checkSeal(p)
	if p.State == postroom.ActionCompleted && fits == signedByAnotherKey && !strings.HasPrefix(p.Last.digest, actionVersion) {
		return signedRight // it was sealed with its result
	}
	return fits
}

// asStarted returns an executing action that matches its last entry: it was what was permitted when it started. Otherwise it
// returns nil.
func (l *Ledger) asStarted(ctx context.Context, tx queue.Tx, actionID string) (*actionRow, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return nil, err
	}
	var r pastRow
	err := dbquery.Get(ctx, tx, &r, selectLogged, actionID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, notFound("action", actionID)
	case err != nil:
		return nil, fmt.Errorf("safety: read action %s: %w", actionID, err)
	case r.State != postroom.ActionExecuting, l.asLogged(&r.actionRow, &r.Last) != signedRight:
		return nil, nil //nolint:nilnil // it has to be looked at
	}
	return &r.actionRow, nil
}

// requestVouched is vouched for a waiting request and its action.
func (l *Ledger) requestVouched(p *permitRow, r *openRow) signed {
	if fits := l.asLogged(&p.actionRow, &p.Last); fits != signedRight {
		return fits
	}
	if fits := l.isLast(auditApproval, r.Rev, &r.Last, r.Last.digest, r.parts()); fits != signedRight {
		return fits
	}
	return l.checkSigned(r.Digest, p.requested(&r.approvalRow))
}

// sound reports whether an action that has not ended is what was permitted, or what a person was asked about, and the audit log
// is whole since; the next signature replaces the earlier ones. It returns the open request of a waiting action.
func (l *Ledger) sound(ctx context.Context, q dbquery.Querier, p *permitRow, op string) (r *openRow, ok bool, err error) {
	if p.State == postroom.ActionApprovedPending {
		if r, err = openRequest(ctx, q, p.ID); err != nil || r == nil || l.requestVouched(p, r) != signedRight {
			return r, false, err
		}
	} else if l.vouched(p) != signedRight {
		return nil, false, nil
	}
	log, err := l.wholeSince(ctx, q, p, r, op)
	return r, log != logBroken, err
}

// wholeSince reports whether the audit log is whole since an action was last written, and since a person was asked, if it waits.
// If another transaction has changed the action since it was read, it returns that error.
func (l *Ledger) wholeSince(ctx context.Context, q dbquery.Querier, p *permitRow, r *openRow, op string) (logState, error) {
	last := map[string]*lastEntry{p.ID: &p.Last}
	if r != nil {
		last[r.ID] = &r.Last
	}
	log, err := l.whole(ctx, q, last)
	if err != nil || log != logBroken {
		return log, err
	}
	var now pastRow
	if err := dbquery.Get(ctx, q, &now, selectLogged, p.ID); err != nil {
		return logBroken, fmt.Errorf("safety: read action %s: %w", p.ID, err)
	}
	if now.Rev == p.Rev {
		return logBroken, nil
	}
	_, err = l.overtaken(ctx, q, &p.actionRow, op)
	return logBroken, err
}

// proven reports whether the audit log verifies the decision and the action matches it: then a person who is asked is shown what
// would be done. It reads the whole log. It is for actions whose seal no key of the ledger has signed.
func (l *Ledger) proven(ctx context.Context, q dbquery.Querier, p *permitRow) (bool, error) {
	if !p.coherent() {
		return false, nil
	}
	var entries []AuditEntry
	if err := dbquery.Select(ctx, q, &entries, selectDecisionEntries, p.DecisionID); err != nil {
		return false, fmt.Errorf("safety: look for the decision of action %s in the log: %w", p.ID, err)
	}
	if len(entries) != 1 {
		return false, nil
	}
	e := &entries[0]
	return l.keys.checkAt(e.Lane, e.Entry, e.Digest, append([]string{auditDecision}, p.decided.parts()...)) == signedRight, nil
}

// provenSince is proven, and for a proven action also returns whether the audit log is whole since the action was last written:
// an attacker may have added an unverifiable signature to hide the outcome of the action.
func (l *Ledger) provenSince(ctx context.Context, q dbquery.Querier, p *permitRow, r *openRow, op string) (proven bool, log logState, err error) {
	if proven, err = l.proven(ctx, q, p); err != nil || !proven {
		return proven, logBroken, err
	}
	log, err = l.wholeSince(ctx, q, p, r, op)
	return true, log, err
}

// suspect reports whether an action that has not ended is not what was permitted, or what a person was asked about.
func (l *Ledger) suspect(ctx context.Context, tx queue.Tx, p *permitRow) (bool, error) {
	var fits signed
	switch {
	case p.State.Final():
		return false, nil
	case p.State == postroom.ActionApprovedPending:
		r, err := openRequest(ctx, tx, p.ID)
		if err != nil || r == nil {
			return r == nil, err
		}
		fits = l.requestVouched(p, r)
	default:
		fits = l.vouched(p)
	}
	if fits != signedByAnotherKey {
		return fits == signedWrong, nil
	}
	proven, err := l.proven(ctx, tx, p)
	return !proven, err
}

// noteSuspect logs that an action that is about to change was altered, and reports whether it was. The entry about the change
// then has the altered row and verifies nothing.
func (l *Ledger) noteSuspect(ctx context.Context, tx queue.Tx, p *permitRow, op string) (bool, error) {
	suspect, err := l.suspect(ctx, tx, p)
	if err != nil || !suspect {
		return false, err
	}
	return true, l.logFault(ctx, tx, p, op)
}

// logFault logs that an action was found altered during op.
func (l *Ledger) logFault(ctx context.Context, tx queue.Tx, p *permitRow, op string) error {
	return l.log(ctx, tx, l.entry(auditFault, p.AccountID, p.ID, p.Rev, op, p.parts()))
}
