package postroom

import (
	"errors"
	"fmt"
	"time"
)

// StandardKind returns the description of one of the standard actions. The actions that package gmail carries out by
// itself are in every [Kinds]. The others need more than a mailbox: for example, a host with a place for notes takes
// the description of [AddNote], sets its Handler and its Undo, and adds it.
func StandardKind(t ActionType) (Kind, bool) {
	k, ok := standard[t]
	return k.clone(), ok
}

// standard has the standard actions. Package gmail carries out those with [ActionJob].
var standard = func() map[ActionType]Kind {
	kinds := map[ActionType]Kind{
		None:        {Summary: "do nothing", Danger: Safe, Job: ActionJob},
		Delete:      {Summary: "delete the message for ever", Job: ActionJob},
		ApplyLabel:  labelKind("add a label", func(l string) Effect { return labelled(adding(l), RemoveLabel, l) }),
		RemoveLabel: labelKind("remove a label", func(l string) Effect { return labelled(removing(l), ApplyLabel, l) }),
		Move:        labelKind("move the message out of the inbox to a label", moveTo),
		MarkRead:    plainKind("mark the message as read", Safe, removing(LabelUnread), MarkUnread),
		MarkUnread:  plainKind("mark the message as unread", Safe, adding(LabelUnread), MarkRead),
		Trash:       plainKind("throw the message into the trash", Safe, adding(LabelTrash), Restore),
		Restore:     plainKind("take the message out of the trash", Safe, removing(LabelTrash), Trash),
		Star:        plainKind("star the message", Reversible, adding(LabelStarred), Unstar),
		Unstar:      plainKind("take the star off the message", Reversible, removing(LabelStarred), Star),
		Archive: {
			Summary: "remove the message from the inbox", Danger: Safe, Job: ActionJob,
			Effect: func(Parameters) Effect { return labelled(removing(LabelInbox), ApplyLabel, LabelInbox) },
		},
		Snooze: snoozeKind,
		AddNote: {
			Summary: "keep a note about the message", Danger: Reversible,
			Parameters: []Parameter{{Name: "note", Type: TextParameter, Summary: "the text of the note", Required: true}},
		},
		CreateTask: {
			Summary: "make a task of the message", Danger: Reversible,
			Parameters: []Parameter{
				{Name: "title", Type: TextParameter, Summary: "what is to be done", Required: true},
				{Name: "due", Type: TimeParameter, Summary: "when it is due"},
				{Name: "notes", Type: TextParameter, Summary: "details"},
			},
		},
		Escalate: {
			Summary: "hand the message to a person, with a label", Danger: Reversible,
			Parameters: []Parameter{{Name: "reason", Type: TextParameter, Summary: "why a person is needed"}},
		},
		Forward: {
			Summary: "forward the message to other people",
			Parameters: []Parameter{
				{Name: "to", Type: TextsParameter, Summary: "the addresses", Required: true, Recipient: true},
				{Name: "cc", Type: TextsParameter, Summary: "further addresses, for information", Recipient: true},
				{Name: "body", Type: TextParameter, Summary: "a text to put above the message"},
				{Name: "body_html", Type: TextParameter, Summary: "the text to put above the message as HTML"},
				{Name: "include_original", Type: TextParameter, Summary: "how the message is included; inline if left out", Values: []string{"inline", "attachment"}},
			},
			Check: func(p Parameters, _ time.Time) error { return noPlaceholder(p) },
		},
		AutoReply: {
			Summary: "send an answer",
			Parameters: []Parameter{
				{Name: "to", Type: TextsParameter, Summary: "the addresses; those that the message asks answers to, if left out", Recipient: true},
				{Name: "cc", Type: TextsParameter, Summary: "further addresses, for information", Recipient: true},
				{Name: "body", Type: TextParameter, Summary: "the text of the answer"},
				{Name: "body_html", Type: TextParameter, Summary: "the text of the answer as HTML"},
			},
			Example: Parameters{"body": "Thank you, your message has arrived."},
			Check:   needsBody,
		},
	}
	for t, k := range kinds {
		k.Type = t
		kinds[t] = k
	}
	return kinds
}()

func needsBody(p Parameters, _ time.Time) error {
	_, plain := p.Text("body")
	_, html := p.Text("body_html")
	if !plain && !html {
		return errors.New(`it needs a text: the parameter "body", "body_html" or both`)
	}
	for _, name := range []string{"body", "body_html"} {
		text, _ := p.Text(name)
		if err := CheckVariables(text); err != nil {
			return fmt.Errorf("the parameter %q: %w", name, err)
		}
	}
	return nil
}

// noPlaceholder refuses a text with a placeholder of a template, which would be sent as it is.
func noPlaceholder(p Parameters) error {
	for _, name := range []string{"body", "body_html"} {
		text, _ := p.Text(name)
		if found := placeholder.FindString(text); found != "" {
			return fmt.Errorf("the parameter %q has the placeholder %s, which would be sent as it is: only an answer has "+
				"variables; write the text itself", name, found)
		}
	}
	return nil
}

func plainKind(summary string, danger Danger, change LabelChange, inverse ActionType) Kind {
	effect := func(Parameters) Effect { return Effect{Change: change, Inverse: inverse} }
	return Kind{Summary: summary, Danger: danger, Job: ActionJob, Effect: effect}
}

func labelKind(summary string, effect func(label string) Effect) Kind {
	return Kind{
		Summary: summary, Danger: Safe, Job: ActionJob,
		Parameters: []Parameter{{Name: ParamLabel, Type: LabelParameter, Summary: "the name of the label", Required: true}},
		Effect: func(p Parameters) Effect {
			label, _ := p.Text(ParamLabel)
			return effect(label)
		},
	}
}

func adding(label string) LabelChange   { return LabelChange{Add: []string{label}} }
func removing(label string) LabelChange { return LabelChange{Remove: []string{label}} }

func labelled(change LabelChange, inverse ActionType, label string) Effect {
	return Effect{Change: change, Inverse: inverse, InverseParameters: Parameters{ParamLabel: label}}
}

func moveTo(label string) Effect {
	e := labelled(adding(label), Move, LabelInbox)
	e.InverseParameters["remove_labels"] = []string{label}
	if label != LabelInbox {
		e.Change.Remove = []string{LabelInbox}
	}
	return e
}

// A WakeUp is the change with which the end of a snooze has put the message back.
type WakeUp struct {
	// Turn is the place of the wake-up among the actions of the message; see package safety.
	Turn int64 `json:"turn"`
	// Before is the message before the first attempt to wake it, After the message as the wake-up left it.
	Before Snapshot `json:"before"`
	After  Snapshot `json:"after"`
	// Change is the wake-up's own change, even if the message already had or lacked the labels.
	Change LabelChange `json:"change"`
}

// A Sleep is what the ledger knows of a snooze whose message is to be woken.
type Sleep struct {
	// Turn is the place of the wake-up among the actions of the message.
	Turn int64
	// Over reports that there is nothing to wake: the snooze has been undone, or a wake-up has woken the message since.
	Over bool
	// Later lists the snoozes of the message that were executed after this one and still count, in order. The last of
	// them says when the message wakes, sooner or later than this one.
	Later []string
}
