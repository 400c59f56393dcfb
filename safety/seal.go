package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A seal is the signature over what was permitted, and by whom: the gate lets an action pass, or a person approves it. It binds
// the action to its decision and its approval. The audit log records the progress of the action; its entries cover the seal as
// well.
const (
	sealGate     = "passed by the gate"
	sealApproved = "approved by a person"
	sealStarted  = "started by a job" // in the first version
)

// sealVersion begins a seal that covers all of [permitRow.permitted]. Signatures without it cover less, and count as signed by an
// unknown key.
const sealVersion = "2."

// A permitRow is an action with its decision and its last approval.
type permitRow struct {
	actionRow
	Last lastEntry `db:"last"`
	decided

	ApprovalID  string      `db:"approval.id"` // empty: nobody has approved
	Approver    string      `db:"approval.approver"`
	RequestedAt dbtime.Time `db:"approval.requested_at"`
	ExpiresAt   dbtime.Time `db:"approval.expires_at"`
	DecidedAt   dbtime.Time `db:"approval.decided_at"`

	switchRow  // whether all is stopped
	breakerRow // whether the source is
}

// decided is the decision of an action. Its columns give way to the action's columns of the same name.
type decided struct{ decisionRow }

func readPermit(ctx context.Context, tx dbquery.Querier, actionID string) (p permitRow, err error) {
	err = dbquery.Get(ctx, tx, &p, selectPermit, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return p, notFound("action", actionID)
	}
	if err != nil {
		return p, fmt.Errorf("safety: read action %s: %w", actionID, err)
	}
	return p, nil
}

// permitAlone is permit after locking the action against other transactions, for callers that read the action, its request and
// its content in several statements.
func (l *Ledger) permitAlone(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if l.onPostgres() {
		if _, err := tx.ExecContext(ctx, lockAction, actionID); err != nil {
			return nil, fmt.Errorf("safety: lock action %s: %w", actionID, err)
		}
	}
	return l.permit(ctx, tx, actionID)
}

// permit is readPermit with the keys loaded, for callers that sign or verify.
func (l *Ledger) permit(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return nil, err
	}
	p, err := readPermit(ctx, tx, actionID)
	return &p, err
}

// permitted returns what is executed and what a person is shown of it: the action and its whole decision, byte for byte as
// stored. The provider's id of the message is the decision's.
func (p *permitRow) permitted(what string) []string {
	action := []string{what, p.ID, p.AccountID, p.MessageID, string(p.Type), p.Parameters, p.Content, p.DecisionID}
	return append(action, p.decided.parts()...)
}

// sealed returns what the seal covers. The empty part was the job of an action that had started, in the first version.
func (p *permitRow) sealed() []string {
	stage := sealGate
	if p.ApprovalID != "" {
		stage = sealApproved
	}
	parts := []string{stage, "", p.ApprovalID, p.Approver, stamp(p.RequestedAt), stamp(p.ExpiresAt), stamp(p.DecidedAt)}
	return append(parts, p.permitted("permitted")...)
}

// coherent reports whether the action is the one that was decided. It needs no key.
func (p *permitRow) coherent() bool {
	d := &p.decided
	if p.AccountID != d.AccountID || p.MessageID != d.MessageID || Undone(p.Type) != d.Action {
		return false
	}
	return p.Parameters == d.Parameters || IsUndo(p.Type) && sameText(p.Parameters, d.Parameters)
}

// seal signs what was permitted; the keys must be loaded.
func (l *Ledger) seal(parts []string) string { return sealVersion + l.keys.sign(parts) }

// checkSigned verifies a seal. A seal of an earlier version, which covered less, counts as signed by an unknown key.
func (l *Ledger) checkSigned(seal string, parts []string) signed {
	signature, ok := strings.CutPrefix(seal, sealVersion)
	if !ok && seal != "" {
		return signedByAnotherKey
	}
	return l.keys.check(signature, parts)
}

// until returns when an approval expires: as long after the answer as the request was open for one.
func (p *permitRow) until() time.Time {
	return p.DecidedAt.Add(p.ExpiresAt.Sub(p.RequestedAt.Time))
}

