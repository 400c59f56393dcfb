package sieve

import (
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/translate"
	"reflect"
	"slices"
)

// Formulas describe when a part of a script takes effect. They are conditions, with three additions: an "and" without
// children is true, an "or" without is false, and a predicate of the type unknownTest represents a test that has no
// condition.

const unknownTest rules.Kind = "unknown"

var (
	trueCondition    = rules.Condition{Op: rules.And}
	falseCondition   = rules.Condition{Op: rules.Or}
	unknownCondition = rules.Condition{Type: unknownTest}
)

func isCertain(c rules.Condition) bool    { return c.Op == rules.And && len(c.Children) == 0 }
func isImpossible(c rules.Condition) bool { return c.Op == rules.Or && len(c.Children) == 0 }

// allOf and anyOf join formulas, without constants and duplicates.
func allOf(list ...rules.Condition) rules.Condition { return joinFormulas(rules.And, list) }
func anyOf(list ...rules.Condition) rules.Condition { return joinFormulas(rules.Or, list) }

func joinFormulas(op rules.Op, list []rules.Condition) rules.Condition {
	var children []rules.Condition
	for _, c := range list {
		if len(c.Children) == 0 && c.Op != "" && c.Op != op {
			return c
		}
		parts := []rules.Condition{c}
		if c.Op == op {
			parts = c.Children
		}
		for _, part := range parts {
			if len(children) > maxTwice || !slices.ContainsFunc(children, func(known rules.Condition) bool {
				return reflect.DeepEqual(known, part)
			}) {
				children = append(children, part)
			}
		}
	}
	return translate.Joined(op, append(children, rules.Condition{Op: op})) // of one, joined makes that one
}

func opposite(c rules.Condition) rules.Condition {
	switch {
	case isCertain(c):
		return falseCondition
	case isImpossible(c):
		return trueCondition
	case c.Op == rules.Not:
		return c.Children[0]
	}
	return rules.NoneOf(c)
}

// whether returns one formula where the first holds, and otherwise the other.
func whether(c, then, otherwise rules.Condition) rules.Condition {
	switch {
	case reflect.DeepEqual(then, otherwise):
		return then
	case isCertain(then):
		return anyOf(c, otherwise)
	case isCertain(otherwise):
		return anyOf(opposite(c), then)
	}
	return anyOf(allOf(c, then), allOf(opposite(c), otherwise))
}

// bound replaces unknown tests by true or false, so that the result is an upper or a lower bound of the formula.
func bound(c rules.Condition, to bool) rules.Condition {
	switch {
	case c.Type == unknownTest && to:
		return trueCondition
	case c.Type == unknownTest:
		return falseCondition
	case c.Op == "":
		return c
	case c.Op == rules.Not:
		return opposite(bound(c.Children[0], !to))
	}
	children := make([]rules.Condition, len(c.Children))
	for i := range c.Children {
		children[i] = bound(c.Children[i], to)
	}
	return joinFormulas(c.Op, children)
}

func depthOf(c *rules.Condition) int {
	deepest := 0
	for i := range c.Children {
		deepest = max(deepest, depthOf(&c.Children[i]))
	}
	return deepest + 1
}

func hasUnknown(c rules.Condition) bool {
	return c.Type == unknownTest || slices.ContainsFunc(c.Children, hasUnknown)
}

// maxTerms and maxSteps bound the terms and steps for the effects of runs on each other. Anything beyond is unknown.
const (
	maxTerms = 5_000
	maxSteps = 2_000_000
	maxTwice = 64 // terms among which one that is said twice is looked for
)

func (s *importer) tooMuch() bool { return s.terms > maxTerms || s.steps > maxSteps }

// reach returns when a run is reached in a script in which the given runs are.
func (s *importer) reach(x *execution, given ...*execution) rules.Condition {
	known, last := 0, -1
	for _, g := range given {
		common, exclusive := x.common(g)
		if exclusive || g.at < x.at && g.stop || g.at > x.at && x.stop {
			return falseCondition
		}
		known, last = max(known, common), max(last, g.at)
	}
	if s.tooMuch() {
		return unknownCondition
	}
	terms := x.tests(known)
	for i := last + 1; i < x.at; i++ { // a stop before one that is given has not come
		s.steps++
		if s.runs[i].stop {
			terms = append(terms, opposite(s.runs[i].amid(x, given)))
		}
	}
	s.terms += len(terms)
	return allOf(terms...)
}

// amid returns when the run's own tests hold if the others are reached.
func (r *execution) amid(x *execution, given []*execution) rules.Condition {
	known := 0
	for _, g := range append([]*execution{x}, given...) {
		common, exclusive := r.common(g)
		if exclusive {
			return falseCondition
		}
		known = max(known, common)
	}
	return allOf(r.tests(known)...)
}

// tests returns the tests of the run without the first steps.
func (r *execution) tests(from int) []rules.Condition {
	var list []rules.Condition
	for _, step := range r.path[from:] {
		list = append(list, step.tests...)
	}
	return list
}

// common returns how many steps two runs share, and whether they never go together.
func (r *execution) common(other *execution) (steps int, exclusive bool) {
	for steps < len(r.path) && steps < len(other.path) {
		a, b := &r.path[steps], &other.path[steps]
		if a.chain != b.chain {
			return steps, false
		}
		if a.branch != b.branch {
			return steps, true
		}
		steps++
	}
	return steps, false
}

// others says when one of the runs other than r is reached where r is.
func (s *importer) others(r *execution, which func(*execution) bool) rules.Condition {
	if s.tooMuch() {
		return unknownCondition
	}
	var list []rules.Condition
	for _, x := range s.runs {
		s.steps++
		if x != r && which(x) {
			list = append(list, s.reach(x, r))
		}
	}
	return anyOf(list...)
}
