package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/ruleschat"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// DraftRule returns a rule about mail like a message, which goes before the rule that decides about it now, and whose
// name none of the rules has. Nothing is saved. An order that no draft can follow is a [usage.Error].
func (h *App) DraftRule(ctx context.Context, m *postroom.Message, action postroom.ActionType, label string,
	among []rules.Rule) (rules.Rule, error) {
	explained, err := h.Engine.Explain(ctx, m)
	if err != nil {
		return rules.Rule{}, err
	}
	order := ruledraft.Order{Action: action, Label: label, Decider: ruledraft.DeciderOf(explained)}
	return ruledraft.Of(m, order, among)
}

// A Taught is the proposal of a rule that was drafted from one message.
type Taught struct {
	Session string // where it waits for a person; the proposal is its message number 1
	Rule    string // its name
	Changes []string
	Tried   *backtest.Report // of the mail of the last 90 days
}

const (
	taughtSince = 90 * 24 * time.Hour // the mail that the rule is tried on
	maxTaughtIn = time.Minute
)

// Teach proposes a rule that does an action to all mail like a message: of its list, or else of its sender. The rule
// waits for a person, and is not in force before. Without an action it does what has become of the message; see
// [App.becameOf]. label is the name of that of an action that has one. What cannot be taught is a [usage.Error].
func (h *App) Teach(ctx context.Context, account mailstore.Account, m *postroom.Message, action postroom.ActionType,
	label, by string) (*Taught, error) {
	if action == "" {
		var err error
		if action, label, err = h.becameOf(ctx, m); err != nil {
			return nil, err
		}
	}
	talk, err := h.BeginTalk(ctx, account)
	if err != nil {
		return nil, err
	}
	rule, err := h.DraftRule(ctx, m, action, label, talk.current.Rules)
	if err != nil {
		return nil, err
	}
	trying, cancel := context.WithTimeout(ctx, maxTaughtIn)
	defer cancel()
	text := string(rulesfile.Marshal(rulesfile.FileOf([]rules.Rule{rule})))
	p, tried, err := talk.Offer(trying, ruleschat.Offer{By: by, Rules: text}, "Taught from the message "+m.ProviderID+".",
		time.Now().Add(-taughtSince))
	if err != nil {
		return nil, err
	}
	return &Taught{Session: talk.Session.ID, Rule: rule.Name, Changes: p.Rules, Tried: tried}, nil
}

// becameOf returns what is to be done with all mail like a message: what a request for approval asks for that waits,
// or else what the message shows: a label, and whether it left the inbox, or a star. If that is not one thing, the
// error is a [usage.Error].
func (h *App) becameOf(ctx context.Context, m *postroom.Message) (action postroom.ActionType, label string, err error) {
	labels, err := h.Mail.Labels(ctx, m.AccountID)
	if err != nil {
		return "", "", err
	}
	names := map[string]string{}
	for _, l := range labels {
		if l.Type == postroom.LabelUser && !h.isButton(l.Name) {
			names[l.ID] = l.Name
		}
	}
	waiting, err := h.Ledger.Actions(ctx, safety.Filter{AccountID: m.AccountID, MessageID: m.ID,
		States: []postroom.ActionState{postroom.ActionPendingApproval}, Limit: 1})
	if err != nil {
		return "", "", err
	}
	if len(waiting) > 0 {
		a := waiting[0].Action
		id, _ := a.Parameters.Text(postroom.ParamLabel)
		return a.Type, names[id], nil
	}
	return shownBy(m, names)
}

