package gmailfilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// maxGmailQuery is the longest search that a filter of Gmail takes.
const maxGmailQuery = 1500

// An exporter makes filters of rules, in their order.
type exporter struct {
	ExportOptions

	filters      []Filter
	untranslated []rulesfile.Untranslated
	before       []stop
}

// A stop is a rule after which no other is tried.
type stop struct {
	name  string
	query string // of its mail; empty if Gmail's search cannot say it
	does  map[string]bool
}

func (e *exporter) lose(r *rules.Rule, left rulesfile.Leftover, what string) {
	e.untranslated = append(e.untranslated, rulesfile.Untranslated{Of: r.Name, What: what, Left: left})
}

func (e *exporter) rule(r *rules.Rule, last bool) {
	searches, near, err := searchesOf(r, e.room())
	if r.Enabled && !r.Continue {
		defer func() {
			for _, search := range append(searches, "")[:max(1, len(searches))] {
				e.before = append(e.before, stop{r.Name, search, harms(r.Actions())})
			}
		}()
	}
	if err != nil {
		e.lose(r, rulesfile.Skipped, err.Error())
		return
	}
	if r.RequiresAuthentication() {
		const unproven = "filters do not ask whether the sender is authenticated"
		if !e.Unguarded {
			e.lose(r, rulesfile.Skipped, unproven)
			return
		}
		near = append(near, unproven+": it applies to mail of anybody who writes its sender")
	}
	made, lost := e.filtersOf(r, searches)
	if len(made) == 0 {
		e.lose(r, rulesfile.Skipped, strings.Join(lost, "; "))
		return
	}
	for _, what := range lost {
		e.lose(r, rulesfile.Partial, what)
	}
	for _, what := range near {
		e.lose(r, rulesfile.Approximate, what)
	}
	if !r.Continue && !last {
		e.lose(r, rulesfile.Approximate, "at Gmail the filters after it apply as well")
	}
	e.filters = append(e.filters, made...)
}

// room returns the length of a search that leaves room for the mail to spare, if that is less than most of it.
func (e *exporter) room() int {
	room := maxGmailQuery
	for _, stop := range e.before {
		room -= len(stop.query) + len(" -()")
	}
	if room < maxGmailQuery/3 {
		return maxGmailQuery
	}
	return room
}

// filtersOf returns the filters for each search of a rule, and what they lack.
func (e *exporter) filtersOf(r *rules.Rule, searches []string) (made []Filter, lost []string) {
	approved, unapproved := e.approved(r)
	for _, search := range searches {
		actions, guarded, missing := e.spare(approved, search, slices.Clone(unapproved))
		filters, unknown := Filter{Query: guarded}.withActions(actions)
		made = append(made, filters...)
		for _, what := range append(missing, unknown...) {
			if !slices.Contains(lost, what) {
				lost = append(lost, what)
			}
		}
	}
	return made, lost
}

// approved are the actions that no person has to approve here.
func (e *exporter) approved(r *rules.Rule) (actions []rules.RuleAction, lost []string) {
	for _, a := range r.Actions() {
		kind, standard := postroom.StandardKind(a.Type)
		if standard && kind.Danger == postroom.Dangerous && r.SafeMode != postroom.SafeDangerousOverride {
			what := fmt.Sprintf("%s: here a person approves it first, and Gmail asks nobody", a.Type)
			lost = append(lost, what)
			if !e.Unguarded {
				continue
			}
		}
		actions = append(actions, a)
	}
	return actions, lost
}

// spare excludes from harmful actions the mail of earlier rules that stop and lack these actions.
func (e *exporter) spare(actions []rules.RuleAction, query string, lost []string) ([]rules.RuleAction,
	string, []string) {
	harm := harms(actions)
	var unknown []string
	spared := query
	for _, stop := range e.before {
		if !slices.ContainsFunc(actions, func(a rules.RuleAction) bool {
			return !within(harms([]rules.RuleAction{a}), stop.does)
		}) {
			continue
		}
		guarded := grouped(spared) + " " + negated(stop.query)
		if stop.query == "" || len(guarded) > maxGmailQuery {
			if name := fmt.Sprintf("%q", stop.name); !slices.Contains(unknown, name) {
				unknown = append(unknown, name)
			}
			continue
		}
		spared = guarded
	}
	if len(harm) == 0 || len(unknown) == 0 {
		return actions, spared, lost
	}
	kept := slices.DeleteFunc(slices.Clone(actions), func(a rules.RuleAction) bool {
		return len(harms([]rules.RuleAction{a})) > 0 && a.Type != postroom.Move
	})
	for i, a := range kept {
		if a.Type == postroom.Move {
			kept[i].Type = postroom.ApplyLabel
		}
	}
	what := "it spares the mail of rules before it, and Gmail's search cannot say which that is: " +
		strings.Join(unknown, ", ")
	return kept, query, append(lost, what)
}

// harms returns the actions from which an earlier rule may spare a message.
func harms(actions []rules.RuleAction) map[string]bool {
	does := map[string]bool{}
	for _, a := range actions {
		switch a.Type {
		case postroom.Trash, postroom.Delete:
			does["trash"], does["leave"] = true, true
		case postroom.Move, postroom.Archive:
			does["leave"] = true
		case postroom.MarkRead:
			does["read"] = true
		case postroom.Forward:
			does[a.InWords()] = true
		}
	}
	return does
}

func within(some, all map[string]bool) bool {
	for one := range some {
		if !all[one] {
			return false
		}
	}
	return true
}
