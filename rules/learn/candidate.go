package learn

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/rules"
)

// A base is the first part of a condition: whose mail it is.
type base struct {
	kind  baseKind
	value string // the list's id, the address or the domain
	shape string // of the subject, beside a domain
}

type baseKind int

// The bases, in the order in which rules are chosen.
const (
	ofList baseKind = iota
	ofSender
	ofDomain // alone it makes no rule: it says how usual an act is among all mail of the domain
	ofShape
)

// An extra is the second part of a condition: which of that mail.
type extra struct {
	kind  extraKind
	name  string
	value string
}

type extraKind int

const (
	noExtra extraKind = iota
	withList
	withHeader
	withAttachment
)

// A candidate is a condition that rules are made of.
type candidate struct {
	base  base
	extra extra
}

// wider is the candidate that matches all the mail of c and more: c is worth having only if that one is contradicted.
// The widest are their own.
func (c candidate) wider() candidate {
	switch {
	case c.extra.kind != noExtra:
		return candidate{base: c.base}
	case c.base.kind == ofShape:
		return candidate{base: base{kind: ofDomain, value: c.base.value}}
	}
	return c
}

// candidatesOf returns the candidates that match a message. Only mail whose sender is verified counts for those that
// name one. Those of a list are bound to no sender; see [Find].
func candidatesOf(f *Fact) (list []candidate) {
	var bases []base
	if f.ListID != "" {
		bases = append(bases, base{kind: ofList, value: f.ListID})
	}
	domain := rules.DomainOf(f.From)
	if f.Authenticated && domain != "" {
		if !strings.Contains(f.From, "*") { // *@domain stands for all senders of a domain
			bases = append(bases, base{kind: ofSender, value: f.From})
		}
		shape := shapeOf(f.Subject)
		if shape != "" && !mailname.IsProvider(authres.OrganizationalDomain(domain)) {
			bases = append(bases, base{kind: ofDomain, value: domain}, base{kind: ofShape, value: domain, shape: shape})
		}
	}
	for _, b := range bases {
		list = append(list, candidate{base: b})
		if b.kind == ofDomain {
			continue
		}
		if b.kind == ofSender && f.ListID != "" {
			list = append(list, candidate{b, extra{kind: withList, value: f.ListID}})
		}
		for _, h := range f.Headers {
			list = append(list, candidate{b, extra{withHeader, h.Name, h.Value}})
		}
		for _, t := range f.Attachments {
			list = append(list, candidate{b, extra{kind: withAttachment, value: t}})
		}
	}
	return list
}

// compare orders candidates: short ones first, then by base, extra and text.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(min(c.extra.kind, 1), min(d.extra.kind, 1)), cmp.Compare(c.base.kind, d.base.kind),
		cmp.Compare(c.extra.kind, d.extra.kind), cmp.Compare(c.base.value, d.base.value),
		cmp.Compare(c.base.shape, d.base.shape), cmp.Compare(c.extra.name, d.extra.name),
		cmp.Compare(c.extra.value, d.extra.value))
}

// condition returns the condition of a rule.
func (c candidate) condition() rules.Condition {
	var all []rules.Condition
	switch c.base.kind {
	case ofList:
		all = append(all, rules.Condition{Type: rules.ListID, Value: c.base.value, Match: rules.Is})
	case ofSender:
		all = append(all, rules.Condition{Type: rules.SenderEmail, Value: c.base.value})
	case ofDomain, ofShape:
		all = append(all, rules.Condition{Type: rules.SenderDomain, Value: c.base.value})
	}
	if c.base.kind == ofShape {
		all = append(all, rules.Condition{Type: rules.Subject, Match: rules.Regex, Value: shapePattern(c.base.shape)})
	}
	switch c.extra.kind {
	case noExtra:
	case withList:
		all = append(all, rules.Condition{Type: rules.ListID, Value: c.extra.value, Match: rules.Is})
	case withHeader:
		all = append(all, rules.Condition{Type: rules.Header, Header: c.extra.name, Value: c.extra.value, Match: rules.Is})
	case withAttachment:
		all = append(all, rules.Condition{Type: rules.AttachmentType, Value: c.extra.value, Match: rules.Is})
	}
	if len(all) == 1 {
		return all[0]
	}
	return rules.AllOf(all...)
}

// key is the same for the same condition and act, whatever has been learned meanwhile.
func (c candidate) key(a Act) string {
	text, err := json.Marshal([]any{c.base.kind, c.base.value, c.base.shape, c.extra.kind, c.extra.name, c.extra.value,
		a.Action, a.Label})
	if err != nil {
		panic(err) // numbers and texts
	}
	return string(text)
}
