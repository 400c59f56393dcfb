package access

import (
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strings"
)

// A Role is what a person may do. Each includes those before it.
type Role int

const (
	// Nobody may do nothing: it is the zero Role.
	Nobody Role = iota
	// See is to look at mail, and at what was done with it.
	See
	// Approve is to answer requests, to take back, to stop and to resume.
	Approve
	// Own is to change rules, mailboxes and jobs.
	Own
)

var roles = map[string]Role{"see": See, "approve": Approve, "own": Own}

// A Person is somebody who uses the page.
type Person struct {
	Name      string // what they do is recorded with it
	Role      Role
	Mailboxes []string // their addresses; nil: all, those to come included
}

// Everything stands for all mailboxes, for what is not of one alone.
const Everything = "*"

// May reports whether the person may do what the role is needed for, to all of the mailboxes.
func (p Person) May(role Role, mailboxes ...string) bool {
	if role == Nobody || p.Role < role {
		return false
	}
	return p.Mailboxes == nil || !slices.ContainsFunc(mailboxes, func(m string) bool { return !p.has(m) })
}

func (p Person) has(mailbox string) bool {
	return slices.ContainsFunc(p.Mailboxes, func(own string) bool { return strings.EqualFold(own, mailbox) })
}

// People is the table of persons, by their addresses in lower case.
type People map[string]Person

// ParsePeople reads the table from texts such as "ada@example.org=own", or "bob@example.org=approve bob@example.org"
// with the addresses of mailboxes, separated by spaces.
func ParsePeople(texts []string) (People, error) {
	people := People{}
	for _, text := range texts {
		address, rest, _ := strings.Cut(text, "=")
		words := strings.Fields(rest)
		if !isAddress(address) || len(words) == 0 || roles[words[0]] == Nobody {
			return nil, fmt.Errorf("%q is no address with a role (see, approve or own) and mailboxes", text)
		}
		p := Person{Name: strings.ToLower(address), Role: roles[words[0]]}
		for _, mailbox := range words[1:] {
			if !isAddress(mailbox) {
				return nil, fmt.Errorf("%q is no address of a mailbox", mailbox)
			}
			p.Mailboxes = append(p.Mailboxes, mailbox)
		}
		if _, twice := people[p.Name]; twice {
			return nil, fmt.Errorf("%s is named twice", p.Name)
		}
		people[p.Name] = p
	}
	return people, nil
}

func isAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s
}

// Of returns the person of an address.
func (p People) Of(address string) (Person, bool) {
	person, ok := p[strings.ToLower(address)]
	return person, ok
}

type contextKey struct{}

// With returns a context of what the person does.
func With(ctx context.Context, p Person) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From returns the person of a context. Without one it is somebody who may do nothing.
func From(ctx context.Context) Person {
	p, _ := ctx.Value(contextKey{}).(Person)
	return p
}
