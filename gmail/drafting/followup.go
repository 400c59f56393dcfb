package drafting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// JobFollowUp puts a thread in which nobody has answered back into the inbox. Only this package enqueues it.
const JobFollowUp queue.Type[FollowUpWork] = "follow_up"

// A FollowUpWork is the payload of a [JobFollowUp]. Nothing is done unless the label Waiting is on since HistoryID and
// since that Press.
type FollowUpWork struct {
	AccountID string    `json:"account_id"`
	ThreadID  string    `json:"thread_id"` // Gmail's
	HistoryID int64     `json:"history_id"`
	Press     int64     `json:"press,omitempty"` // counts how often the label was put on
	Since     time.Time `json:"since"`           // when the waiting began: with the label, or with the person's last message
}

// wait begins to wait for an answer: the button is pressed.
func (s *Service) wait(ctx context.Context, tx queue.Tx, p press, state buttonState) error {
	if p.since.IsZero() {
		p.since = queue.Now(tx)
	}
	return s.enqueueFollowUp(ctx, tx, FollowUpWork{AccountID: p.accountID, ThreadID: p.threadID,
		HistoryID: max(state.HistoryID, int64(p.historyID)), Press: state.Presses + 1, Since: p.since}, p.cause)
}

// Acted follows an action that was carried out: one that puts the label Waiting on begins to wait. Pass it as
// [gmail.Config].OnActed.
func (s *Service) Acted(ctx context.Context, tx queue.Tx, a postroom.Action, threadID string) error {
	label, named := a.Parameters.Text(postroom.ParamLabel)
	if s.cfg.FollowUp == 0 || !named || a.Type != postroom.ApplyLabel && a.Type != postroom.Move {
		return nil
	}
	ids, err := s.labelIDsTx(ctx, tx, a.AccountID)
	if err != nil || ids[label] != waiting && !gmailapi.SameLabelName(label, s.cfg.Labels.Waiting) {
		return err
	}
	_, err = s.waitFor(ctx, tx, press{threadKey: threadKey{a.AccountID, threadID}, cause: "action:" + a.ID})
	return err
}

// waitFor begins to wait for an answer, unless the thread waits.
func (s *Service) waitFor(ctx context.Context, tx queue.Tx, p press) (began bool, err error) {
	state, err := p.lockButton(ctx, tx, waiting)
	if err != nil || state.Pressed {
		return false, err
	}
	if err := s.wait(ctx, tx, p, state); err != nil {
		return false, err
	}
	return true, p.setButton(ctx, tx, waiting, true, p.historyID)
}

// waitForSent begins to wait for an answer to a message that the person has sent, unless it is there: a message may be
// noticed long after it was sent. One that is not stored yet was sent just now.
func (s *Service) waitForSent(ctx context.Context, tx queue.Tx, p press, sentID string) (began bool, err error) {
	messages, err := s.cfg.Store.ThreadMessagesTx(ctx, tx, p.accountID, p.threadID)
	if err != nil {
		return false, err
	}
	is := func(m *postroom.Message) bool { return m.ProviderID == sentID }
	if at := slices.IndexFunc(messages, is); at >= 0 {
		var answered bool
		if p.since, answered = waitsSince(messages, messages[at].ReceivedAt); answered {
			return false, nil
		}
	}
	return s.waitFor(ctx, tx, p)
}

func (s *Service) enqueueFollowUp(ctx context.Context, tx queue.Tx, p FollowUpWork, cause string) error {
	job := JobFollowUp.New(p, &queue.Options{
		MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(p.AccountID),
		Key: queue.Forever(joined(string(JobFollowUp), p.AccountID, p.ThreadID, cause)),
	})
	job.NotBefore = p.Since.Add(s.cfg.FollowUp)
	_, err := s.cfg.Queue.EnqueueTx(ctx, tx, job)
	return err
}

// answered ends the waiting in the thread of a message of another that has arrived.
func (s *Service) answered(ctx context.Context, tx queue.Tx, msg *postroom.Message) error {
	t := threadKey{msg.AccountID, msg.ProviderThreadID}
	state, err := t.button(ctx, tx, waiting)
	if err != nil || !state.Pressed || !isAnswer(msg) {
		return err
	}
	return s.endWaiting(ctx, tx, t, 0, "message:"+msg.ProviderID)
}

// endWaiting releases the button, and has its label taken off.
func (s *Service) endWaiting(ctx context.Context, tx queue.Tx, t threadKey, since uint64, cause string) error {
	if err := t.release(ctx, tx, since, waiting); err != nil {
		return err
	}
	return s.enqueueLabels(ctx, tx, LabelsWork{AccountID: t.accountID, ThreadID: t.threadID, Clear: waiting}, cause)
}

