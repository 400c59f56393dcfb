package drafting

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// LabelsChanged follows a change of labels by a person, a filter or another program. Pass it as
// [gmail.Config].OnLabelsChanged.
func (s *Service) LabelsChanged(ctx context.Context, tx queue.Tx, e gmail.LabelsEvent) error {
	ids, err := s.labelIDsTx(ctx, tx, e.AccountID)
	if err != nil {
		return err
	}
	thread := threadKey{e.AccountID, e.ThreadID}
	for _, id := range e.Change.Remove {
		if b, ok := ids[id]; ok {
			if err := s.lift(ctx, tx, thread, b, e.HistoryID); err != nil {
				return err
			}
		}
	}
	for _, id := range e.Change.Add {
		b, ok := ids[id]
		if !ok {
			continue
		}
		p := press{threadKey: thread, button: b, historyID: e.HistoryID, cause: fmt.Sprintf("label:%d", e.HistoryID)}
		if err := s.press(ctx, tx, p); err != nil {
			return err
		}
	}
	if slices.Contains(e.Change.Remove, postroom.LabelDraft) || slices.Contains(e.Change.Add, postroom.LabelTrash) {
		return s.vanished(ctx, tx, thread, fmt.Sprintf("labels:%s:%d", e.ProviderID, e.HistoryID))
	}
	return nil
}

// Deleted follows the deletion of a message: it may have been the draft. Pass it as [gmail.Config].OnDeleted.
func (s *Service) Deleted(ctx context.Context, tx queue.Tx, e gmail.DeletedEvent) error {
	return s.vanished(ctx, tx, threadKey{e.AccountID, e.ThreadID}, "deleted:"+e.ProviderID)
}

