package safety

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/postroom-go/postroom"
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
	p, err := l.permitAlone(ctx, tx, actionID)
	switch {
	case err != nil:
		return err
	case p.Content == sha256:
		return nil
	case p.Content != "":
		return fmt.Errorf("safety: action %s: %w: %s", actionID, ErrContentSet, p.Content)
	}
	next := p.actionRow
	next.Content = sha256
	if p.State.Final() {
		_, err := l.tooLate(ctx, tx, actionID, "set the content of")
		return err
	}
	r, sound, err := l.sound(ctx, tx, p, "set the content of")
	switch {
	case err != nil:
		return err
	case !sound:
		return alteredError("set the content of", actionID)
	case r == nil:
		next.Seal = sql.NullString{String: l.sealWith(*p, sha256), Valid: true}
	}
	if _, err := l.store(ctx, tx, &p.actionRow, &next, "set the content of", false); err != nil || r == nil {
		return err
	}
	return l.nameContent(ctx, tx, p, r)
}

// Vouched returns an action, and whether the log vouches for it: that it is what was permitted, or what a person is asked about. What is
// composed for an action is composed of what Vouched returns, since [Ledger.SetContent] signs the hash whatever it is of.
func (l *Ledger) Vouched(ctx context.Context, actionID string) (a postroom.Action, ok bool, err error) {
	err = l.snapshot(ctx, func(tx *snapshot) error {
		if err := l.keys.load(ctx, tx); err != nil {
			return err
		}
		p, err := readPermit(ctx, tx, actionID)
		if err != nil {
			return err
		}
		if _, ok, err = l.sound(ctx, tx, &p, "compose"); err == nil && ok {
			a, err = p.value()
		}
		return err
	})
	return a, ok && err == nil, err
}

// sealWith is the seal of an action with what it sends.
func (l *Ledger) sealWith(p permitRow, sha256 string) string {
	p.Content = sha256
	return l.seal(p.sealed())
}

// nameContent makes the open request one for the content as well.
func (l *Ledger) nameContent(ctx context.Context, tx queue.Tx, p *permitRow, r *openRow) error {
	next := r.approvalRow
	next.Digest = l.seal(p.requested(&next))
	if ok, err := l.storeRequest(ctx, tx, r, &next); err != nil || ok {
		return err
	}
	return fmt.Errorf("safety: content of action %s: its request was answered at this moment: try again", p.ID)
}
