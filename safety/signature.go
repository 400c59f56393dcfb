package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/internal/keyring"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/stop"
)

// An approval has one signature. It covers the request, what is executed, what the person was shown of it, and, once
// the person has approved, who has and when.
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

	stopped  // whether all is
	breaking // whether the source is
	// when a person last accepted a database that was put back
	AcceptedAt dbtime.Time `db:"accepted_at"`
}

// decided is the decision of an action. Its columns give way to the action's columns of the same name.
type decided struct{ decisionRow }

// stopped is the switch.
type stopped struct{ stop.Row }

// breaking is the breaker of the decision's source.
type breaking struct{ limits.Row }

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

// lockPermit is permit after locking the action against other transactions, for callers that read the action, its
// request and its content in several statements.
func (s *signatures) lockPermit(ctx context.Context, tx queue.Tx, actionID string) (*permitRow, error) {
	if s.postgres {
		if _, err := tx.ExecContext(ctx, lockAction, actionID); err != nil {
			return nil, fmt.Errorf("safety: lock action %s: %w", actionID, err)
		}
	}
	return s.permit(ctx, tx, actionID)
}

// permit is readPermit with the keys loaded, for callers that sign or verify.
func (s *signatures) permit(ctx context.Context, q dbquery.Querier, actionID string) (*permitRow, error) {
	if err := s.Load(ctx, q); err != nil {
		return nil, err
	}
	p, err := readPermit(ctx, q, actionID)
	return &p, err
}

// signatures read actions with what permits them, and sign and verify that.
type signatures struct {
	*keyring.Keyring
	postgres bool
}

// coherent reports whether the action is the one that was decided.
func (p *permitRow) coherent() bool {
	d := &p.decided
	if p.AccountID != d.AccountID || p.MessageID != d.MessageID || Undone(p.Type) != d.Action {
		return false
	}
	return p.Parameters == d.Parameters || sameText(p.Parameters, d.Parameters)
}

// signedParts returns what the signature of a request or of an approval covers: what is executed and what a person is
// shown of it, byte for byte as stored. The provider's id of the message is the decision's.
func signedParts(a *actionRow, d *decisionRow, r *approvalRow) []string {
	const most = 40
	parts := append(make([]string, 0, most), signedRequest, r.ID, r.ActionID, r.Reasons, stamp(r.RequestedAt),
		stamp(r.ExpiresAt))
	if r.Outcome == OutcomeApproved {
		parts[0] = signedApproval
		parts = append(parts, r.Approver, stamp(r.DecidedAt))
	}
	parts = append(parts, a.ID, a.AccountID, a.MessageID, string(a.Type), a.Parameters, a.Content, a.DecisionID)
	return append(parts, d.parts()...)
}

// signRequest signs a request or an approval of an action; the keys must be loaded.
func (s *signatures) signRequest(p *permitRow, r *approvalRow) string {
	return s.Sign(signedParts(&p.actionRow, &p.decisionRow, r))
}

// verifyRequest verifies the signature of a request or an approval of an action.
func (s *signatures) verifyRequest(p *permitRow, r *approvalRow) keyring.Verdict {
	if !p.coherent() || r.ActionID != p.ID {
		return keyring.Wrong
	}
	signature := r.Digest
	if r.Outcome == OutcomeApproved {
		signature = r.Signature
	}
	return s.Check(signature, signedParts(&p.actionRow, &p.decisionRow, r))
}

// verify verifies what permits an action that does not wait: its decision, and the approval of a person if one was
// asked.
func (s *signatures) verify(p *permitRow) keyring.Verdict {
	switch {
	case !p.coherent():
		return keyring.Wrong
	case p.ApprovalID != "":
		if p.Outcome != OutcomeApproved {
			return keyring.Wrong
		}
		return s.verifyRequest(p, &p.approvalRow)
	case p.Asked != 0 && !IsUndo(p.Type):
		return keyring.Wrong
	}
	return keyring.Right
}

// genuine returns an error if the request is not the one that was made, or if the database was put back since.
func (s *signatures) genuine(p *permitRow, r *approvalRow) error {
	switch fits := s.verifyRequest(p, r); {
	case fits == keyring.Wrong:
		return fmt.Errorf("safety: action %s: %w: %w: reject it", p.ID, ErrApprovalVoid, ErrAltered)
	case fits == keyring.ByAnotherKey:
		return fmt.Errorf("safety: action %s: %w: it was made under another key: ask again, or reject it", p.ID,
			ErrApprovalVoid)
	case r.restored(p.AcceptedAt):
		return fmt.Errorf("safety: action %s: %w: %s: ask again, or reject it", p.ID, ErrApprovalVoid, putBack)
	}
	return nil
}

// askedFor returns the reasons of a request to renew, if nothing was altered since.
func (s *signatures) askedFor(p *permitRow, r *approvalRow) ([]string, error) {
	switch fits := s.verifyRequest(p, r); {
	case fits == keyring.Wrong:
		return nil, alteredError("renew the approval of", p.ID)
	case fits == keyring.ByAnotherKey:
		return []string{"it was asked for under another key"}, nil
	case r.restored(p.AcceptedAt):
		return []string{putBack}, nil
	}
	old, err := r.value()
	return old.Reasons, err
}

// sound reports whether an action that has not ended is what was permitted, or what a person was asked about. It
// returns the open request of a waiting action.
func (s *signatures) sound(ctx context.Context, q dbquery.Querier, p *permitRow) (r *approvalRow, ok bool, err error) {
	if p.State != postroom.ActionPendingApproval {
		return nil, s.verify(p) == keyring.Right, nil
	}
	r, err = openRequest(ctx, q, p.ID)
	return r, err == nil && r != nil && s.verifyRequest(p, r) == keyring.Right, err
}

// The reasons for which an action is refused when it is to start.
const (
	notPermitted = "it is not what was permitted: the action, its decision or its approval was altered in the database"
	notApproved  = "a person was asked to approve it, and none has: its state was altered in the database"
	usedBefore   = "its approval was used before, or it was carried out before: its state was altered in the database"
	putBack      = "the database was put back since, and does not tell whether it was carried out: look at the message first"
)

// refusalToStart returns why an action must not start or continue, whoever is asked; empty if nothing speaks against
// it.
func (s *signatures) refusalToStart(p *permitRow, jobID string, taken bool) string {
	begun, fits := p.State == postroom.ActionExecuting, s.verify(p)
	switch {
	case fits == keyring.Wrong && p.coherent() && p.ApprovalID == "":
		return notApproved
	case fits == keyring.Wrong, fits == keyring.ByAnotherKey && begun:
		return notPermitted
	case !begun && (taken || !p.ExecutedAt.IsZero()):
		return usedBefore
	case p.ApprovalID == "":
		return ""
	case begun && p.UsedBy != jobID, !begun && p.UsedBy != "":
		return usedBefore
	}
	return ""
}

// restored reports whether the action was permitted before a person accepted a database that was put back.
func (p *permitRow) restored() bool {
	permitted := p.CreatedAt
	if p.ApprovalID != "" {
		permitted = p.DecidedAt
	}
	return !p.AcceptedAt.IsZero() && !permitted.After(p.AcceptedAt.Time)
}

// openRequest returns the waiting request; nil if there is none.
func openRequest(ctx context.Context, q dbquery.Querier, actionID string) (*approvalRow, error) {
	var r approvalRow
	err := dbquery.Get(ctx, q, &r, selectRequest, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is no error, and no request
	}
	if err != nil {
		return nil, fmt.Errorf("safety: read the request for approval of action %s: %w", actionID, err)
	}
	return &r, nil
}