// Arrived follows the arrival of a message: a filter may have put a label on. Call it in [gmail.Config].OnMessage,
// which is not called for mail of before the account was added.
func (s *Service) Arrived(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	if s.cfg.FollowUp > 0 {
		if err := s.answered(ctx, tx, msg); err != nil {
			return err
		}
	}
	if err := s.checkNudge(ctx, tx, msg); err != nil {
		return err
	}
	ids, err := s.labelIDsTx(ctx, tx, msg.AccountID)
	if err != nil {
		return err
	}
	for _, id := range msg.LabelIDs {
		if b, ok := ids[id]; ok {
			p := press{threadKey: threadKey{msg.AccountID, msg.ProviderThreadID}, button: b, message: msg,
				cause: "message:" + msg.ProviderID}
			if err := s.press(ctx, tx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) vanished(ctx context.Context, tx queue.Tx, t threadKey, cause string) error {
	// Most messages that are deleted are in threads without a reply.
	_, err := s.cfg.Replies.ReplyTx(ctx, tx, t.accountID, t.threadID)
	if err == nil {
		_, err = s.cfg.Replies.Vanished(ctx, tx, t.accountID, t.threadID, cause)
	}
	if errors.Is(err, postroom.ErrNotFound) {
		err = nil
	}
	return err
}

// A press is a button that was put on a message.
type press struct {
	threadKey
	button    button
	historyID uint64            // 0: the message came with it
	message   *postroom.Message // that came with it
	since     time.Time         // when the waiting began; zero for now
	cause     string
}

// press begins the work of a button, unless it is in progress or this change was taken note of.
func (s *Service) press(ctx context.Context, tx queue.Tx, p press) error {
	waits := p.button == waiting && s.cfg.FollowUp > 0
	if p.button != needsResponse && p.button != reworkButton && p.button != doneButton && !waits {
		return nil
	}
	state, err := p.lockButton(ctx, tx, p.button)
	if err != nil || state.Pressed {
		return err
	}
	if p.historyID != 0 && int64(p.historyID) <= state.HistoryID {
		return s.enqueueLabels(ctx, tx, LabelsWork{AccountID: p.accountID, ThreadID: p.threadID, Clear: p.button}, p.cause)
	}
	if waits {
		if err := s.wait(ctx, tx, p, state); err != nil {
			return err
		}
		return p.setButton(ctx, tx, waiting, true, p.historyID)
	}
	changed, err := s.begin(ctx, tx, p)
	if err != nil {
		return err
	}
	if !changed { // a draft lies ready, or there is none to write again
		return s.enqueueLabels(ctx, tx, LabelsWork{AccountID: p.accountID, ThreadID: p.threadID, Clear: p.button}, p.cause)
	}
	if p.button == doneButton {
		if err := p.release(ctx, tx, p.historyID, needsResponse, reworkButton, waiting); err != nil {
			return err
		}
	}
	return p.setButton(ctx, tx, p.button, true, p.historyID)
}

func (s *Service) begin(ctx context.Context, tx queue.Tx, p press) (changed bool, err error) {
	switch p.button {
	case reworkButton:
		return s.cfg.Replies.Rework(ctx, tx, p.accountID, p.threadID, p.cause)
	case doneButton:
		return s.cfg.Replies.Done(ctx, tx, p.accountID, p.threadID, p.cause)
	}
	var coming []*postroom.Message
	if p.message != nil { // it is being stored
		coming = append(coming, p.message)
	}
	if err := s.pastNudge(ctx, tx, p.threadKey, coming...); err != nil {
		return false, err
	}
	messages, err := s.cfg.Store.ThreadMessagesTx(ctx, tx, p.accountID, p.threadID)
	if err != nil {
		return false, err
	}
	messages = append(messages, coming...)
	answered := ""
	if m := newestReceived(messages); m != nil {
		answered = m.ProviderID
	}
	return s.cfg.Replies.Asked(ctx, tx, p.accountID, p.threadID, answered, p.cause)
}

// lift ends the work of a button whose label was taken off.
func (s *Service) lift(ctx context.Context, tx queue.Tx, t threadKey, b button, historyID uint64) error {
	state, err := t.lockButton(ctx, tx, b)
	if err != nil || !state.Pressed || int64(historyID) <= state.HistoryID {
		return err
	}
	switch b {
	case reworkButton:
		_, err = s.cfg.Replies.Withdrawn(ctx, tx, t.accountID, t.threadID, fmt.Sprintf("label:%d", historyID))
	case needsResponse:
		err = s.skipPending(ctx, tx, t)
	}
	if err != nil {
		return err
	}
	return t.setButton(ctx, tx, b, false, historyID)
}

func (s *Service) skipPending(ctx context.Context, tx queue.Tx, t threadKey) error {
	r, err := s.cfg.Replies.ReplyTx(ctx, tx, t.accountID, t.threadID)
	if errors.Is(err, postroom.ErrNotFound) || err == nil && r.State != replies.Pending {
		return nil
	}
	if err == nil {
		_, err = s.cfg.Replies.Skipped(ctx, tx, t.accountID, t.threadID, r.Need,
			"the label "+s.cfg.Labels.NeedsResponse+" was taken off")
	}
	return err
}

// messages returns the stored messages of a thread, oldest first.
func (s *Service) messages(ctx context.Context, t threadKey) ([]*postroom.Message, error) {
	id, err := s.cfg.Store.ThreadID(ctx, t.accountID, t.threadID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.cfg.Store.ThreadMessages(ctx, t.accountID, id)
}

// newestReceived returns the newest message that others have sent; nil if there is none.
func newestReceived(messages []*postroom.Message) *postroom.Message {
	for _, m := range slices.Backward(messages) {
		if !m.HasLabel(postroom.LabelSent) && !isDraft(m) {
			return m
		}
	}
	return nil
}

// isDraft reports whether a message is none of the conversation.
func isDraft(m *postroom.Message) bool {
	return m.HasLabel(postroom.LabelDraft) || m.HasLabel(postroom.LabelTrash) || m.HasLabel(postroom.LabelSpam)
}
