package rulesfile

import (
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// Meanings returns the kinds of predicates in a condition that ask what a message means, each once.
func Meanings(c *rules.Condition) (kinds []rules.Kind) {
	for _, kind := range []rules.Kind{rules.Topic, rules.Priority, rules.HasActionItems, rules.HasEvent} {
		if asks(c, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func asks(c *rules.Condition, kind rules.Kind) bool {
	return c.Op == "" && c.Type == kind ||
		slices.ContainsFunc(c.Children, func(child rules.Condition) bool { return asks(&child, kind) })
}

// supposed is the condition without what asks about meaning, which is supposed to be as it must be for the condition to
// be met, or within a "not", for that not to be.
func supposed(c rules.Condition, met bool) rules.Condition {
	if c.Op == "" && len(Meanings(&c)) > 0 {
		some := rules.Condition{Type: rules.Unread}
		if met {
			return rules.AnyOf(some, rules.NoneOf(some))
		}
		return rules.AllOf(some, rules.NoneOf(some))
	}
	children := make([]rules.Condition, len(c.Children))
	for i, child := range c.Children {
		children[i] = supposed(child, met != (c.Op == rules.Not))
	}
	if c.Op != "" {
		c.Children = children
	}
	return c
}

// An openRule is a rule that asks what a message means, which no test says.
type openRule struct {
	asks []rules.Kind
	set  *rules.Set // has the rule alone, as it may match
}

// openRules are those of the rules, by name.
func openRules(list []rules.Rule, kinds *postroom.Kinds) map[string]openRule {
	open := map[string]openRule{}
	for _, r := range list {
		if asks := Meanings(&r.Condition); len(asks) > 0 {
			r.Condition = supposed(r.Condition, true)
			open[r.Name] = openRule{asks, rules.NewSetWithFacts([]rules.Rule{r}, kinds)}
		}
	}
	return open
}
