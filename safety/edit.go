package safety

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// An Editor records that a person has edited what a waiting action sends. [NewEditor] makes one; it is safe for
// concurrent use.
type Editor struct{ ledger *Ledger }

// NewEditor makes the editor of a ledger.
func NewEditor(l *Ledger) *Editor { return &Editor{l} }

// Edit replaces the hash of what an action sends, on the word of a person who was shown the request as shown and has
// edited its content. It withdraws that request and makes another one, with the same reasons and a new expiry, which it
// returns: nothing is approved yet. The request that was shown keeps the old hash, the person, and the id of the
// request that replaces it ([Approval].ReplacedBy); an answer to it is [ErrEdited] from then on. Store the new content
// in the same transaction.
//
// by must be one who may approve. The errors are those of [Ledger.ApproveRequest]: of two edits, or an edit and an
// answer, the first stands. An action that names no content cannot be edited. On an error the caller must roll the
// transaction back.
func (e *Editor) Edit(ctx context.Context, tx queue.Tx, shown Approval, by, sha256 string) (Approval, error) {
	if !isSHA256(sha256) {
		return Approval{}, noSHA256(shown.ActionID, sha256)
	}
	p, r, err := e.open(ctx, tx, shown, by)
	if err != nil {
		return Approval{}, err
	}
	if p.Content == sha256 {
		return Approval{}, fmt.Errorf("safety: edit action %s: its content is %s already", p.ID, sha256)
	}
	next, before := p.actionRow, p.Content
	next.Content = sha256
	if _, err := e.ledger.actions.store(ctx, tx, &p.actionRow, &next, "edit"); err != nil {
		return Approval{}, err
	}
	return e.ledger.requests.replace(ctx, tx, p, r, by, before)
}

// Action returns the waiting action of a request that was shown, or the error with which [Editor.Edit] would refuse
// the person now.
func (e *Editor) Action(ctx context.Context, shown Approval, by string) (a postroom.Action, err error) {
	err = e.ledger.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		p, _, err := e.open(ctx, tx, shown, by)
		if err != nil {
			return err
		}
		a, err = p.value()
		return err
	})
	return a, err
}

// open reads the action and the request that was shown, if the person may edit its content now.
func (e *Editor) open(ctx context.Context, tx queue.Tx, shown Approval, by string) (*permitRow, *approvalRow, error) {
	if err := e.ledger.cfg.mayAnswer(by); err != nil {
		return nil, nil, err
	}
	rs := e.ledger.requests
	p, r, err := rs.waiting(ctx, tx, shown.ActionID, "edit")
	if err != nil {
		return nil, nil, err
	}
	if r.ID != shown.ID {
		return nil, nil, replacedError(ctx, tx, shown.ID)
	}
	if err := rs.check(ctx, tx, p, r); err != nil {
		return nil, nil, err
	}
	switch {
	case r.Digest != shown.Digest:
		err = fmt.Errorf("safety: request %s: %w: look at it again", r.ID, ErrApprovalVoid)
	case p.Content == "":
		err = fmt.Errorf("safety: request %s: %w: what it sends was not shown", r.ID, ErrApprovalVoid)
	}
	return p, r, err
}

// replacedError is the error of an edit of a request that is not the open one of its action.
func replacedError(ctx context.Context, tx queue.Tx, id string) error {
	r, err := findApproval(ctx, tx, id)
	if err != nil {
		return err
	}
	return r.replaced()
}

// replace withdraws a request about content that a person has edited, and makes one about the content that the action
// names now.
func (rs *requests) replace(ctx context.Context, tx queue.Tx, p *permitRow, r *approvalRow, by, content string) (
	Approval, error) {
	old, err := r.value()
	if err != nil {
		return Approval{}, err
	}
	next, err := rs.signed(ctx, tx, p, old.Reasons)
	if err != nil {
		return Approval{}, err
	}
	ended := r.answered(OutcomeWithdrawn, by, "edited", queue.Now(tx))
	ended.Content, ended.ReplacedBy = content, next.ID
	closed, err := rs.close(ctx, tx, r, ended)
	switch {
	case err != nil:
		return Approval{}, err
	case !closed:
		_, err := tooLate(ctx, tx, p.ID, "edit")
		return Approval{}, err
	}
	if err := rs.insert(ctx, tx, p, next); err != nil {
		return Approval{}, err
	}
	return next.value()
}

func isSHA256(s string) bool {
	sum, err := hex.DecodeString(s)
	return err == nil && len(sum) == 32
}

func noSHA256(actionID, s string) error {
	return fmt.Errorf("safety: content of action %s: %q is not a SHA-256 in hexadecimal", actionID, s)
}
