package drafting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// JobLabels makes the labels of a thread those of the state of its reply. Only this package enqueues it.
const JobLabels queue.Type[LabelsWork] = "reply_labels"

// A LabelsWork is the payload of a [JobLabels].
type LabelsWork struct {
	AccountID string        `json:"account_id"`
	ThreadID  string        `json:"thread_id"` // Gmail's
	Need      int64         `json:"need,omitempty"`
	State     replies.State `json:"state,omitempty"` // nothing is done if it has passed
	Add       button        `json:"add,omitempty"`   // put on, and the others are taken off
	Clear     button        `json:"clear,omitempty"` // only this one is taken off, unless it is pressed again
}

// enqueueLabels enqueues the job of a change of state, or of a late label, which the cause names.
func (s *Service) enqueueLabels(ctx context.Context, tx queue.Tx, p LabelsWork, cause string) error {
	_, err := s.cfg.Queue.EnqueueTx(ctx, tx, JobLabels.New(p, &queue.Options{
		MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(p.AccountID),
		Key: queue.Forever(joined(string(JobLabels), p.AccountID, p.ThreadID, string(p.State), string(p.Clear), cause)),
	}))
	return err
}

func (s *Service) label(ctx context.Context, w *queue.Work[LabelsWork]) error {
	if err := s.held(ctx, w.Attempt); err != nil {
		return err
	}
	p := w.Payload
	l := labelling{Service: s, attempt: w.Attempt, work: p, threadKey: threadKey{p.AccountID, p.ThreadID}}
	if p.Clear != "" {
		return gmailapi.Verdict(l.clear(ctx))
	}
	return gmailapi.Verdict(l.show(ctx))
}

// A labelling changes the labels of a thread.
type labelling struct {
	*Service
	threadKey
	attempt *queue.Attempt
	work    LabelsWork

	ids      labelIDs
	messages []*postroom.Message
}

func (l *labelling) read(ctx context.Context) (err error) {
	if l.ids, err = l.labelIDs(ctx, l.accountID); err == nil {
		l.messages, err = l.Service.messages(ctx, l.threadKey)
	}
	return err
}

// current returns the reply, and whether the labels are to be those of the job.
func (l *labelling) current(ctx context.Context) (r replies.Reply, is bool, err error) {
	r, err = l.cfg.Replies.Reply(ctx, l.accountID, l.threadID)
	if errors.Is(err, postroom.ErrNotFound) {
		return r, false, nil
	}
	return r, err == nil && r.Need == l.work.Need && r.State == l.work.State, err
}

func (l *labelling) show(ctx context.Context) error {
	r, is, err := l.current(ctx)
	if err != nil || !is {
		return err
	}
	if err := l.read(ctx); err != nil {
		return err
	}
	add := ""
	if l.work.Add == waiting { // an answer may have come meanwhile
		state, err := l.button(ctx, l.cfg.Store.DB().Reader(), waiting)
		if err != nil {
			return err
		}
		if !state.Pressed {
			l.work.Add = ""
		}
	}
	if l.work.Add != "" {
		if add, err = l.ensure(ctx, l.work.Add); err != nil {
			return err
		}
	}
	var seen position
	keep, err := l.again(ctx, &seen)
	if err != nil {
		return err
	}
	on := l.shownOn(&r)
	if l.work.Add == needsResponse {
		if err := l.attempt.Write(ctx, l.pressOurs); err != nil {
			return err
		}
	}
	for _, m := range l.messages {
		change := postroom.LabelChange{Remove: l.remove(m, keep)}
		if m == on {
			change.Remove = append(change.Remove, l.unseen(m)...)
		}
		if m == on && add != "" && !m.HasLabel(add) {
			change.Add = []string{add}
		}
		if err := l.change(ctx, l.attempt, m, change); err != nil {
			return err
		}
	}
	if seen.taken = true; seen.historyID != 0 && !keep {
		if _, err := l.again(ctx, &seen); err != nil {
			return err
		}
	}
	if _, is, err = l.current(ctx); err != nil || is || on == nil || add == "" {
		return err
	}
	return l.takeBack(ctx, on, add)
}

// takeBack takes off a label of a state that has ended while it was put on.
func (l *labelling) takeBack(ctx context.Context, m *postroom.Message, label string) error {
	r, err := l.cfg.Replies.Reply(ctx, l.accountID, l.threadID)
	if err != nil || !r.State.Ended() {
		return err
	}
	return l.change(ctx, l.attempt, m, postroom.LabelChange{Remove: []string{label}})
}

// shownOn returns the message that shows the state: the one that is answered, or else the newest.
func (l *labelling) shownOn(r *replies.Reply) (on *postroom.Message) {
	for _, m := range l.messages {
		if m.ProviderID == r.MessageID {
			return m
		}
		if !isDraft(m) {
			on = m
		}
	}
	return on
}

