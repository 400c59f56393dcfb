package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// An approval has one signature. It covers the request, what is executed, what the person was shown of it, and, once the person
// has approved, who has and when.
const (
	signedRequest  = "asked for approval"
	signedApproval = "approved by a person"
)

// A permitRow is an action with its decision, the approval that permits it, and what may hold it.
type permitRow struct {
	actionRow
	decided
	given
	Asked int `db:"asked"` // the decision, or the ledger since, has asked a person

	switchRow  // whether all is stopped
	breakerRow // whether the source is
}

// decided is the decision of an action. Its columns give way to the action's columns of the same name.
type decided struct{ decisionRow }

// given is the approval of an action; its id is empty if there is none.
type given struct{ approvalRow }

func readPermit(ctx context.Context, q dbquery.Querier, actionID string) (p permitRow, err error) {
	err = dbquery.Get(ctx, q, &p, selectPermit, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return p, notFound("action", actionID)
	}
	if err != nil {
		return p, fmt.Errorf("safety: read action %s: %w", actionID, err)
	}
	return p, nil
}

// lockPermit is permit after locking the action against other transactions, for callers that read the action, its request and
// its content in several statements.
func (l *Ledger) lockPermit(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if string(l.cfg.DB.Dialect()) == "postgres" {
		if _, err := tx.ExecContext(ctx, lockAction, actionID); err != nil {
			return nil, fmt.Errorf("safety: lock action %s: %w", actionID, err)
		}
	}
	return l.permit(ctx, tx, actionID)
}

// permit is readPermit with the keys loaded, for callers that sign or verify.
func (l *Ledger) permit(ctx context.Context, q dbquery.Querier, actionID string) (*permitRow, error) {
	if err := l.keys.load(ctx, q); err != nil {
		return nil, err
	}
	p, err := readPermit(ctx, q, actionID)
	return &p, err
}

// coherent reports whether the action is the one that was decided.
func (p *permitRow) coherent() bool {
	d := &p.decided
	if p.AccountID != d.AccountID || p.MessageID != d.MessageID || Undone(p.Type) != d.Action {
		return false
	}
	return p.Parameters == d.Parameters || sameText(p.Parameters, d.Parameters)
}

// signedParts returns what the signature of a request or of an approval covers: what is executed and what a person is shown of
// it, byte for byte as stored. The provider's id of the message is the decision's.
func signedParts(a *actionRow, d *decisionRow, r *approvalRow) []string {
	const most = 40
	parts := append(make([]string, 0, most), signedRequest, r.ID, r.ActionID, r.Reasons, stamp(r.RequestedAt), stamp(r.ExpiresAt))
	if r.Outcome == OutcomeApproved {
		parts[0] = signedApproval
		parts = append(parts, r.Approver, stamp(r.DecidedAt))
	}
	parts = append(parts, a.ID, a.AccountID, a.MessageID, string(a.Type), a.Parameters, a.Content, a.DecisionID)
	return append(parts, d.parts()...)
}

// parts are the columns of a decision.
func (r *decisionRow) parts() []string {
	known := ""
	if r.Confidence.Valid {
		known = strconv.FormatFloat(r.Confidence.Float64, 'g', -1, 64)
	}
	return []string{
		r.ID, r.AccountID, r.MessageID, r.ProviderID, r.Key, string(r.Source), string(r.Action), r.Parameters, known,
		strconv.FormatBool(r.NeedsApproval), r.Rationale, r.RuleID, r.RuleName, r.RuleVersion, string(r.SafeMode), r.Model, r.Explanations,
		r.Telemetry, r.Sender, r.Subject, stamp(r.CreatedAt),
	}
}

// stamp is a time as it is stored; empty for none.
func stamp(t dbtime.Time) string {
	if t.IsZero() {
		return ""
	}
	return dbtime.Format(t.Time)
}

// signRequest signs a request or an approval of an action; the keys must be loaded.
func (l *Ledger) signRequest(p *permitRow, r *approvalRow) string {
	return l.keys.sign(signedParts(&p.actionRow, &p.decisionRow, r))
}

// verifyRequest verifies the signature of a request or an approval of an action.
func (l *Ledger) verifyRequest(p *permitRow, r *approvalRow) signed {
	if !p.coherent() || r.ActionID != p.ID {
		return signedWrong
	}
	signature := r.Digest
	if r.Outcome == OutcomeApproved {
		signature = r.Signature
	}
	return l.keys.check(signature, signedParts(&p.actionRow, &p.decisionRow, r))
}

// verify verifies what permits an action that does not wait: its decision, and the approval of a person if one was asked.
func (l *Ledger) verify(p *permitRow) signed {
	switch {
	case !p.coherent():
		return signedWrong
	case p.ApprovalID != "":
		if p.Outcome != OutcomeApproved {
			return signedWrong
		}
		return l.verifyRequest(p, &p.approvalRow)
	case p.Asked != 0 && !IsUndo(p.Type):
		return signedWrong
	}
	return signedRight
}

// until returns when an approval expires: as long after the answer as the request was open for one.
func (r *approvalRow) until() time.Time { return r.DecidedAt.Add(r.ExpiresAt.Sub(r.RequestedAt.Time)) }
