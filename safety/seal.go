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

// A seal is the signature over what was permitted, and by whom: the gate lets an action pass, or a person approves it. It binds the
// action to its decision and its approval; how far the action has come is in the log, whose entries are over the seal as well.
const (
	sealGate     = "passed by the gate"
	sealApproved = "approved by a person"
	sealStarted  = "started by a job" // in the first version
)

// sealVersion begins what is signed over the whole of [permitRow.permitted]: what was signed before it named less, and is no seal.
const sealVersion = "2."

// A permitRow is an action with what it goes back to: its decision, and the last approval that was given.
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

// decided is the decision of an action, whose columns give way to those of the action with the same name.
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

// permitAlone is permit once no other transaction changes the action, its request or what it sends: all are read by more than one
// statement.
func (l *Ledger) permitAlone(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if l.onPostgres() {
		if _, err := tx.ExecContext(ctx, lockAction, actionID); err != nil {
			return nil, fmt.Errorf("safety: lock action %s: %w", actionID, err)
		}
	}
	return l.permit(ctx, tx, actionID)
}

// permit is readPermit where something is signed or checked.
func (l *Ledger) permit(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return nil, err
	}
	p, err := readPermit(ctx, tx, actionID)
	return &p, err
}

// permitted are what is executed, and what a person is shown of it: the action, and all of its decision, byte for byte as they are
// stored. The provider's id of the message is the decision's.
func (p *permitRow) permitted(what string) []string {
	action := []string{what, p.ID, p.AccountID, p.MessageID, string(p.Type), p.Parameters, p.Content, p.DecisionID}
	return append(action, p.decided.parts()...)
}

// sealed are what the seal is over. The blank was the job of what was begun, in the first version.
func (p *permitRow) sealed() []string {
	stage := sealGate
	if p.ApprovalID != "" {
		stage = sealApproved
	}
	parts := []string{stage, "", p.ApprovalID, p.Approver, stamp(p.RequestedAt), stamp(p.ExpiresAt), stamp(p.DecidedAt)}
	return append(parts, p.permitted("permitted")...)
}

// coherent reports whether the action is the one that was decided, which needs no key to tell.
func (p *permitRow) coherent() bool {
	d := &p.decided
	if p.AccountID != d.AccountID || p.MessageID != d.MessageID || Undone(p.Type) != d.Action {
		return false
	}
	return p.Parameters == d.Parameters || IsUndo(p.Type) && sameText(p.Parameters, d.Parameters)
}

// seal signs what was permitted; the keys must be loaded.
func (l *Ledger) seal(parts []string) string { return sealVersion + l.keys.sign(parts) }

// checkSigned returns what a seal is worth: one of a version before, which named less, is as good as one of an unknown key.
func (l *Ledger) checkSigned(seal string, parts []string) signed {
	signature, ok := strings.CutPrefix(seal, sealVersion)
	if !ok && seal != "" {
		return signedByAnotherKey
	}
	return l.keys.check(signature, parts)
}

// until is when an approval that was given can no longer be used: as long after the answer as there was for it.
func (p *permitRow) until() time.Time {
	return p.DecidedAt.Add(p.ExpiresAt.Sub(p.RequestedAt.Time))
}

// checkSeal returns how the seal fits the rows.
func (l *Ledger) checkSeal(p *permitRow) signed {
	if !p.Seal.Valid {
		return signedByAnotherKey
	}
	parts := p.sealed()
	fits := l.checkSigned(p.Seal.String, parts)
	if fits == signedWrong && p.JobID != "" { // what was begun before the log said so was sealed with its job
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

// refuse fails an action that is not what was permitted, and says so in the log. The turn was that of the message that was decided about.
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
