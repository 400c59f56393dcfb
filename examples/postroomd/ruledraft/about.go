package ruledraft

import (
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
)

// An About says which mail is like a message.
type About string

// All mail of the same list, sender or domain.
const (
	AboutList   About = "list"
	AboutSender About = "sender"
	AboutDomain About = "domain"
)

// AboutsOf returns what mail can be like the message in, the narrowest that is usual first, each with its value.
func AboutsOf(m *postroom.Message) (list []rules.Condition, names []About) {
	for _, a := range []About{AboutList, AboutSender, AboutDomain} {
		if c, err := a.source(m); err == nil {
			list, names = append(list, c), append(names, a)
		}
	}
	return list, names
}

// source is the condition that mail is like the message; empty: of its list, or else of its sender.
func (a About) source(m *postroom.Message) (rules.Condition, error) {
	sender := strings.ToLower(m.From.Email)
	named := rules.DomainOf(sender) != "" && !strings.ContainsAny(sender, wild)
	list := listOf(m)
	switch {
	case list != "" && (a == "" || a == AboutList):
		return rules.Condition{Type: rules.ListID, Value: list}, nil
	case a == AboutList:
		return rules.Condition{}, usage.Errorf("The message is of no list that a rule could be about.")
	case a != "" && a != AboutSender && a != AboutDomain:
		return rules.Condition{}, usage.Errorf(
			"Mail is like a message in its list, its sender or its domain, and not in %q.", a)
	case !named:
		return rules.Condition{}, usage.Errorf(
			"The message has no sender whose mail a rule could be about: write one yourself.")
	case a == AboutDomain:
		return rules.Condition{Type: rules.SenderDomain, Value: rules.DomainOf(sender)}, nil
	}
	return rules.Condition{Type: rules.SenderEmail, Value: sender}, nil
}

// listOf is the list of a message; empty without one that a condition can name.
func listOf(m *postroom.Message) string {
	header := make(mime.Header, len(m.Headers))
	for i, h := range m.Headers {
		header[i] = mime.Field{Name: h.Name, Value: h.Value}
	}
	id := strings.ToLower(header.List().ID)
	if strings.ContainsAny(id, wild) {
		return ""
	}
	return id
}

// wild is what no address has: a sender writes what stands there, and *@example.com would be all of a domain.
const wild = "*<> "

// verified reports whether the sender of the message is who it says.
func verified(m *postroom.Message) (bool, error) {
	proof, err := rules.Compile(rules.Condition{Type: rules.Authenticated})
	if err != nil {
		return false, err
	}
	return proof.Match(m, time.Now()), nil
}
