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

// How far a row has come is what the log says last about it: each change adds an entry with the number of the change and a signature
// over all of the row, and whatever follows goes on from there. A row that was altered is not what its last entry has signed, and
// one that was put back as it was once is older.

// A lastEntry is the last entry about a row; the zero one if there is none.
type lastEntry struct {
	lane   int
	entry  int64
	rev    int
	digest string
}

// Scan reads "lane entry rev digest", or NULL.
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
	fields := strings.SplitN(text, " ", 4)
	if len(fields) != 4 {
		return fmt.Errorf("safety: %q is no entry of the log", text)
	}
	if e.lane, err = strconv.Atoi(fields[0]); err != nil {
		return err
	}
	if e.entry, err = strconv.ParseInt(fields[1], 10, 64); err != nil {
		return err
	}
	e.rev, err = strconv.Atoi(fields[2])
	e.digest = fields[3]
	return err
}

// asLogged returns whether an action is what the log says last about it. What the log does not have cannot be checked.
func (l *Ledger) asLogged(r *actionRow, last *lastEntry) signed {
	signature, parts := r.signedAs(last.digest)
	return l.isLast(auditAction, r.Rev, last, signature, parts)
}

func (l *Ledger) isLast(kind string, rev int, last *lastEntry, signature string, parts []string) signed {
	switch {
	case last.rev == 0:
		return signedByAnotherKey
	case last.rev != rev:
		return signedWrong
	}
	return l.keys.checkAt(last.lane, last.entry, signature, append([]string{kind}, parts...))
}

// vouched returns what stands for an action: the log, which has it as it is, and the seal, that it is what was permitted.
func (l *Ledger) vouched(p *permitRow) signed {
	if fits := l.asLogged(&p.actionRow, &p.Last); fits != signedRight {
		return fits
	}
	fits := l.checkSeal(p)
	if p.State == postroom.ActionCompleted && fits == signedByAnotherKey {
		return signedRight // the log has what it has done, and by what it was permitted is over
	}
	return fits
}

// asStarted reports whether an action executes and is what the log says: it was what was permitted when it was started.
func (l *Ledger) asStarted(ctx context.Context, tx queue.Tx, actionID string) (bool, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return false, err
	}
	var r pastRow
	err := dbquery.Get(ctx, tx, &r, selectLogged, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return false, notFound("action", actionID)
	}
	if err != nil {
		return false, fmt.Errorf("safety: read action %s: %w", actionID, err)
	}
	return r.State == postroom.ActionExecuting && l.asLogged(&r.actionRow, &r.Last) == signedRight, nil
}

// requestVouched is vouched for a request that waits, and what a person is asked about.
func (l *Ledger) requestVouched(p *permitRow, r *openRow) signed {
	if fits := l.asLogged(&p.actionRow, &p.Last); fits != signedRight {
		return fits
	}
	if fits := l.isLast(auditApproval, r.Rev, &r.Last, r.Last.digest, r.parts()); fits != signedRight {
		return fits
	}
	return l.checkSigned(r.Digest, p.requested(&r.approvalRow))
}

// proven reports whether the log vouches for the decision, and the action is what was decided: then a person who is asked about
// it is shown what would be done. It reads the whole log, for what no key of the ledger's has sealed.
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

// suspect reports whether an action that has not ended is not what was permitted, or what a person was asked about.
func (l *Ledger) suspect(ctx context.Context, tx queue.Tx, p *permitRow) (bool, error) {
	var fits signed
	switch {
	case p.State.Final(), p.Rev == 0 && p.Last.rev == 0: // nothing is known of what is from before the log
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

// noteSuspect writes into the log that an action that is about to change is not as it was written, and reports whether it is: the
// entry about the change has it as it is then, and vouches for nothing.
func (l *Ledger) noteSuspect(ctx context.Context, tx queue.Tx, p *permitRow, op string) (bool, error) {
	suspect, err := l.suspect(ctx, tx, p)
	if err != nil || !suspect {
		return false, err
	}
	return true, l.logFault(ctx, tx, p, op)
}

// logFault keeps it in the log that an action was found to be altered, when something was to be done with it.
func (l *Ledger) logFault(ctx context.Context, tx queue.Tx, p *permitRow, op string) error {
	return l.log(ctx, tx, l.entry(auditFault, p.AccountID, p.ID, p.Rev, op, p.parts()))
}
