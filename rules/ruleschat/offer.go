package ruleschat

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// An Offer is a change of rules that a program proposes, without a person who has asked for it. A person accepts it as
// any other proposal.
type Offer struct {
	AccountID string
	By        string   // names the program; not empty
	Rules     string   // a rules file with the rules to add or to replace; empty if there are none
	Remove    []string // the names of rules to remove
	// Current is the file that the rules are read from, as in a [Turn]. Required.
	Current *rulesfile.File
	// Labels are the labels of the account. Default nil: only those of the file.
	Labels []postroom.Label
}

// maxOpen is how many proposals of a program wait at once.
const maxOpen = 20

// CheckOffer returns the file that an offer would make. Its errors say what is wrong with the offer.
func (c *Chat) CheckOffer(o Offer) (*rulesfile.File, error) {
	if err := fields.Required("ruleschat: Offer.Current", o.Current, "the file that the rules are read from"); err != nil {
		return nil, err
	}
	if len(o.Rules) > maxAnswer {
		return nil, fmt.Errorf("the rules have %d bytes, and %d are allowed", len(o.Rules), maxAnswer)
	}
	return c.try(Turn{Rules: o.Current, Labels: o.Labels}, &Proposal{Rules: o.Rules, Remove: o.Remove})
}

// Offer stores an offer as the proposal of a new session; text tells the person about it, and By stands as the model
// that has written it. A model to which the person speaks in that session is not told the text. Offer returns
// [ErrTooMany] if 20 proposals of the program wait.
func (c *Chat) Offer(ctx context.Context, tx queue.Tx, o Offer, text string) (Session, error) {
	p := &Proposal{Rules: o.Rules, Remove: o.Remove, base: digest(o.Current)}
	file, err := c.CheckOffer(o)
	if err == nil {
		err = (&Turn{Text: text, Rules: o.Current}).check()
	}
	if err != nil {
		return Session{}, err
	}
	p.result = digest(file)
	var open int
	if err := dbquery.Get(ctx, tx, &open, sqlCountOpen, o.By); err != nil {
		return Session{}, failed("count open proposals", err)
	}
	if open >= maxOpen {
		return Session{}, fmt.Errorf("%w: %d of %s wait for a person", ErrTooMany, open, o.By)
	}
	s, err := c.Begin(ctx, tx, o.AccountID, o.By)
	if err != nil {
		return Session{}, err
	}
	return s, c.keepTx(ctx, tx, &Message{SessionID: s.ID, Role: llm.RoleAssistant, Text: text, Model: o.By, Proposal: p})
}
