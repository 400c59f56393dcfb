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
	suspect, err := l.suspect(ctx, tx, p)
	if err != nil {
		return err
	}
	var row actionRow
	err = dbquery.Get(ctx, tx, &row, setContent, sha256, l.sealWith(p, sha256), dbtime.Of(queue.Now(tx)), actionID)
	if errors.Is(err, sql.ErrNoRows) {
		_, err := l.tooLate(ctx, tx, actionID, "set the content of")
		return err
	}
	if err != nil {
		return fmt.Errorf("safety: content of action %s: %w", actionID, err)
	}
	if err := l.logAction(ctx, tx, &row, suspect); err != nil || p.State != postroom.ActionApprovedPending {
		return err
	}
	return l.nameContent(ctx, tx, p, sha256)
}

// sealWith is the seal of an action with what it sends; nil if the one it has does not fit, which stays for Start to find.
func (l *Ledger) sealWith(p *permitRow, sha256 string) *string {
	if p.State == postroom.ActionApprovedPending || l.checkSeal(p) != signedRight {
		return nil
	}
	with := *p
	with.Content = sha256
	seal := l.seal(with.sealed())
	return &seal
}

// nameContent makes the open request one for the content as well. One that is void, since the action has changed, stays so.
func (l *Ledger) nameContent(ctx context.Context, tx queue.Tx, p *permitRow, sha256 string) error {
	_, r, err := l.request(ctx, tx, p.ID, "set the content of")
	if err != nil {
		return err
	}
	without := r.Digest
	if l.checkSigned(r.Digest, p.requested(&r.approvalRow)) != signedRight {
		return nil
	}
	p.Content = sha256
	var renamed approvalRow
	err = dbquery.Get(ctx, tx, &renamed, renameRequest, l.seal(p.requested(&r.approvalRow)), r.ID, without)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("safety: content of action %s: %w", p.ID, err)
	}
	return l.logApproval(ctx, tx, &renamed)
}
