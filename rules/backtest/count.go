package backtest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// maxChanges bounds the differences that are counted separately; further ones count only in Changed.
const maxChanges = 1000

// A counter counts while messages come in.
type counter struct {
	cfg            Config
	began          time.Time
	tried, against *trial
	dangerous      []bool // of each rule

	messages int // unreadable ones included
	report   Report
	actions  map[string]*Action
	days     map[string]*Day
	changes  map[string]*Change
}

func newCounter(cfg Config, began time.Time) *counter {
	c := &counter{
		cfg: cfg, began: began, tried: newTrial(cfg.Rules, &cfg),
		actions: map[string]*Action{}, days: map[string]*Day{}, changes: map[string]*Change{},
	}
	if cfg.Against != nil {
		c.against, c.report.Compared = newTrial(cfg.Against, &cfg), true
	}
	for i := range c.tried.rules {
		rule := &c.tried.rules[i]
		c.report.Rules = append(c.report.Rules, Rule{Name: rule.Name, Priority: rule.Priority, Actions: c.tried.actions[i]})
		c.dangerous = append(c.dangerous, slices.ContainsFunc(rule.Actions(), func(a rules.RuleAction) bool {
			return cfg.Kinds.Danger(a.Type) == postroom.Dangerous && rule.SafeMode != postroom.SafeDangerousOverride
		}))
	}
	for _, b := range c.tried.set.Broken() {
		c.report.Broken = append(c.report.Broken, Broken{b.Rule.Name, b.Err.Error()})
	}
	return c
}

func (c *counter) add(ctx context.Context, messages []*postroom.Message) error {
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

func (c *counter) addDay(msg *postroom.Message, matched bool) {
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
		day = &Day{Day: key}
		c.days[key] = day
	}
	day.Messages++
	if matched {
		day.Matched++
	}
}

func (c *counter) addVerdict(msg *postroom.Message, v verdict) {
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

func (c *counter) action(text string) *Action {
	if c.actions[text] == nil {
		c.actions[text] = &Action{Action: text}
	}
	return c.actions[text]
}

func (c *counter) addChange(msg *postroom.Message, before, after verdict) {
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
		change = &Change{Before: slices.Concat([]string{}, before.actions), After: slices.Concat([]string{}, after.actions)}
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
func (c *counter) result(took time.Duration) *Report {
	r := &c.report
	r.Took = took
	for _, key := range slices.Sorted(maps.Keys(c.days)) {
		r.Days = append(r.Days, *c.days[key])
	}
	for _, key := range slices.Sorted(maps.Keys(c.actions)) {
		r.Actions = append(r.Actions, *c.actions[key])
	}
	slices.SortStableFunc(r.Actions, func(a, b Action) int { return cmp.Compare(b.Count, a.Count) })
	for _, key := range slices.Sorted(maps.Keys(c.changes)) {
		r.Changes = append(r.Changes, *c.changes[key])
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int { return cmp.Compare(b.Count, a.Count) })
	return r
}

// maxSampleText is how many characters of a text a sample keeps.
const maxSampleText = 120

func sampleOf(msg *postroom.Message) Sample {
	return Sample{ID: msg.ID, Received: msg.ReceivedAt, From: cut(msg.From.String()), Subject: cut(msg.Subject)}
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
