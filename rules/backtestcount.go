package rules

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// A Backtest is the result of trying rules on messages.
type Backtest struct {
	Messages   int `json:"messages"`
	Matched    int `json:"matched"`    // those that a rule matches
	Unreadable int `json:"unreadable"` // those that could not be read; they are not among Messages
	// Dangerous are the messages with an action that waits for a person, unless the rule's safe mode lets it pass.
	Dangerous int `json:"dangerous"`
	// First and Last are when the oldest and the newest of the messages were received; zero if none is known.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`

	// Compared reports whether there was a set to compare with. Then MatchedBefore are the messages that one of its rules matches,
	// Changed those about which the two decide differently, and Changes the differences, the most frequent first.
	Compared      bool             `json:"compared"`
	MatchedBefore int              `json:"matched_before,omitempty"`
	Changed       int              `json:"changed,omitempty"`
	Changes       []BacktestChange `json:"changes,omitempty"`

	Rules   []BacktestRule   `json:"rules"`   // in the order in which they are tried
	Actions []BacktestAction `json:"actions"` // the most frequent first
	Days    []BacktestDay    `json:"days"`    // those with messages, in UTC, the oldest first
	Broken  []BacktestBroken `json:"broken,omitempty"`

	Took time.Duration `json:"took_ns"`
}

// A BacktestRule is the result of one of the tried rules.
type BacktestRule struct {
	Name     string           `json:"name"`
	Priority int              `json:"priority"`
	Actions  []string         `json:"actions"`
	Matched  int              `json:"matched"`
	Samples  []BacktestSample `json:"samples,omitempty"` // the first that it matches
}

// A BacktestAction is how many messages an action would have been done to.
type BacktestAction struct {
	Action string `json:"action"` // with its parameters
	Count  int    `json:"count"`
	Before int    `json:"before,omitempty"` // by the set compared with
}

// A BacktestDay is the messages of a day.
type BacktestDay struct {
	Day      string `json:"day"` // as 2026-01-31
	Messages int    `json:"messages"`
	Matched  int    `json:"matched"`
}

// A BacktestChange is a difference between the two sets.
type BacktestChange struct {
	Before  []string         `json:"before"` // the actions; empty if no rule matches
	After   []string         `json:"after"`
	Count   int              `json:"count"`
	Samples []BacktestSample `json:"samples,omitempty"`
}

// A BacktestSample is one message, cut to the length of a line.
type BacktestSample struct {
	ID       string    `json:"id,omitempty"` // ours
	Received time.Time `json:"received,omitzero"`
	From     string    `json:"from"`
	Subject  string    `json:"subject"`
	Rules    []string  `json:"rules,omitempty"` // that match, of a difference
}

// A BacktestBroken is a rule that cannot be evaluated, and why.
type BacktestBroken struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}

// maxChanges bounds the differences that are counted separately; further ones count only in Changed.
const maxChanges = 1000

// A backtestCount counts while messages come in.
type backtestCount struct {
	cfg            BacktestConfig
	began          time.Time
	tried, against *trial
	dangerous      []bool // of each rule

	messages int // unreadable ones included
	report   Backtest
	actions  map[string]*BacktestAction
	days     map[string]*BacktestDay
	changes  map[string]*BacktestChange
}

func newBacktestCount(cfg BacktestConfig, began time.Time) *backtestCount {
	c := &backtestCount{
		cfg: cfg, began: began, tried: newTrial(newSet(cfg.Rules, cfg.Kinds, cfg.Senders != nil)),
		actions: map[string]*BacktestAction{}, days: map[string]*BacktestDay{}, changes: map[string]*BacktestChange{},
	}
	if cfg.Against != nil {
		c.against, c.report.Compared = newTrial(newSet(cfg.Against, cfg.Kinds, cfg.Senders != nil)), true
	}
	for i := range c.tried.set.rules {
		rule := &c.tried.set.rules[i].rule
		c.report.Rules = append(c.report.Rules, BacktestRule{Name: rule.Name, Priority: rule.Priority, Actions: c.tried.actions[i]})
		c.dangerous = append(c.dangerous, slices.ContainsFunc(rule.Actions(), func(a RuleAction) bool {
			return cfg.Kinds.Danger(a.Type) == postroom.Dangerous && rule.SafeMode != postroom.SafeDangerousOverride
		}))
	}
	for _, b := range c.tried.set.broken {
		c.report.Broken = append(c.report.Broken, BacktestBroken{b.Rule.Name, b.Err.Error()})
	}
	return c
}