// isAnswer reports whether another person has written a message: no program, such as that of somebody who is away. A
// person may answer on a list, or by a service that wants no automatic replies.
func isAnswer(m *postroom.Message) bool {
	if m.HasLabel(postroom.LabelSent) || isDraft(m) {
		return false
	}
	header := make(mime.Header, len(m.Headers))
	for i, f := range m.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return !slices.ContainsFunc(header.Automatic(), func(s mime.AutomaticSign) bool {
		switch s.Kind {
		case mime.AutoReply, mime.AutoGenerated, mime.AutoReport, mime.Challenge:
			return true
		}
		return false
	})
}

func (s *Service) followUp(ctx context.Context, w *queue.Work[FollowUpWork]) error {
	p := w.Payload
	t := threadKey{p.AccountID, p.ThreadID}
	if waits, err := s.waits(ctx, s.cfg.Store.DB().Reader(), t, p); err != nil || !waits {
		return err
	}
	if err := s.held(ctx, w.Attempt); err != nil {
		return err
	}
	messages, err := s.messages(ctx, t)
	if err != nil {
		return err
	}
	on, err := s.labelled(ctx, messages, waiting)
	if err != nil {
		return err
	}
	messages = slices.DeleteFunc(messages, isDraft)
	var list []back
	switch since, answered := waitsSince(messages, p.Since); {
	case answered || len(messages) == 0 || !on: // an undo takes the label off as well
		messages = nil
	case since.After(p.Since):
		p.Since = since
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			return s.enqueueFollowUp(ctx, tx, p, joined("since", w.Job.ID))
		})
	default:
		if list, err = s.backToInbox(ctx, w.Attempt, messages[len(messages)-1], p); err != nil {
			return gmailapi.Verdict(err)
		}
	}
	position, err := s.position(ctx, w.Attempt, p.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if waits, err := s.waits(ctx, tx, t, p); err != nil || !waits {
			return err
		}
		if err := s.comesBack(ctx, tx, list, s.toNudge(messages)); err != nil {
			return err
		}
		return s.endWaiting(ctx, tx, t, position, w.Job.ID)
	})
}

// comesBack has a thread come back, with a draft of a reminder of a message or else with the label Action Required.
func (s *Service) comesBack(ctx context.Context, tx queue.Tx, list []back, m *postroom.Message) error {
	reminds, err := s.beginNudge(ctx, tx, m)
	for _, b := range list {
		if err == nil && (!reminds || b.label == postroom.LabelInbox) {
			_, err = b.record(ctx, tx)
		}
	}
	return err
}

// labelled reports whether a message has the label of a button.
func (s *Service) labelled(ctx context.Context, messages []*postroom.Message, b button) (bool, error) {
	if len(messages) == 0 {
		return false, nil
	}
	ids, err := s.labelIDs(ctx, messages[0].AccountID)
	return slices.ContainsFunc(messages, func(m *postroom.Message) bool { return m.HasLabel(ids.of(b)) }), err
}

// waits reports whether the waiting of a job has not ended.
func (s *Service) waits(ctx context.Context, q dbquery.Querier, t threadKey, p FollowUpWork) (bool, error) {
	state, err := t.button(ctx, q, waiting)
	return state.Pressed && state.Presses == p.Press && state.HistoryID == p.HistoryID, err
}

// waitsSince returns when the person has last written after an instant, or the instant, and whether another has
// answered since then.
func waitsSince(messages []*postroom.Message, since time.Time) (last time.Time, answered bool) {
	for _, m := range messages {
		switch {
		case !m.ReceivedAt.After(since):
		case m.HasLabel(postroom.LabelSent):
			since, answered = m.ReceivedAt, false
		case isAnswer(m):
			answered = true
		}
	}
	return since, answered
}

// A back is an action that brings a message back.
type back struct {
	label  string
	record func(ctx context.Context, tx queue.Tx) (postroom.Action, error)
}

// backToInbox records what brings a message back, as actions, which can be undone.
func (s *Service) backToInbox(ctx context.Context, w *queue.Attempt, m *postroom.Message, p FollowUpWork) (
	list []back, err error) {
	l := labelling{Service: s, attempt: w, threadKey: threadKey{p.AccountID, p.ThreadID}}
	if l.ids, err = s.labelIDs(ctx, p.AccountID); err != nil {
		return nil, err
	}
	required, err := l.ensure(ctx, actionRequired)
	if err != nil {
		return nil, err
	}
	for _, label := range []string{required, postroom.LabelInbox} {
		if m.HasLabel(label) {
			continue
		}
		list = append(list, back{label, s.cfg.Record(ctx, m, postroom.Decision{
			Action: postroom.ApplyLabel, Parameters: postroom.Parameters{postroom.ParamLabel: label},
			Confidence: 1, Source: postroom.SourceHost, Key: joined(string(JobFollowUp), w.Job.ID, label),
			Rationale: fmt.Sprintf("Nobody has answered since %s; the label %s was on", p.Since.UTC().Format(time.DateOnly),
				s.cfg.Labels.Waiting),
		})})
	}
	return list, nil
}
