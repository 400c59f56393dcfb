package pipeline

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/senders"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/activity"
	"github.com/postroom-go/postroom/safety/events"
)

// Learn configures what is learned from corrections.
type Learn struct {
	// Apply is that of [lessons.Config]. Default nil: no rule is applied before a person has accepted it.
	Apply func(ctx context.Context, id string) error
	// SharesRules is that of [lessons.Account], for the mailbox of an address. Default nil: each has rules of its own.
	SharesRules func(ctx context.Context, email string) (bool, error)
	// Buttons are the names of labels by which a person tells the program to do something, or it tells the person. They
	// say nothing about where mail belongs, and are not learned. The label of snoozed messages is among them. Default nil.
	Buttons []string
}

// learnWeekly is when rules are learned: before the working week, while nobody works.
const learnWeekly = "17 4 * * 1"

func (p *Pipeline) openLessons() (err error) {
	if p.cfg.Learn == nil {
		return nil
	}
	p.Lessons, err = lessons.New(lessons.Config{DB: p.DB, Mail: learnedMail{p.Mail}, Account: p.learnsFrom,
		Rules: p.rulesInUse, Labels: p.labelsToLearn, Apply: p.cfg.Learn.Apply, Kinds: p.cfg.Kinds, Senders: p.known,
		History: senders.History{Store: p.Mail}, Logger: p.cfg.Logger, Acted: acted,
		Thread: p.Mail.Copies().ProviderThreadID, Drifted: p.drifted, From: p.sendersOf})
	return err
}

// sendersOf returns the addresses of the senders of messages.
func (p *Pipeline) sendersOf(ctx context.Context, accountID string, messageIDs []string) (map[string]string, error) {
	headlines, err := p.Mail.Headlines(ctx, accountID, messageIDs)
	from := make(map[string]string, len(headlines))
	for id, h := range headlines {
		from[id] = h.Sender
	}
	return from, err
}

func acted(ctx context.Context, tx queue.Tx, q lessons.Acting) ([]string, error) {
	return activity.Acted(ctx, tx, activity.Actor{AccountID: q.AccountID, RuleID: q.RuleID, RuleVersion: q.RuleVersion},
		q.Since, q.Most)
}

// drifted puts on record that a rule or the models warn or ask, which tells people, or do not any more since the
// corrections were made in bulk.
func (p *Pipeline) drifted(ctx context.Context, tx queue.Tx, d lessons.Drift) error {
	e := driftEvent(events.DriftWarns, &d, "postroom")
	switch d.State {
	case lessons.DriftAsks:
		e.Kind = events.DriftAsks
	case lessons.DriftRight:
		e.Kind = events.DriftEnded
		e.Why = d.Named() + ": the corrections were made in bulk, and do not count until somebody says whose they were"
	}
	return p.Ledger.Events().Add(ctx, tx, e)
}

func driftEvent(kind events.Kind, d *lessons.Drift, by string) events.Event {
	source := postroom.SourceModel
	if d.RuleID != "" {
		source = postroom.SourceDeterministic
	}
	return events.Event{Kind: kind, AccountID: d.AccountID, Source: source, By: by, Why: d.Named() + ": " + d.Why()}
}

// RightAgain ends the warning of a rule or, without an id, of the models of an account, and that people are asked about
// what it decides. by is the person. If there is nothing to end, the error is [lessons.ErrRight].
func (p *Pipeline) RightAgain(ctx context.Context, accountID, ruleID, by string) error {
	return p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		d, err := p.Lessons.RightAgain(ctx, tx, accountID, ruleID, by)
		if err != nil {
			return err
		}
		return p.Ledger.Events().Add(ctx, tx, driftEvent(events.DriftEnded, &d, by))
	})
}

// drifts are those of the lessons, if there are any.
type drifts struct{ p *Pipeline }

// Asks implements the Drifts of package safety.
func (d drifts) Asks(ctx context.Context, tx queue.Tx, accountID string, decision postroom.Decision) (string, error) {
	if d.p.Lessons == nil {
		return "", nil
	}
	return d.p.Lessons.Asks(ctx, tx, accountID, decision)
}

func (p *Pipeline) registerLessons(d *queue.Dispatcher) error {
	if p.Lessons == nil {
		return nil
	}
	return p.Lessons.Register(d)
}

func (p *Pipeline) learnsFrom(ctx context.Context, accountID string) (lessons.Account, error) {
	account, err := p.Mail.Account(ctx, accountID)
	if err != nil {
		return lessons.Account{}, err
	}
	shares := false
	if p.cfg.Learn.SharesRules != nil {
		shares, err = p.cfg.Learn.SharesRules(ctx, account.Email)
	}
	return lessons.Account{ID: account.ID, Email: account.Email, SharesRules: shares}, err
}

// rulesInUse lists the rules of an account, with those of all accounts.
func (p *Pipeline) rulesInUse(ctx context.Context, accountID string) ([]rules.Rule, error) {
	list, err := p.Rules.List(ctx)
	return slices.DeleteFunc(list, func(r rules.Rule) bool { return r.AccountID != "" && r.AccountID != accountID }), err
}

func (p *Pipeline) labelsToLearn(ctx context.Context, accountID string) ([]postroom.Label, error) {
	labels, err := p.Mail.Labels(ctx, accountID)
	return slices.DeleteFunc(labels, p.isButton), err
}

func (p *Pipeline) isButton(l postroom.Label) bool {
	return gmailapi.SameLabelName(l.Name, cmp.Or(p.cfg.Gmail.SnoozeLabel, gmail.DefaultSnoozeLabel)) ||
		slices.ContainsFunc(p.cfg.Learn.Buttons, func(name string) bool { return gmailapi.SameLabelName(l.Name, name) })
}

