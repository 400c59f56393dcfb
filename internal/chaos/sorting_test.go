package chaos

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/rules"
)

const (
	clerk = "clerk@friends.example" // who gets what is forwarded

	snoozed = "Postroom/Snoozed"
	own     = "Mine" // a label of the person's
)

// A sorting is a rule and what becomes of the messages that it matches, those with its name in the subject.
type sorting struct {
	name       string
	action     postroom.ActionType
	parameters postroom.Parameters
	change     postroom.LabelChange // by the names of the labels
}

var sortings = []sorting{
	{name: "none", action: postroom.None},
	{name: "archive", action: postroom.Archive, change: removes("INBOX")},
	{name: "read", action: postroom.MarkRead, change: removes("UNREAD")},
	{name: "star", action: postroom.Star, change: adds("STARRED")},
	{name: "label", action: postroom.ApplyLabel, parameters: postroom.Parameters{"label": "Receipts"}, change: adds("Receipts")},
	{name: "move", action: postroom.Move, parameters: postroom.Parameters{"label": "News"}, change: adds("News", "INBOX")},
	{name: "trash", action: postroom.Trash, change: adds("TRASH", "INBOX")},
	{
		name: "snooze", action: postroom.Snooze, parameters: postroom.Parameters{"amount": 3, "units": "days"},
		change: adds(snoozed, "INBOX"),
	},
	{name: "delete", action: postroom.Delete},
	{name: "reply", action: postroom.AutoReply, parameters: postroom.Parameters{"body": "Thank you."}},
	{name: "forward", action: postroom.Forward, parameters: postroom.Parameters{"to": []any{clerk}}},
}

// adds adds the first label and removes the others.
func adds(label string, removed ...string) postroom.LabelChange {
	return postroom.LabelChange{Add: []string{label}, Remove: removed}
}

func removes(labels ...string) postroom.LabelChange { return postroom.LabelChange{Remove: labels} }

func sortingRules() (list []rules.Rule) {
	for _, s := range sortings {
		r := rules.NewRule(s.name, rules.Condition{Type: rules.SubjectContains, Value: "[" + s.name + "]"},
			s.action, s.parameters)
		r.Priority = rules.DefaultPriority
		r.SafeMode = postroom.SafeDangerousOverride
		list = append(list, r)
	}
	return list
}

// touches reports whether the changes have a label in common.
func touches(a, b postroom.LabelChange) bool {
	other := slices.Concat(b.Add, b.Remove)
	return slices.ContainsFunc(slices.Concat(a.Add, a.Remove), func(l string) bool { return slices.Contains(other, l) })
}

// A hand is something that a person does to a message.
type hand struct {
	do     func(ctx context.Context, p gmailtest.Person, id string) error
	change postroom.LabelChange // by the names of the labels
}

type personDoes = func(p gmailtest.Person, ctx context.Context, ids ...string) error

func plain(do personDoes, change postroom.LabelChange) hand {
	return hand{func(ctx context.Context, p gmailtest.Person, id string) error { return do(p, ctx, id) }, change}
}

// hands are what a person does to mail. None of them puts it away for ever.
var hands = []hand{
	plain(gmailtest.Person.Read, removes("UNREAD")),
	plain(gmailtest.Person.Unread, adds("UNREAD")),
	plain(gmailtest.Person.Star, adds("STARRED")),
	plain(gmailtest.Person.Unstar, removes("STARRED")),
	{func(ctx context.Context, p gmailtest.Person, id string) error { return p.Label(ctx, own, id) }, adds(own)},
	{func(ctx context.Context, p gmailtest.Person, id string) error { return p.Unlabel(ctx, own, id) }, removes(own)},
	{func(ctx context.Context, p gmailtest.Person, id string) error { return p.Label(ctx, "Receipts", id) }, adds("Receipts")},
	{func(ctx context.Context, p gmailtest.Person, id string) error { return p.Unlabel(ctx, "Receipts", id) }, removes("Receipts")},
	{func(ctx context.Context, p gmailtest.Person, id string) error { return p.Unlabel(ctx, "News", id) }, removes("News")},
	plain(gmailtest.Person.Archive, removes("INBOX")),
	plain(gmailtest.Person.MoveToInbox, adds("INBOX", "TRASH", "SPAM")),
}

// rough is what takes mail away from whoever is at work on it.
var rough = []hand{
	plain(gmailtest.Person.Trash, adds("TRASH", "INBOX", "SPAM")),
	plain(gmailtest.Person.Spam, adds("SPAM", "INBOX", "TRASH")),
}