// shownBy is what the labels of a message say; names has those that a rule may put on, by their ids.
func shownBy(m *postroom.Message, names map[string]string) (action postroom.ActionType, label string, err error) {
	var on []string
	for _, id := range m.LabelIDs {
		if name := names[id]; name != "" {
			on = append(on, name)
		}
	}
	inbox := m.HasLabel(postroom.LabelInbox)
	switch {
	case m.HasLabel(postroom.LabelTrash) || m.HasLabel(postroom.LabelSpam) || m.HasLabel(postroom.LabelSent):
		return "", "", usage.Errorf("A rule from a message does not throw mail away, and is about mail that comes: " +
			"write one yourself.")
	case len(on) > 1:
		return "", "", usage.Errorf("The message has several labels: %s. Say what to do with such mail, and with which.",
			strings.Join(on, ", "))
	case len(on) == 1 && inbox:
		return postroom.ApplyLabel, on[0], nil
	case len(on) == 1:
		return postroom.Move, on[0], nil
	case !inbox:
		return postroom.Archive, "", nil
	case m.HasLabel(postroom.LabelStarred):
		return postroom.Star, "", nil
	}
	return "", "", usage.Errorf("Nothing was done to the message that a rule could do: say what to do with such mail, " +
		"or label, move or archive it first.")
}

// isButton reports whether a label is one by which a person and the program talk.
func (h *App) isButton(name string) bool {
	return slices.ContainsFunc(append(h.buttons(), h.Env.Config.Gmail.SnoozeLabel), func(button string) bool {
		return button != "" && gmailapi.SameLabelName(name, button)
	})
}

// screenerLabel is that of the stock rule Screener. A person takes it off once the sender is dealt with.
const screenerLabel = "Screener"

// buttons are the names of the labels by which a person and the program talk.
func (h *App) buttons() []string {
	names := append(slices.Clip(h.draftingLabels().Names()), screenerLabel)
	if teach := h.Env.Config.Learn.TeachLabel; teach != "" {
		names = append(names, teach)
	}
	return names
}

// jobTeach proposes a rule from a message on which a person has put the label Teach.
const jobTeach queue.Type[teachWork] = "learn.teach"

type teachWork struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"`
}

// followTeach has a rule proposed from each message on which a person puts the label Teach. Nothing is proposed in
// a dry run.
func (h *App) followTeach(cfg *gmail.Config) (labels []string) {
	name := h.Env.Config.Learn.TeachLabel
	if name == "" || h.Env.Config.Safety.DryRun {
		return nil
	}
	next := cfg.OnLabelsChanged
	cfg.OnLabelsChanged = func(ctx context.Context, tx queue.Tx, e gmail.LabelsEvent) error {
		if err := h.labelTeaches(ctx, tx, name, &e); err != nil || next == nil {
			return err
		}
		return next(ctx, tx, e)
	}
	return []string{name}
}

// labelTeaches enqueues the job, if the label was put on: one for a conversation, all of whose messages get the label,
// about a message of it that the person has not written.
func (h *App) labelTeaches(ctx context.Context, tx queue.Tx, name string, e *gmail.LabelsEvent) error {
	if len(e.Change.Add) == 0 || e.Labels.Has(postroom.LabelSent) || e.Labels.Has(postroom.LabelDraft) {
		return nil
	}
	labels, err := h.Mail.LabelsTx(ctx, tx, e.AccountID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(labels, func(l postroom.Label) bool {
		return gmailapi.SameLabelName(l.Name, name) && slices.Contains(e.Change.Add, l.ID)
	}) {
		return nil
	}
	_, err = h.Queue.EnqueueTx(ctx, tx, jobTeach.New(teachWork{e.AccountID, e.MessageID}, &queue.Options{
		LimitKey: mailstore.LimitKey(e.AccountID),
		Key:      queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", jobTeach, e.AccountID, e.ThreadID))}))
	return err
}

func (h *App) registerTeach(d *queue.Dispatcher) {
	queue.Handle(d, jobTeach, func(ctx context.Context, w *queue.Work[teachWork]) error {
		account, err := h.Mail.Account(ctx, w.Payload.AccountID)
		if err != nil {
			return gone(err)
		}
		m, err := h.Mail.Message(ctx, account.ID, w.Payload.MessageID)
		if err != nil {
			return gone(err)
		}
		_, err = h.Teach(ctx, account, m, "", "", lessons.ByHand)
		if _, ok := errors.AsType[usage.Error](err); ok {
			return queue.Fatal(err) // what a person is to say differently; the job says so
		}
		return err
	})
}

// gone drops the error that a mailbox or a message is not there any more: there is nothing to learn from it.
func gone(err error) error {
	if errors.Is(err, postroom.ErrNotFound) {
		return nil
	}
	return err
}
