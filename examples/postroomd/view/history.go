package view

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/safety"
)

// An Event is one thing that happened to a message, in the words of a person.
type Event struct {
	At     time.Time     `json:"at"`
	What   string        `json:"what"`
	Why    string        `json:"why,omitempty"`    // may be empty
	Action *ListedAction `json:"action,omitempty"` // nil: it is no action
}

// NewHistory reads why a message is where it is: what was decided, what the gate and people said, and what was done and
// taken back, oldest first.
func NewHistory(ctx context.Context, h *app.App, m *postroom.Message) ([]Event, error) {
	filter := safety.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: 100}
	entries, err := h.Ledger.Actions(ctx, filter)
	if err != nil {
		return nil, err
	}
	decisions, err := h.Ledger.Decisions(ctx, filter)
	if err != nil {
		return nil, err
	}
	names, err := namesOf(ctx, h, entries)
	if err != nil {
		return nil, err
	}
	events := []Event{{At: m.ReceivedAt, What: "It came"}}
	for _, d := range decisions {
		events = append(events, decisionEvents(d, names)...)
	}
	for _, e := range slices.Backward(entries) {
		of, err := actionEvents(ctx, h, e, names)
		if err != nil {
			return nil, err
		}
		events = append(events, of...)
	}
	drafts, err := draftHistory(ctx, h, m)
	if err != nil {
		return nil, err
	}
	unanswered, err := unansweredEvents(ctx, h, m)
	if err != nil {
		return nil, err
	}
	events = slices.Concat(events, drafts, unanswered)
	slices.SortStableFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
	return events, nil
}

// unansweredEvents are why it was not answered while its owner was away.
func unansweredEvents(ctx context.Context, h *app.App, m *postroom.Message) ([]Event, error) {
	why, at, err := away.Unanswered(ctx, h.DB, m.AccountID, m.ID)
	if err != nil || why == "" {
		return nil, err
	}
	return []Event{{At: at, What: "It was not answered while you were away", Why: printer.Printable(why)}}, nil
}

// decisionEvents are what was decided, and what the gate said.
func decisionEvents(d safety.DecisionRecord, names app.LabelNames) []Event {
	v := NewDecision(d, names)
	words := InWords(postroom.Action{AccountID: d.AccountID, Type: v.Action, Parameters: v.Parameters}, names)
	decided := Event{At: v.CreatedAt, What: "Decided by " + v.By() + ": " + words, Why: v.Rationale}
	if v.Action == postroom.None && v.Source == postroom.SourceNone {
		decided.What = "No rule matched, and it was left as it is"
	}
	if !v.NeedsApproval {
		return []Event{decided}
	}
	return []Event{decided, {At: v.CreatedAt, What: "The gate asked a person", Why: strings.Join(v.Reasons, "; ")}}
}

// actionEvents are what people answered about an action, and what became of it.
func actionEvents(ctx context.Context, h *app.App, e safety.Entry, names app.LabelNames) ([]Event, error) {
	if e.Action.Type == postroom.None {
		return nil, nil
	}
	requests, err := h.Ledger.ApprovalsOf(ctx, e.Action.ID)
	if err != nil {
		return nil, err
	}
	var events []Event
	for _, r := range requests {
		if r.Outcome != safety.OutcomeWaiting {
			events = append(events, Event{At: r.DecidedAt, What: printer.Printable(answerWords(r)),
				Why: printer.Unless(r.ReplacedBy != "", r.Why)})
		}
	}
	listed, err := newListedAction(ctx, h, e, names, nil)
	if err != nil {
		return nil, err
	}
	return append(events, Event{At: listed.At, What: listed.Did, Why: listed.Error, Action: &listed}), nil
}

func answerWords(r safety.Approval) string {
	if r.ReplacedBy != "" {
		return "What it sends was edited by " + r.Approver
	}
	words := map[safety.Outcome]string{safety.OutcomeApproved: "Approved", safety.OutcomeRejected: "Rejected"}[r.Outcome]
	if words == "" {
		return "The request ended: " + string(r.Outcome)
	}
	if r.Approver != "" {
		words += " by " + r.Approver
	}
	return words
}
