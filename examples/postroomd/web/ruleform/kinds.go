package ruleform

import (
	"slices"

	"github.com/postroom-go/postroom/rules"
)

// A Group is a part of the kinds of predicates, as package rules documents them.
type Group struct {
	Name  string
	Kinds []Kind
}

// A Kind is a kind of predicates with the fields that a form shows of it, named as in JSON.
type Kind struct {
	Name   rules.Kind
	Fields []string
}

// of makes kinds that have the same fields.
func of(fields []string, names ...rules.Kind) []Kind {
	list := make([]Kind, len(names))
	for i, name := range names {
		list[i] = Kind{name, fields}
	}
	return list
}

// The fields of predicates that a form shows.
const (
	value   = "value"
	header  = "header"
	named   = "fields"
	part    = "part"
	match   = "match"
	compare = "compare"
	pattern = "pattern"
)

// Groups are all kinds of predicates, in the order of a form.
var Groups = []Group{
	{"The usual", slices.Concat(
		of([]string{value}, rules.SenderEmail, rules.SenderDomain, rules.To, rules.Cc, rules.SubjectContains,
			rules.SubjectRegex, rules.BodyContains, rules.BodyRegex),
		of([]string{header}, rules.HeaderPresent), of([]string{header, pattern}, rules.HeaderMatch),
		of([]string{value}, rules.LabelPresent), of(nil, rules.HasAttachment),
		of([]string{value}, rules.LargerThan, rules.SmallerThan, rules.OlderThan, rules.NewerThan))},
	{"Texts", slices.Concat(
		of([]string{named, part, match, value}, rules.Address), of([]string{match, value}, rules.Subject, rules.Body),
		of([]string{header, match, value}, rules.Header),
		of([]string{match, value}, rules.ListID, rules.AttachmentName, rules.AttachmentType))},
	{"Numbers and dates", slices.Concat(
		of([]string{named, compare, value}, rules.AddressCount),
		of([]string{named, part, compare, value}, rules.AddressOrder, rules.AddressDigits),
		of([]string{compare, value}, rules.RecipientCount),
		of([]string{header, compare, value}, rules.HeaderCount, rules.HeaderNumber, rules.HeaderDigits, rules.HeaderOrder),
		of([]string{header, part, compare, value}, rules.DateOf), of([]string{header, compare, value}, rules.DateCount),
		of([]string{part, compare, value}, rules.ReceivedAt, rules.Now),
		of([]string{value}, rules.TimeOfDay, rules.Weekday))},
	{"Facts", slices.Concat(
		of(nil, rules.IsReply, rules.IsCalendar, rules.IsBounce),
		of([]string{value}, rules.IsAutomatic, rules.HasUnsubscribe),
		of(nil, rules.Authenticated), of([]string{part, value}, rules.AuthResult),
		of(nil, rules.SenderSeen, rules.SenderWrittenTo, rules.IAnswered, rules.TheyAnswered),
		of([]string{value}, rules.ThreadQuiet, rules.SinceIWrote), of(nil, rules.SenderSpoofed),
		of([]string{value}, rules.SenderConfusable, rules.HasHiddenText),
		of(nil, rules.PartsDisagree, rules.IsIncomplete), of([]string{value}, rules.Category,
			rules.Topic, rules.Priority), of(nil, rules.HasActionItems, rules.HasEvent),
		of(nil, rules.Starred, rules.Important, rules.Unread))},
}

// fieldsOf returns the fields that a form shows of a kind.
func fieldsOf(name rules.Kind) []string {
	for _, group := range Groups {
		for _, kind := range group.Kinds {
			if kind.Name == name {
				return kind.Fields
			}
		}
	}
	return nil
}