// learnedMail is the mail that is learned from.
type learnedMail struct{ *mailstore.Store }

func (m learnedMail) Messages(ctx context.Context, accountID string, since time.Time) iter.Seq2[*postroom.Message,
	error] {
	return m.AllMessages(ctx, accountID, mailstore.MessageRange{Since: since, SkipLabels: []string{postroom.LabelSent,
		postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}})
}

// labelsChanged is that of gmail.Config: a change by a person corrects the action on the message that it contradicts,
// or else what was done to it last.
func (p *Pipeline) labelsChanged(ctx context.Context, tx queue.Tx, e gmail.LabelsEvent) error {
	if p.Lessons != nil {
		if err := p.learnOfChange(ctx, tx, &e); err != nil {
			return err
		}
	}
	if p.cfg.Gmail.OnLabelsChanged == nil {
		return nil
	}
	return p.cfg.Gmail.OnLabelsChanged(ctx, tx, e)
}

func (p *Pipeline) learnOfChange(ctx context.Context, tx queue.Tx, e *gmail.LabelsEvent) error {
	byHand, err := p.byHand(ctx, tx, e)
	if err != nil {
		return err
	}
	labels, err := p.Mail.LabelsTx(ctx, tx, e.AccountID)
	if err != nil {
		return err
	}
	change := lessons.Change{AccountID: e.AccountID, MessageID: e.MessageID, Labels: e.Labels,
		Change: withoutLabels(byHand, func(id string) bool {
			return slices.ContainsFunc(labels, func(l postroom.Label) bool { return l.ID == id && p.isButton(l) })
		})}
	done, err := safety.LastDone(ctx, tx, e.AccountID, e.MessageID)
	if err != nil {
		return err
	}
	for i := range done { // a rule may archive a message and then mark it as read
		of := change
		of.Proposed = decidedOf(&done[i])
		contradicts := p.Lessons.Contradicts(&of)
		if i == 0 || contradicts {
			change = of
		}
		if contradicts {
			break
		}
	}
	return p.Lessons.LabelsChanged(ctx, tx, change)
}

// byHand returns the change without what an action explains that is executing: an attempt that was killed between its
// change at Gmail and the end of the action has changed the labels and not stored them.
func (p *Pipeline) byHand(ctx context.Context, tx queue.Tx, e *gmail.LabelsEvent) (postroom.LabelChange, error) {
	a, err := safety.Executing(ctx, tx, e.AccountID, e.MessageID)
	if err != nil || a == nil {
		return e.Change, err
	}
	kind, _ := p.cfg.Kinds.Kind(safety.Undone(a.Type))
	own := []string{postroom.LabelInbox, postroom.LabelTrash, postroom.LabelSpam} // of snoozes, wake-ups, deletions
	switch {
	case kind.Effect != nil:
		change := kind.Effect(a.Parameters).Change.WithLeaving(postroom.Snapshot{})
		own = slices.Concat(change.Add, change.Remove)
	case kind.Handler != nil:
		return postroom.LabelChange{}, nil // nobody knows what it changes
	}
	return withoutLabels(e.Change, func(id string) bool { return slices.Contains(own, id) }), nil
}

func withoutLabels(c postroom.LabelChange, out func(id string) bool) postroom.LabelChange {
	return postroom.LabelChange{Add: slices.DeleteFunc(slices.Clone(c.Add), out),
		Remove: slices.DeleteFunc(slices.Clone(c.Remove), out)}
}

// decidedOf returns what an action did, or what the action does that an undo takes back.
func decidedOf(e *safety.Entry) lessons.Decided {
	action := e.Action
	action.Type = safety.Undone(action.Type)
	return lessons.DecidedOf(action, e.Decision.Decision)
}

// answered is called after the answer to a request for approval.
func (p *Pipeline) answered(ctx context.Context, tx queue.Tx, request safety.Approval) error {
	p.telemetry.Answered(ctx, tx, request)
	if err := p.learnOfAnswer(ctx, tx, &request); err != nil {
		return err
	}
	return p.notify(ctx, tx, request)
}

func (p *Pipeline) learnOfAnswer(ctx context.Context, tx queue.Tx, request *safety.Approval) error {
	edited := request.Outcome == safety.OutcomeWithdrawn && request.ReplacedBy != "" && request.Approver != ""
	if p.Lessons == nil || request.Outcome == safety.OutcomeWithdrawn && !edited {
		return nil
	}
	e, err := p.Ledger.EntryTx(ctx, tx, request.ActionID)
	if err != nil {
		return fmt.Errorf("learn of the answer to %s: %w", request.ID, err)
	}
	if edited {
		return p.Lessons.Edited(ctx, tx, e.Action, decidedOf(&e), request.Approver)
	}
	return p.Lessons.Answered(ctx, tx, e.Action, decidedOf(&e), request.Outcome == safety.OutcomeApproved,
		request.Approver)
}

// undoRequested is that of undo.Config.
func (p *Pipeline) undoRequested(ctx context.Context, tx queue.Tx, original postroom.Action, by string) error {
	if p.Lessons == nil {
		return nil
	}
	e, err := p.Ledger.EntryTx(ctx, tx, original.ID)
	if err != nil {
		return fmt.Errorf("learn of the undo of %s: %w", original.ID, err)
	}
	if safety.IsUndo(original.Type) {
		return p.Lessons.Redone(ctx, tx, original, decidedOf(&e), by)
	}
	return p.Lessons.Undone(ctx, tx, original, decidedOf(&e), by)
}

func (p *Pipeline) forgetLessons(ctx context.Context, accountID string) error {
	return p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return lessons.Forget(ctx, tx, accountID) })
}
