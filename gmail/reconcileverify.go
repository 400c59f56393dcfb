package gmail

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// A suspect is a message that seems to differ, as it is stored before Gmail is asked, and Gmail's answer.
type suspect struct {
	providerID string
	before     *mailstore.MessageState // nil: it is not stored
	state      gmailapi.MessageState
	gone       bool
}

// verify reads some suspects at Gmail. A stored message is replaced only if it has not changed meanwhile: otherwise a
// history sync was at work, and the next job reads the message again.
func (s *reconcileStep) verify(ctx context.Context) (applyFunc, error) {
	ids, err := s.runs().suspects(ctx, s.account.ID)
	if err != nil {
		return nil, err
	}
	read, err := s.readSuspects(ctx, ids)
	if err != nil && len(read) == 0 {
		return nil, err
	}
	return func(ctx context.Context, tx queue.Tx, q *queue.Queue) error {
		if len(ids) == 0 {
			s.next(phaseClean)
		}
		for _, one := range read {
			if err := s.settle(ctx, tx, q, one); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// readSuspects reads the messages. One that Gmail fails to read keeps no other from being corrected: if others are
// read there is no error, and a later job reads it again.
func (s *reconcileStep) readSuspects(ctx context.Context, ids []string) (read []suspect, err error) {
	for _, id := range ids {
		one, fault := s.readSuspect(ctx, id)
		if gmailapi.IsInvalidID(fault) { // nothing that Gmail lists has such an id
			s.Logger.WarnContext(ctx, "Gmail takes the id of a stored message for none", "account", s.account.Email, "message",
				id, "error", fault)
			one.gone, fault = true, nil
		}
		switch {
		case fault == nil:
			read = append(read, one)
		case !ofMessage(fault):
			return read, fault
		default:
			err = errors.Join(err, fault)
		}
	}
	return read, err
}

// ofMessage reports whether an error may be of one message alone. A whole Gmail that fails fails at each message as
// well.
func ofMessage(err error) bool {
	switch gmailapi.ClassOf(err) {
	case gmailapi.ClassServer, gmailapi.ClassInvalid, gmailapi.ClassPrecondition, gmailapi.ClassAnswer:
		return true
	}
	return false
}

// leaveUnread stops verifying messages that could not be read in all the attempts of a job. They stay as they are
// stored, until the history or the next reconciliation.
func (s *reconcileStep) leaveUnread(ctx context.Context, cause error) (applyFunc, error) {
	ids, err := s.runs().suspects(ctx, s.account.ID)
	if err != nil {
		return nil, err
	}
	s.Logger.WarnContext(ctx, "messages cannot be read at Gmail, and stay as they are stored", "account",
		s.account.Email, "messages", ids, "error", cause)
	return func(ctx context.Context, tx queue.Tx, _ *queue.Queue) error {
		for _, id := range ids {
			if err := s.runs().dropSuspect(ctx, tx, s.account.ID, id); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// readSuspect returns the stored message even with an error.
func (s *reconcileStep) readSuspect(ctx context.Context, id string) (suspect, error) {
	before, err := s.Store.Copies().State(ctx, s.account.ID, id)
	if err != nil {
		return suspect{providerID: id}, err
	}
	state, err := s.client.State(ctx, id)
	gone := errors.Is(err, postroom.ErrMessageGone)
	if gone {
		err = nil
	}
	return suspect{providerID: id, before: before, state: state, gone: gone}, err
}

// settle makes the stored message equal to the one that was read.
func (s *reconcileStep) settle(ctx context.Context, tx queue.Tx, q *queue.Queue, one suspect) error {
	now, err := s.Store.Copies().LockState(ctx, tx, s.account.ID, one.providerID)
	if err != nil {
		return err
	}
	if !one.before.Same(now) {
		return nil
	}
	if err := s.runs().dropSuspect(ctx, tx, s.account.ID, one.providerID); err != nil {
		return err
	}
	switch {
	case one.gone:
		deleted, err := s.deleted(ctx, tx, DeletedEvent{AccountID: s.account.ID, ProviderID: one.providerID,
			Source: SourceReconcile})
		if deleted {
			s.run.Deleted++
		}
		return err
	case now == nil && one.state.HistoryID >= s.run.Since: // several changes may have the id of the cursor
		return s.enqueueIngests(ctx, tx, q, []queue.NewJob{s.run.ingest(one.providerID)})
	case now == nil:
		return nil
	}
	return s.relabel(ctx, tx, *now, one)
}

func (s *reconcileStep) relabel(ctx context.Context, tx queue.Tx, now mailstore.MessageState, one suspect) error {
	was, err := now.Snapshot()
	if err != nil {
		return err
	}
	if err := s.Store.Copies().ReplaceLabels(ctx, tx, s.account.ID, now.ID, one.state); err != nil {
		return err
	}
	if now.Deleted {
		s.run.Restored++
	}
	change := one.state.Snapshot.ChangeFrom(was)
	if change.IsZero() {
		return nil
	}
	s.run.Relabelled++
	return s.labelsChanged(ctx, tx, LabelsEvent{
		AccountID: s.account.ID, MessageID: now.ID, ProviderID: one.providerID, Source: SourceReconcile,
		HistoryID: one.state.HistoryID, Change: change, Labels: one.state.Snapshot,
	})
}
