package rulesfile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/rules"
)

// maxForestallers bounds the earlier rules that one rule is compared with: a file may have thousands with a condition
// in common.
const maxForestallers = 100

// warnForestalled warns of rules that can never decide, since an earlier rule matches all of their mail and lets no
// later one be tried. It compares conditions by their form, and so does not find all of them.
func (p *fileParser) warnForestalled() {
	order := make([]int, len(p.file.Rules))
	for i := range order {
		order[i] = i
	}
	list := p.file.Rules
	slices.SortStableFunc(order, func(a, b int) int { return rules.Order(&list[a], &list[b]) })
	earlier := map[string][]int{} // rules that may forestall, by their predicates
	for _, i := range order {
		later := &list[i]
		at, written := p.names[later.Name]
		if !later.Enabled || !written {
			continue
		}
		keys := predicateKeys(&later.Condition, nil)
		if first := firstForestaller(list, earlier, keys, later); first != nil {
			p.warning(at, fmt.Sprintf("rule %q never decides: rule %q comes before it and matches all of its mail", later.Name,
				first.Name), "put it before that one, give it a lower priority, or remove it")
		}
		if later.Continue || !reflect.ValueOf(later.Schedule).IsZero() {
			continue
		}
		for _, key := range keys {
			earlier[key] = append(earlier[key], i)
		}
	}
}

func firstForestaller(list []rules.Rule, earlier map[string][]int, keys []string, later *rules.Rule) *rules.Rule {
	for _, key := range keys {
		for _, i := range earlier[key][:min(len(earlier[key]), maxForestallers)] {
			if forestalls(&list[i], later) {
				return &list[i]
			}
		}
	}
	return nil
}

// forestalls reports whether the first rule matches whenever the second does.
func forestalls(first, second *rules.Rule) bool {
	inScope := first.Scope == rules.ScopeGlobal ||
		first.Scope == second.Scope && strings.EqualFold(first.ScopeRef, second.ScopeRef)
	return inScope && wider(&first.Condition, &second.Condition) &&
		(!first.RequiresAuthentication() || second.RequiresAuthentication())
}

// wider reports whether a matches whenever b does, as far as their forms show it.
func wider(a, b *rules.Condition) bool {
	within := func(list []rules.Condition, fits func(c *rules.Condition) bool) bool {
		return slices.ContainsFunc(list, func(c rules.Condition) bool { return fits(&c) })
	}
	all := func(list []rules.Condition, fits func(c *rules.Condition) bool) bool {
		return !within(list, func(c *rules.Condition) bool { return !fits(c) })
	}
	wideOf := func(c *rules.Condition) bool { return wider(c, b) }
	wideFor := func(c *rules.Condition) bool { return wider(a, c) }
	return reflect.DeepEqual(a, b) ||
		a.Op == "" && b.Op == "" && widerPredicate(*a, *b) ||
		b.Op == rules.Or && all(b.Children, wideFor) ||
		a.Op == rules.And && all(a.Children, wideOf) ||
		a.Op == rules.Or && within(a.Children, wideOf) ||
		b.Op == rules.And && within(b.Children, wideFor)
}

// widerPredicate reports whether the predicates differ only in that a has more alternatives.
func widerPredicate(a, b rules.Condition) bool {
	more, fewer := a.Alternatives(), b.Alternatives()
	a.Value, b.Value, a.Values, b.Values = "", "", nil, nil
	return len(fewer) > 0 && reflect.DeepEqual(a, b) &&
		!slices.ContainsFunc(fewer, func(v string) bool { return !slices.Contains(more, v) })
}

// predicateKeys are the types and values of all predicates of a condition: of two of which one is wider than the other,
// some are equal.
func predicateKeys(c *rules.Condition, keys []string) []string {
	for i := range c.Children {
		keys = predicateKeys(&c.Children[i], keys)
	}
	if c.Op != "" {
		return keys
	}
	values := c.Alternatives()
	if len(values) == 0 {
		values = []string{c.Pattern}
	}
	for _, v := range values {
		keys = append(keys, string(c.Type)+"\x00"+v)
	}
	return keys
}
