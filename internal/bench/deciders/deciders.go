// Package deciders compares package rules with cel-go: the same rules on the same messages.
package deciders

import (
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// A Decider finds rules that match a message. Rules are numbers from 0, in the order in which they are tried.
type Decider interface {
	// First returns the first rule that matches, or -1.
	First(msg *postroom.Message) int
	// All returns all rules that match.
	All(msg *postroom.Message) []int
}

// A Rule is a rule in the languages of the deciders.
type Rule struct {
	Condition rules.Condition
	CEL       string
}

type postroomDecider struct {
	set *rules.Set
	now time.Time
}

var _ Decider = (*postroomDecider)(nil)

// NewPostroom makes a decider of package rules.
func NewPostroom(list []Rule) (Decider, error) {
	stored := make([]rules.Rule, len(list))
	for i, r := range list {
		stored[i] = rules.NewRule(fmt.Sprintf("rule %d", i), r.Condition, postroom.Archive, nil)
		stored[i].Position = i
	}
	set := rules.NewSet(stored, nil)
	if broken := set.Broken(); len(broken) > 0 {
		return nil, fmt.Errorf("%s: %w", broken[0].Rule.Name, broken[0].Err)
	}
	return &postroomDecider{set, time.Now()}, nil
}

func (d *postroomDecider) First(msg *postroom.Message) int {
	if r, ok := d.set.First(msg, d.now); ok {
		return r.Position
	}
	return -1
}

func (d *postroomDecider) All(msg *postroom.Message) []int {
	found := []int{}
	for r := range d.set.All(msg, d.now) {
		found = append(found, r.Position)
	}
	return found
}