func (c *backtestCount) add(ctx context.Context, messages []*postroom.Message) error {
	now, before, err := c.judge(ctx, messages)
	if err != nil {
		return err
	}
	for i, msg := range messages {
		c.messages++
		if msg == nil {
			c.report.Unreadable++
			continue
		}
		c.report.Messages++
		c.addDay(msg, len(now[i].rules) > 0)
		c.addVerdict(msg, now[i])
		if c.against != nil {
			c.addChange(msg, before[i], now[i])
		}
	}
	return nil
}

func (c *backtestCount) addDay(msg *postroom.Message, matched bool) {
	at := msg.ReceivedAt.UTC()
	if at.Year() <= 1 || at.Year() > 9999 { // unknown, or nonsense of the sender's that a mailbox has kept
		return
	}
	if c.report.First.IsZero() || at.Before(c.report.First) {
		c.report.First = at
	}
	if at.After(c.report.Last) {
		c.report.Last = at
	}
	key := at.Format(time.DateOnly)
	day := c.days[key]
	if day == nil {
		day = &BacktestDay{Day: key}
		c.days[key] = day
	}
	day.Messages++
	if matched {
		day.Matched++
	}
}

func (c *backtestCount) addVerdict(msg *postroom.Message, v verdict) {
	dangerous := false
	for _, n := range v.rules {
		rule := &c.report.Rules[n]
		rule.Matched++
		if len(rule.Samples) < c.cfg.Samples {
			rule.Samples = append(rule.Samples, sampleOf(msg))
		}
		dangerous = dangerous || c.dangerous[n]
	}
	if len(v.rules) > 0 {
		c.report.Matched++
	}
	if dangerous {
		c.report.Dangerous++
	}
	for _, action := range v.actions {
		c.action(action).Count++
	}
}

func (c *backtestCount) action(text string) *BacktestAction {
	if c.actions[text] == nil {
		c.actions[text] = &BacktestAction{Action: text}
	}
	return c.actions[text]
}

func (c *backtestCount) addChange(msg *postroom.Message, before, after verdict) {
	if len(before.rules) > 0 {
		c.report.MatchedBefore++
	}
	for _, action := range before.actions {
		c.action(action).Before++
	}
	if slices.Equal(before.actions, after.actions) {
		return
	}
	c.report.Changed++
	key := strings.Join(before.actions, "\n") + "\n\n" + strings.Join(after.actions, "\n")
	change := c.changes[key]
	if change == nil {
		if len(c.changes) == maxChanges {
			return
		}
		change = &BacktestChange{Before: slices.Concat([]string{}, before.actions), After: slices.Concat([]string{}, after.actions)}
		c.changes[key] = change
	}
	change.Count++
	if len(change.Samples) < c.cfg.Samples {
		sample := sampleOf(msg)
		for _, n := range after.rules {
			sample.Rules = append(sample.Rules, c.report.Rules[n].Name)
		}
		change.Samples = append(change.Samples, sample)
	}
}

// result sorts the counts.
func (c *backtestCount) result(took time.Duration) *Backtest {
	r := &c.report
	r.Took = took
	for _, key := range slices.Sorted(maps.Keys(c.days)) {
		r.Days = append(r.Days, *c.days[key])
	}
	for _, key := range slices.Sorted(maps.Keys(c.actions)) {
		r.Actions = append(r.Actions, *c.actions[key])
	}
	slices.SortStableFunc(r.Actions, func(a, b BacktestAction) int { return cmp.Compare(b.Count, a.Count) })
	for _, key := range slices.Sorted(maps.Keys(c.changes)) {
		r.Changes = append(r.Changes, *c.changes[key])
	}
	slices.SortStableFunc(r.Changes, func(a, b BacktestChange) int { return cmp.Compare(b.Count, a.Count) })
	return r
}

// maxSampleText is how many characters of a text a sample keeps.
const maxSampleText = 120

func sampleOf(msg *postroom.Message) BacktestSample {
	return BacktestSample{ID: msg.ID, Received: msg.ReceivedAt, From: cut(msg.From.String()), Subject: cut(msg.Subject)}
}

func cut(text string) string {
	if len(text) <= maxSampleText {
		return text
	}
	if runes := []rune(text); len(runes) > maxSampleText {
		return string(runes[:maxSampleText-1]) + "…"
	}
	return text
}
