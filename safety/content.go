package safety

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// SetContent records the SHA-256, in lower-case hexadecimal, of what an action sends. From then on the open request for approval
// and each later one also name it: a person who approves the action approves these bytes, and the code that sends compares them.
// Call it before a person is asked. For an action that is already approved, the hash is signed with the rest of what was
// permitted, but the person has approved the parameters only.
//
// The first hash stays: setting the same hash again changes nothing, and another hash is [ErrContentSet]. A final action is a
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

// Vouched returns an action, and reports whether the audit log verifies it: it is what was permitted, or what a person is asked
// about. Compose content only from the action that Vouched returns, since [Ledger.SetContent] signs any hash.
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

// sealWith returns the seal of an action with the hash of its content.
func (l *Ledger) sealWith(p permitRow, sha256 string) string {
	p.Content = sha256
	return l.seal(p.sealed())
}

// nameContent renews the digest of the open request so that it covers the content.
func (l *Ledger) nameContent(ctx context.Context, tx queue.Tx, p *permitRow, r *openRow) error {
	next := r.approvalRow
	next.Digest = l.seal(p.requested(&next))
	if ok, err := l.storeRequest(ctx, tx, r, &next); err != nil || ok {
		return err
	}
	return fmt.Errorf("safety: content of action %s: its request was answered at this moment: try again", p.ID)
}
