package sieve

import (
	"fmt"
	"github.com/postroom-go/postroom/rules"
	"reflect"
	"slices"
)

// Flags (RFC 5232) are a variable of the script, which each action that stores the message reads. Gmail has one
// message where Sieve stores several: it has the flags of the action that stores it last, as copies in one folder do.

// marks finds out when the runs that set a flag leave the message with it.
func (s *importer) marks() {
	var items []flagChange
	for _, r := range s.runs {
		items = append(items, r.flags...)
	}
	for _, flag := range []string{`\seen`, `\flagged`} {
		f := &mailFlag{s, flag, items}
		if !slices.ContainsFunc(items, func(i flagChange) bool { return i.sets(flag) == 1 }) {
			continue
		}
		f.noteCopies()
		for i := range items {
			r := items[i].run
			action := rules.RuleAction{Type: markFlags[flag]}
			if items[i].sets(flag) == 1 && r.unknown == "" && !slices.ContainsFunc(s.marked[r], func(o outcome) bool {
				return o.actions[0].Type == action.Type
			}) {
				s.marked[r] = append(s.marked[r], outcome{f.mark(r), []rules.RuleAction{action}})
			}
		}
	}
}

// mark returns when the message has the flag in a script in which the run is reached.
func (f *mailFlag) mark(r *execution) rules.Condition {
	final := f.final(r)
	if hasUnknown(final) {
		r.note(fmt.Sprintf("%s: it depends on a test that has no condition", markFlags[f.flag]))
	}
	return allOf(f.s.sure(r), bound(final, false))
}

// sets returns 1 if the flag is set by it, -1 if it is taken away, and 0 if it stays as it is. A store with flags of
// its own has them.
func (i flagChange) sets(flag string) int {
	named := slices.Contains(i.flags, flag)
	switch {
	case i.how == "removeflag" && named:
		return -1
	case i.how == "setflag" && !named, i.how == "own" && !named:
		return -1
	case i.how != "removeflag" && named:
		return 1
	}
	return 0
}

func (i flagChange) stores() bool { return i.how == "store" || i.how == "own" }

// A mailFlag is one flag of a script.
type mailFlag struct {
	s     *importer
	flag  string
	items []flagChange
}

// value returns when the flag is set before an item, in a script in which the given runs are reached.
func (f *mailFlag) value(before int, given ...*execution) rules.Condition {
	if f.s.tooMuch() {
		return unknownCondition
	}
	value := falseCondition
	for i := range f.items[:before] {
		item := &f.items[i]
		if sets := item.sets(f.flag); sets != 0 && !item.stores() {
			value = whether(f.s.reach(item.run, given...), map[int]rules.Condition{1: trueCondition, -1: falseCondition}[sets],
				value)
		}
	}
	return value
}

// stored says when the message has the flag by the item that stores it.
func (f *mailFlag) stored(i int, given ...*execution) rules.Condition {
	switch item := &f.items[i]; {
	case item.how == "own" && item.sets(f.flag) == 1:
		return trueCondition
	case item.how == "own":
		return falseCondition
	default:
		return f.value(i, append(slices.Clone(given), item.run)...)
	}
}

// final says when the message has the flag in the end.
func (f *mailFlag) final(given ...*execution) rules.Condition {
	if f.s.tooMuch() {
		return unknownCondition
	}
	final := falseCondition
	for i := range f.items {
		if f.items[i].stores() {
			final = whether(f.s.reach(f.items[i].run, given...), f.stored(i, given...), final)
		}
	}
	return whether(f.s.implicit(given...), f.value(len(f.items), given...), final)
}

// implicit says when the implicit keep is in force at the end (RFC 5228, section 2.10.2).
func (s *importer) implicit(given ...*execution) rules.Condition {
	if s.tooMuch() {
		return unknownCondition
	}
	var canceled []rules.Condition
	for _, r := range s.runs {
		if r.keep || r.filed || r.discard || r.trash {
			canceled = append(canceled, s.reach(r, given...))
		}
	}
	return opposite(anyOf(canceled...))
}

// noteCopies notes where two actions may store the message with different flags.
func (f *mailFlag) noteCopies() {
	const what = "at Gmail a message is in all places with the same flags: those of what stores it last"
	for i := range f.items {
		a := &f.items[i]
		if !a.stores() || f.s.tooMuch() {
			continue
		}
		if implicit := f.s.implicit(a.run); !isImpossible(implicit) &&
			!reflect.DeepEqual(f.stored(i, a.run), f.value(len(f.items), a.run)) {
			a.run.note(what)
		}
		for j := i + 1; j < len(f.items); j++ {
			b := &f.items[j]
			f.s.steps++
			if b.stores() && !isImpossible(f.s.reach(b.run, a.run)) && !reflect.DeepEqual(f.stored(i, a.run, b.run),
				f.stored(j, a.run, b.run)) {
				b.run.note(what)
			}
		}
	}
}