// remove lists the labels of this package that a message has and that the state has not. Waiting is the person's, and
// Done is taken off once the thread is archived. keepRework is for one that was put on again.
func (l *labelling) remove(m *postroom.Message, keepRework bool) (ids []string) {
	for _, id := range m.LabelIDs {
		b, ours := l.ids[id]
		if b == reworkButton && keepRework {
			continue
		}
		if ours && b != l.work.Add && (b != waiting && b != doneButton || l.work.State == replies.Archived) {
			ids = append(ids, id)
		}
	}
	return ids
}

// unseen lists the labels of earlier states that a job may have put on the message though none is stored: a sync that
// read the message meanwhile leaves that to the next one.
func (l *labelling) unseen(m *postroom.Message) (ids []string) {
	for _, b := range []button{outboxLabel, actionRequired} {
		if id := l.ids.of(b); id != "" && b != l.work.Add && !m.HasLabel(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// clear takes off a label that came late, of a press whose work is done.
func (l *labelling) clear(ctx context.Context) error {
	state, err := l.button(ctx, l.cfg.Store.DB().Reader(), l.work.Clear)
	if err != nil || state.Pressed {
		return err
	}
	if err := l.read(ctx); err != nil {
		return err
	}
	id := l.ids.of(l.work.Clear)
	for _, m := range l.messages {
		if id != "" && m.HasLabel(id) {
			if err := l.change(ctx, l.attempt, m, postroom.LabelChange{Remove: []string{id}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// again looks in the history for a label Rework that a person has put on after the work for the last one began, and
// that no sync has read yet. on reports whether it is on: it stays then, and the button is pressed.
func (l *labelling) again(ctx context.Context, p *position) (on bool, err error) {
	id := l.ids.of(reworkButton)
	if id == "" {
		return false, nil
	}
	if p.historyID == 0 {
		state, err := l.button(ctx, l.cfg.Store.DB().Reader(), reworkButton)
		if err != nil || state.Pressed || state.HistoryID == 0 {
			return false, err
		}
		p.historyID = uint64(state.HistoryID)
	}
	at, on, err := l.lastPress(ctx, id, p)
	if gmailapi.ClassOf(err) == gmailapi.ClassHistoryExpired {
		return false, nil
	}
	// Once the job has taken labels off, one that was put on and is off was taken off by the job: together they would be
	// no change, and nobody would hear of it.
	if err != nil || at == 0 || !on && !p.taken {
		return false, err
	}
	return on, l.attempt.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return l.press(ctx, tx, press{threadKey: l.threadKey, button: reworkButton, historyID: at,
			cause: fmt.Sprintf("label:%d", at)})
	})
}

// A position is up to where a labelling has read the history; 0 if it has not.
type position struct {
	historyID uint64
	taken     bool // labels were taken off since
}

// lastPress returns the change of the history after the position that has put a label on a message of the thread last,
// 0 if none has, and whether one of those labels is on still.
func (l *labelling) lastPress(ctx context.Context, label string, p *position) (at uint64, on bool, err error) {
	client, err := gmailapi.FindClient(ctx, l.cfg.Clients, l.accountID)
	if err != nil {
		return 0, false, err
	}
	isOn := make(map[string]bool)
	for _, m := range l.messages {
		isOn[m.ProviderID] = false
	}
	for token := ""; ; {
		page, err := client.ListHistory(ctx, p.historyID, token)
		if err != nil {
			return 0, false, err
		}
		for _, e := range page.Events {
			if _, ours := isOn[e.MessageID]; !ours || !slices.Contains(e.LabelIDs, label) {
				continue
			}
			if isOn[e.MessageID] = e.Kind == gmailapi.LabelsAdded; isOn[e.MessageID] {
				at = e.HistoryID
			}
		}
		if token = page.NextPageToken; token == "" {
			p.historyID = max(p.historyID, page.HistoryID)
			return at, slices.Contains(slices.Collect(maps.Values(isOn)), true), nil
		}
	}
}

// ensure returns the id of a label, which is made if it is missing.
func (l *labelling) ensure(ctx context.Context, b button) (string, error) {
	if id := l.ids.of(b); id != "" {
		return id, nil
	}
	client, err := gmailapi.FindClient(ctx, l.cfg.Clients, l.accountID)
	if err != nil {
		return "", err
	}
	label, err := client.CreateColoredLabel(ctx, l.cfg.Labels.name(b), colors[b])
	if err != nil {
		return "", err
	}
	l.ids[label.ID] = b
	return label.ID, l.attempt.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return l.cfg.Store.SaveLabel(ctx, tx, l.accountID, label)
	})
}

// change changes the labels of a message at Gmail and stores that as a change of this program. A message that is gone
// has none.
func (s *Service) change(ctx context.Context, w *queue.Attempt, m *postroom.Message,
	change postroom.LabelChange) error {
	if change.IsZero() {
		return nil
	}
	store, err := s.mailbox.Follow(ctx, m.AccountID, m.ID)
	if err != nil {
		return err
	}
	after, err := s.mailbox.Apply(ctx, m.AccountID, m.ID, change)
	if errors.Is(err, postroom.ErrMessageGone) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return store(ctx, tx, change, after) })
}
