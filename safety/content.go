package safety

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// SetContent records the SHA-256, in lower-case hexadecimal, of what an action sends. From then on an open request for approval
// names it as well, and so does each later one: who approves the action approves these bytes, and who sends compares. Call it
// before a person is asked: for an action that is approved already it is signed with the rest of what was permitted, and the
// person has approved the parameters only.
//
// The first hash stays: the same once more changes nothing, another one is [ErrContentSet]. An action that is final gets a
// [*StateError].
func (l *Ledger) SetContent(ctx context.Context, tx queue.Tx, actionID, sha256 string) error {
	if sum, err := hex.DecodeString(sha256); err != nil || len(sum) != 32 {
		return fmt.Errorf("safety: content of action %s: %q is not a SHA-256 in hexadecimal", actionID, sha256)
	}
	p, err := l.permit(ctx, tx, actionID)
	switch {
	case err != nil:
		return err
	case p.Content == sha256:
		return nil
	case p.Content != "":
		return fmt.Errorf("safety: action %s: %w: %s", actionID, ErrContentSet, p.Content)
	}
	fits := l.checkSeal(p)
	var row actionRow
	err = dbquery.Get(ctx, tx, &row, setContent, sha256, dbtime.Of(queue.Now(tx)), actionID)
	if errors.Is(err, sql.ErrNoRows) {
		_, err := l.tooLate(ctx, tx, actionID, "set the content of")
		return err
	}
	if err != nil {
		return fmt.Errorf("safety: content of action %s: %w", actionID, err)
	}
	if err := l.log(ctx, tx, l.entryOfAction(&row)); err != nil {
		return err
	}
	if p.State == postroom.ActionApprovedPending {
		return l.nameContent(ctx, tx, p, sha256)
	}
	if fits != signedRight {
		return nil // Start will find that
	}
	p.Content = sha256
	if _, err := tx.ExecContext(ctx, setSeal, l.seal(p.sealed(p.stage())), actionID); err != nil {
		return fmt.Errorf("safety: content of action %s: %w", actionID, err)
	}
	return nil
}

// nameContent makes the open request one for the content as well. One that is void, since the action has changed, stays so.
func (l *Ledger) nameContent(ctx context.Context, tx queue.Tx, p *permitRow, sha256 string) error {
	_, r, err := l.request(ctx, tx, p.ID, "set the content of")
	if err != nil {
		return err
	}
	without := l.seal(p.requested(r))
	p.Content = sha256
	var renamed approvalRow
	err = dbquery.Get(ctx, tx, &renamed, renameRequest, l.seal(p.requested(r)), r.ID, without)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("safety: content of action %s: %w", p.ID, err)
	}
	return l.logApproval(ctx, tx, &renamed)
}
