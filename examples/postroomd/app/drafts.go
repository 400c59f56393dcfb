package app

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/gmail/voice"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
)

// FindReply finds the answer of a thread by Gmail's id of the thread, or by the beginning or the end of it. With an
// account, only its threads count. The error of an unknown one is [postroom.ErrNotFound] and the fault of who has
// typed it.
func (h *App) FindReply(ctx context.Context, accountID, typed string) (found replies.Reply, err error) {
	id, err := draftIDs.complete(ctx, h, accountID, typed)
	if err != nil {
		return found, err
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return found, err
	}
	n := 0
	for _, a := range accounts {
		if accountID != "" && a.ID != accountID || id == "" {
			continue
		}
		r, err := h.Replies.Reply(ctx, a.ID, id)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return found, err
		}
		found, n = r, n+1
	}
	switch n {
	case 0:
		return found, usage.Wrap(noDraftError{typed})
	case 1:
		return found, nil
	}
	return found, usage.Errorf("several mailboxes have a draft %s: name one with --mailbox", id)
}

// noDraftError is the error of an id that is of no draft.
type noDraftError struct{ typed string }

func (e noDraftError) Error() string {
	return "there is no draft " + e.typed + "; '" + draftIDs.listing + "' lists them"
}

func (e noDraftError) Unwrap() error { return postroom.ErrNotFound }

// draftService returns what writes drafts, or why there is none.
func (h *App) draftService() (*drafting.Service, error) {
	if h.Drafting == nil {
		return nil, usage.Errorf("no drafts are written: replies.enabled is off, or safety.dry_run is on")
	}
	return h.Drafting, nil
}

// AskDraft has a draft written of an answer to a thread, which is Gmail's id.
func (h *App) AskDraft(ctx context.Context, accountID, threadID, by string) error {
	service, err := h.draftService()
	if err != nil {
		return err
	}
	r := replies.Reply{AccountID: accountID, ThreadID: threadID}
	return refused(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := service.Ask(ctx, tx, drafting.Word{AccountID: accountID, ThreadID: threadID, By: by}); err != nil {
			return err
		}
		return h.auditDraft(ctx, tx, events.DraftAsked, &r, by)
	}))
}

// ReworkDraft has a draft written again as a person says. A turn other than 0 must be that of the reply.
func (h *App) ReworkDraft(ctx context.Context, r replies.Reply, turn int64, by, instruction string) error {
	service, err := h.draftService()
	if err != nil {
		return err
	}
	return refused(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		word := drafting.Word{AccountID: r.AccountID, ThreadID: r.ThreadID, Turn: turn, By: by}
		if err := service.Rework(ctx, tx, word, instruction); err != nil {
			return err
		}
		return h.auditDraft(ctx, tx, events.DraftRework, &r, by)
	}))
}

// DiscardDraft ends what a thread needs, and deletes the draft at Gmail unless a person has changed it. A turn other
// than 0 must be that of the reply.
func (h *App) DiscardDraft(ctx context.Context, r replies.Reply, turn int64, by string) (drafting.Fate, error) {
	service, err := h.draftService()
	if err != nil {
		return "", err
	}
	fate, err := service.Discard(ctx, drafting.Word{AccountID: r.AccountID, ThreadID: r.ThreadID, Turn: turn, By: by},
		func(ctx context.Context, tx queue.Tx) error {
			return h.auditDraft(ctx, tx, events.DraftDiscarded, &r, by)
		})
	return fate, refused(err)
}

// SendDraft sends the draft of a thread, once, as a person has seen it, which its hash names.
func (h *App) SendDraft(ctx context.Context, r replies.Reply, turn int64, sha256, by string) error {
	service, err := h.draftService()
	if err != nil {
		return err
	}
	word := drafting.Word{AccountID: r.AccountID, ThreadID: r.ThreadID, Turn: turn, By: by}
	return refused(service.Send(ctx, word, sha256, func(ctx context.Context, tx queue.Tx) error {
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: events.DraftSend, AccountID: r.AccountID, By: by,
			Why: "thread " + r.ThreadID + ", sha256 " + sha256})
	}))
}

func (h *App) auditDraft(ctx context.Context, tx queue.Tx, kind events.Kind, r *replies.Reply, by string) error {
	return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: kind, AccountID: r.AccountID, By: by,
		Why: "thread " + r.ThreadID})
}

// refused makes what a draft or a stop does not permit a fault of what was asked for.
func refused(err error) error {
	_, state := errors.AsType[*drafting.StateError](err)
	_, profile := errors.AsType[*voice.ProfileError](err)
	if state || profile || errors.Is(err, postroom.ErrHeld) {
		return usage.Wrap(err)
	}
	return err
}

// VoiceService returns what learns how people write, or why nobody does.
func (h *App) VoiceService() (*voice.Service, error) {
	if h.Voice == nil {
		return nil, usage.Errorf("nobody learns how you write: set replies.voice = true beside replies.enabled = true")
	}
	return h.Voice, nil
}

// EditVoice stores what a person has made of the profile of its way to write, whose version the person has seen.
func (h *App) EditVoice(ctx context.Context, accountID string, version int64, text, by string) error {
	service, err := h.VoiceService()
	if err != nil {
		return err
	}
	return refused(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := service.Edit(ctx, tx, accountID, text, version, by); err != nil {
			return err
		}
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: events.VoiceEdited, AccountID: accountID, By: by})
	}))
}

// RebuildVoice has the profile of an account learned anew; one that was edited only if it is to be replaced, and has
// the version that the person has seen.
func (h *App) RebuildVoice(ctx context.Context, accountID string, version int64, replace bool, by string) error {
	service, err := h.VoiceService()
	if err != nil {
		return err
	}
	return refused(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := service.Rebuild(ctx, tx, accountID, version, replace); err != nil {
			return err
		}
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: events.VoiceRebuild, AccountID: accountID, By: by})
	}))
}
