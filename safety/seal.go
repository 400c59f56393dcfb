package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A seal is the signature over what was permitted, and by whom: the gate lets an action pass, a person approves it, or a job has
// started it. Start executes nothing whose seal does not fit the rows as they are then. The one who seals last is named within:
// a row that is put back to queued cannot be started again by what another job has used up.
const (
	sealGate     = "passed by the gate"
	sealApproved = "approved by a person"
	sealStarted  = "started by a job"
)

// A permitRow is an action with what it goes back to: its decision, and the last approval that was given.
type permitRow struct {
	actionRow
	Seal    sql.NullString `db:"seal"`
	Started bool           `db:"started"` // once, by the log
	decided

	ApprovalID  string      `db:"approval.id"` // empty: nobody has approved
	Approver    string      `db:"approval.approver"`
	RequestedAt dbtime.Time `db:"approval.requested_at"`
	ExpiresAt   dbtime.Time `db:"approval.expires_at"`
	DecidedAt   dbtime.Time `db:"approval.decided_at"`

	switchRow  // whether all is stopped
	breakerRow // whether the source is
}

// decided is what the decision of an action has to do with it.
type decided struct {
	Source      string `db:"decision.source"`
	Decided     string `db:"decision.action_type"`
	DecidedWith string `db:"decision.parameters_json"`
	Rationale   string `db:"decision.rationale"`
	RuleID      string `db:"decision.rule_id"`
	RuleVersion string `db:"decision.rule_version"`
	Model       string `db:"decision.model"`
}

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

// permit is readPermit where something is signed or checked.
func (l *Ledger) permit(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return nil, err
	}
	p, err := readPermit(ctx, tx, actionID)
	return &p, err
}

// parts are what is signed of the action and its decision: parameters byte for byte, as they are stored.
func (p *permitRow) permitted(what string) []string {
	return []string{
		what, p.ID, p.AccountID, p.MessageID, string(p.Type), p.Parameters, p.Content,
		p.DecisionID, p.Source, p.Decided, p.DecidedWith, p.Rationale, p.RuleID, p.RuleVersion, p.Model,
	}
}

// sealed are what the seal is over; started is the job, if one has.
func (p *permitRow) sealed(stage, started string) []string {
	parts := append(p.permitted(stage), started)
	if p.ApprovalID == "" {
		return parts
	}
	return append(parts, p.ApprovalID, p.Approver, dbtime.Format(p.RequestedAt.Time), dbtime.Format(p.ExpiresAt.Time), dbtime.Format(p.DecidedAt.Time))
}

// stage is how the action must be sealed in its state.
func (p *permitRow) stage() (stage, started string) {
	switch {
	case p.State == postroom.ActionExecuting:
		return sealStarted, p.JobID
	case p.ApprovalID != "":
		return sealApproved, ""
	}
	return sealGate, ""
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
	return l.keys.check(p.Seal.String, p.sealed(p.stage()))
}

// withhold refuses to start an action whose seal does not fit, or whose approval is too old or of somebody who may no longer approve. What was altered has failed; what
// can no longer be checked waits for a person again. It returns false if nothing is wrong.
func (l *Ledger) withhold(ctx context.Context, tx queue.Tx, p *permitRow) (a postroom.Action, withheld bool, err error) {
	var waits string
	switch fits := l.checkSeal(p); {
	case fits == signedWrong, p.State == postroom.ActionQueued && p.Started:
		a, err = l.refuse(ctx, tx, p)
		return a, true, err
	case p.State == postroom.ActionExecuting:
		return a, false, nil // it has begun
	case fits == signedByAnotherKey:
		waits = "it was permitted under another key"
	case p.ApprovalID != "" && l.mayAnswer(p.Approver) != nil:
		waits = fmt.Sprintf("the approval was given by %s, who may no longer approve", p.Approver)
	case p.ApprovalID != "" && !queue.Now(tx).Before(p.until()):
		waits = fmt.Sprintf("the approval by %s was given on %s, and was not used in time", p.Approver, p.DecidedAt.Format(time.RFC3339))
	default:
		return a, false, nil
	}
	a, err = l.Hold(ctx, tx, p.ID, waits)
	return a, true, err
}

// refuse fails an action that is not what was permitted.
func (l *Ledger) refuse(ctx context.Context, tx queue.Tx, p *permitRow) (postroom.Action, error) {
	reason := "it is not what was permitted: the action, its decision or its approval was altered in the database"
	return l.finish(ctx, tx, p.ID, change{op: "start", to: postroom.ActionFailed, error: reason})
}