// checkSeal verifies the seal of an action.
func (l *Ledger) checkSeal(p *permitRow) signed {
	if !p.Seal.Valid {
		return signedByAnotherKey
	}
	parts := p.sealed()
	fits := l.checkSigned(p.Seal.String, parts)
	if fits == signedWrong && p.JobID != "" { // an action that started before the audit log recorded states was sealed with its job
		parts[0], parts[1] = sealStarted, p.JobID
		fits = l.checkSigned(p.Seal.String, parts)
	}
	return fits
}

// withhold refuses to start or to go on with an action that is not what the log and its seal say, that a person was seen to reject, or
// whose approval is too old or of somebody who may no longer approve. What was altered, or put back, has failed, and so has what was begun
// and can no longer be checked; what can no longer be checked waits for a person again, if the log vouches for what that person is shown.
// It returns false if nothing is wrong.
func (l *Ledger) withhold(ctx context.Context, tx queue.Tx, p *permitRow) (a postroom.Action, withheld bool, err error) {
	fits, begun := l.vouched(p), p.State == postroom.ActionExecuting
	refused, log := l.seen.refused(p.ID), logWhole
	if fits == signedRight && (refused || l.needsLog(p)) {
		if log, err = l.whole(ctx, tx, map[string]*lastEntry{p.ID: &p.Last}); err != nil {
			return a, false, err
		}
	}
	var waits string
	switch {
	case fits == signedWrong, begun && log == logBroken:
		a, err = l.refuse(ctx, tx, p, notPermitted)
		return a, true, err
	case refused:
		a, err = l.refuse(ctx, tx, p, wasRejected)
		return a, true, err
	case fits == signedByAnotherKey:
		proven, log, err := l.provenSince(ctx, tx, p, nil, "start")
		if err != nil || begun || !proven {
			return l.refuseUnproven(ctx, tx, p, err)
		}
		waits = "it was permitted under another key"
		if log == logBroken {
			waits += ", and the log does not tell whether it was carried out: look at the message first"
		}
	case begun && log == logAccepted:
		a, err = l.finish(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionFailed, error: logWasCut})
		return a, true, err
	case log == logAccepted:
		waits = logWasCut
	case log == logBroken:
		waits = "the log was altered since it was permitted, and does not tell whether it was carried out: look at the message first"
	case begun:
		return a, false, nil
	case p.ApprovalID != "" && l.mayAnswer(p.Approver) != nil:
		waits = fmt.Sprintf("the approval was given by %s, who may no longer approve", p.Approver)
	case p.ApprovalID != "" && !queue.Now(tx).Before(p.until()):
		waits = fmt.Sprintf("the approval by %s was given on %s, and was not used in time", p.Approver, p.DecidedAt.Format(time.RFC3339))
	default:
		return a, false, nil
	}
	a, err = l.hold(ctx, tx, p, waits)
	return a, true, err
}

// The reasons for which an action is refused when it is to start.
const (
	notPermitted = "it is not what was permitted: the action, its decision or its approval was altered in the database"
	wasRejected  = "a person has rejected it, and it is not what the database says: the action was altered there"
	logWasCut    = "the log was cut since, which was accepted, and does not tell whether it was carried out: look at the message first"
	notProven    = "it was permitted under a key that is not known, and cannot be checked: decide again, or name the key among the old ones"
)

func (l *Ledger) refuseUnproven(ctx context.Context, tx queue.Tx, p *permitRow, err error) (postroom.Action, bool, error) {
	if err != nil {
		return postroom.Action{}, false, err
	}
	a, err := l.refuse(ctx, tx, p, notProven)
	return a, true, err
}

// refuse fails an action that is not what was permitted, and logs that. The turn that ends is that of the decision's message.
func (l *Ledger) refuse(ctx context.Context, tx queue.Tx, p *permitRow, reason string) (postroom.Action, error) {
	if err := l.logFault(ctx, tx, p, "start"); err != nil {
		return postroom.Action{}, err
	}
	turn := postroom.Action{ID: p.ID, AccountID: p.decided.AccountID, MessageID: p.decided.MessageID}
	if err := l.endTurn(ctx, tx, turn); err != nil {
		return postroom.Action{}, err
	}
	return l.finish(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionFailed, error: reason, altered: true, last: p.Last.rev})
}
