package view

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/safety"
)

// A Deed is an action in the words of a person.
type Deed struct {
	ID      string               `json:"id"`
	Did     string               `json:"did"` // what was done, is to be done, or was not
	By      string               `json:"by"`  // the rule, the model, or nobody
	State   postroom.ActionState `json:"state"`
	Error   string               `json:"error,omitempty"`
	Sender  string               `json:"sender"`
	Subject string               `json:"subject"`
	At      time.Time            `json:"at"` // when it was done, or decided
}

// verbs are the standard actions as a person says them. %s is the label.
var verbs = map[postroom.ActionType]struct{ do, done string }{
	postroom.None:          {"leave as it is", "Left as it is"},
	postroom.Delete:        {"delete for ever", "Deleted for ever"},
	postroom.ApplyLabel:    {"label %s", "Labelled %s"},
	postroom.RemoveLabel:   {"take off the label %s", "Took off the label %s"},
	postroom.Move:          {"move to %s", "Moved to %s"},
	postroom.MarkRead:      {"mark as read", "Marked as read"},
	postroom.MarkUnread:    {"mark as unread", "Marked as unread"},
	postroom.Trash:         {"throw into the trash", "Thrown into the trash"},
	postroom.Restore:       {"take out of the trash", "Taken out of the trash"},
	postroom.Star:          {"star", "Starred"},
	postroom.Unstar:        {"take the star off", "Took the star off"},
	postroom.Archive:       {"archive", "Archived"},
	postroom.Snooze:        {"snooze", "Snoozed"},
	postroom.AddNote:       {"keep a note about it", "Kept a note about it"},
	filing.FileAttachments: {"keep its attached files", "Kept its attached files"},
	postroom.CreateTask:    {"make a task of it", "Made a task of it"},
	postroom.Escalate:      {"hand to you, with a label", "Handed to you, with a label"},
	agents.RunAgent:        {"have an agent work on it", "Had an agent work on it"},
	agent.Draft:            {"leave a draft of an answer", "Left a draft of an answer"},
	postroom.Forward:       {"forward", "Forwarded"},
	postroom.AutoReply:     {"answer", "Answered"},
}

// InWords says what an action does, as after "It would": "archive", or "label Receipts".
func InWords(a postroom.Action, names app.LabelNames) string {
	do, _ := inWords(a, names)
	return do
}

// inWords are the action before and after it was done.
func inWords(a postroom.Action, names app.LabelNames) (do, done string) {
	t := safety.Undone(a.Type)
	verb, ok := verbs[t]
	if !ok {
		verb.do, verb.done = strings.ReplaceAll(string(t), "_", " "), "Done: "+strings.ReplaceAll(string(t), "_", " ")
	}
	label, _ := a.Parameters.Text(postroom.ParamLabel)
	if label = names.Name(a.AccountID, label); label == "" {
		label = "of its own"
	}
	do, done = strings.ReplaceAll(verb.do, "%s", label), strings.ReplaceAll(verb.done, "%s", label)
	if t == postroom.Snooze {
		until := snoozeTime(a.Parameters)
		do, done = do+until, done+until
	}
	switch {
	case safety.IsUndo(a.Type):
		return "take back: " + do, "Took back: " + do
	case safety.IsRedo(a.Type):
		return "do again: " + do, "Did again: " + do
	}
	return do, done
}

// snoozeTime says until when a message is snoozed, as after "snooze".
func snoozeTime(p postroom.Parameters) string {
	if until, ok := p.Time("until"); ok {
		return " until " + printer.Minute(until)
	}
	if when, ok := p.Text("when"); ok {
		if after, ok := strings.CutPrefix(when, "in "); ok {
			return " for " + after
		}
		return " until " + when
	}
	amount, _ := p.Integer("amount")
	if units, ok := p.Text("units"); ok {
		return fmt.Sprintf(" for %d %s", amount, units)
	}
	return ""
}

// KindWords are the words for actions of the kind, whatever their label.
func KindWords(t postroom.ActionType) string {
	verb, ok := verbs[t]
	if !ok {
		return strings.ReplaceAll(string(t), "_", " ")
	}
	return strings.TrimSuffix(strings.TrimSuffix(verb.do, " %s"), " to")
}

// Does are the words for what rules do, each as a backtest names it: "apply_label Travel" is "label Travel".
func Does(list []string) string {
	said := make([]string, len(list))
	for i, text := range list {
		kind, label, labels := strings.Cut(text, " ")
		if verb := verbs[postroom.ActionType(kind)].do; labels && strings.Contains(verb, "%s") {
			said[i] = strings.ReplaceAll(verb, "%s", label)
		} else {
			said[i] = strings.TrimSpace(KindWords(postroom.ActionType(kind)) + " " + label)
		}
	}
	return strings.Join(said, ", ")
}

// NewDeed makes the view of an action.
func NewDeed(e safety.Entry, names app.LabelNames) Deed {
	a, d := e.Action, NewDecision(e.Decision, names)
	do, done := inWords(a, names)
	v := Deed{ID: a.ID, Did: done, By: d.By(), State: a.State, Error: a.Error, Sender: e.Decision.Sender,
		Subject: e.Decision.Subject, At: a.ExecutedAt}
	if v.At.IsZero() {
		v.At = a.CreatedAt
	}
	switch a.State {
	case postroom.ActionCompleted:
	case postroom.ActionQueued, postroom.ActionExecuting:
		v.Did = "Is about to " + do
	case postroom.ActionPendingApproval:
		v.Did = "Asks to " + do
	case postroom.ActionFailed:
		v.Did = "Could not " + do
	default:
		v.Did = "Did not " + do
	}
	return v
}

// NewDeeds lists the newest actions, of one mailbox, or for an empty id of all.
func NewDeeds(ctx context.Context, h *app.App, accountID string, limit int) ([]Deed, error) {
	entries, err := h.Ledger.Actions(ctx, safety.Filter{AccountID: accountID, Limit: limit})
	if err != nil {
		return nil, err
	}
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	if err := h.NameDeletedLabels(ctx, names, entries); err != nil {
		return nil, err
	}
	list := make([]Deed, len(entries))
	for i, e := range entries {
		list[i] = NewDeed(e, names)
	}
	return list, nil
}
