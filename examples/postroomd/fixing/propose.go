package fixing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A Way is how rules are fixed.
type Way string

// The ways.
const (
	Rule   Way = "rule"   // a new rule, about mail like the message, is tried before the one that decides
	Change Way = "change" // the rule that decides does another thing, with all mail that it takes
	Except Way = "except" // it leaves mail like the message to the rules after it
	Test   Way = "test"   // the rules stay: a test says what they must do about the message
)

// Ways are all ways.
var Ways = []Way{Rule, Change, Except, Test}

// An Order is what a person wants.
type Order struct {
	Way   Way // empty: Rule
	Rule  string
	About ruledraft.About // what mail is like the message in; empty: its list, or else its sender
	// Action is what should have been done, with the name of its label if it has one. An exception needs none.
	Action postroom.ActionType
	Label  string
	Test   bool // whether a test that says so is added
}

// A Proposal is a change of the rules. Nothing of it is saved.
type Proposal struct {
	Way  Way    `json:"way"`
	Rule string `json:"rule,omitempty"` // that is new, or changes
	Test string `json:"test,omitempty"` // that is added
	Says string `json:"says"`           // in a sentence
	// Differences are the rules and the tests that change, by lines that begin with a sign.
	Differences []string `json:"differences"`
	Then        []string `json:"then"` // what the changed rules do with the message
	Met         bool     `json:"met"`  // that is what was wanted
	// Dangers are what the changed rules would do with the message, and did not before, that cannot be taken back or
	// reaches other people.
	Dangers []string `json:"dangers,omitempty"`
	Failed  []string `json:"failed,omitempty"` // the tests of the rules that fail then, and passed before
	Notes   []string `json:"notes,omitempty"`
	Digest  string   `json:"digest"` // of the rules as they are and as they would be

	Changes []rulesfile.Difference `json:"-"`
	File    *rulesfile.File        `json:"-"` // the whole rules, as they would be
	Decides bool                   `json:"-"` // rules change, not only tests

	of *Case
}

// Propose makes the change of the rules that an order asks for. What cannot be done is a [usage.Error].
func (c *Case) Propose(ctx context.Context, o Order) (*Proposal, error) {
	if o.Way == "" {
		o.Way = Rule
	}
	if !slices.Contains(Ways, o.Way) {
		return nil, usage.Errorf("There is no way %q to fix rules: it is rule, change, except or test.", o.Way)
	}
	p := &Proposal{Way: o.Way, of: c, File: c.file}
	if o.Way != Test {
		changed, err := p.rule(o)
		if err != nil {
			return nil, err
		}
		p.Rule = changed.Name
		p.File, err = c.file.Revise(rulesfile.Revision{Rules: []rules.Rule{changed}}, c.options()...)
		if err != nil {
			return nil, usage.Wrap(err) // such as a label that Gmail does not take, or what a sender calls itself
		}
	}
	if o.Way == Test || o.Test {
		if err := p.addTest(ctx, o); err != nil {
			return nil, err
		}
	}
	return p, p.describe(ctx, o)
}

func (c *Case) options() []rulesfile.ParseOption { return c.app.RuleEditor.Options(c.path) }

// rule is the rule that is new, or changes, and what is said of it.
func (p *Proposal) rule(o Order) (rules.Rule, error) {
	c := p.of
	draft := ruledraft.Order{Action: o.Action, Label: o.Label, About: o.About}
	if o.Way == Rule {
		before := ""
		if draft.Decider = c.now.last; draft.Decider != nil {
			before = fmt.Sprintf(", and is tried before %q", draft.Decider.Name)
		}
		made, err := ruledraft.Of(c.message, draft, c.file.Rules)
		p.Says = fmt.Sprintf("The new rule %q is about all mail of %s%s.", made.Name, made.Condition.Value, before)
		return made, err
	}
	decider, err := c.decider(o.Rule)
	if err != nil {
		return rules.Rule{}, err
	}
	if o.Way == Change {
		changed, err := ruledraft.Change(*decider, draft)
		if err == nil && changed.Schedule.LabelOnlyUntil != decider.Schedule.LabelOnlyUntil {
			p.Notes = append(p.Notes, "The rule does not begin by labelling only: what it does now has no label.")
		}
		p.Says = fmt.Sprintf("The rule %q does this with all mail that it takes: %s.", changed.Name,
			inWords(rules.RuleAction{Type: changed.Action, Parameters: changed.Parameters}))
		return changed, err
	}
	changed, like, err := ruledraft.Except(*decider, c.message, o.About)
	p.Says = fmt.Sprintf("The rule %q leaves mail of %s to the rules after it.", changed.Name, like.Value)
	return changed, err
}

// decider is the rule of the name that decides about the message; empty: the first.
func (c *Case) decider(name string) (*rules.Rule, error) {
	if len(c.Deciders) == 0 {
		return nil, usage.Errorf("No rule of this mailbox has decided about the message that still would: write a new one.")
	}
	for _, d := range c.Deciders {
		if name == "" || d.Rule == name {
			return c.rule(d.Rule), nil
		}
	}
	return nil, usage.Errorf("The rule %q does not decide about the message.", name)
}

// addTest adds a test of what is wanted.
func (p *Proposal) addTest(ctx context.Context, o Order) error {
	mark, err := MarkOf(ctx, p.of.app, p.of.message)
	if err != nil {
		return err
	}
	e := ruledraft.Expectation{Mark: mark, Account: p.of.scoped}
	if !p.of.at.Equal(p.of.message.ReceivedAt) {
		e.Now = p.of.at
	}
	if o.Way == Except {
		e.Without = p.Rule
	} else {
		does, err := ruledraft.Order{Action: o.Action, Label: o.Label}.Does()
		if err != nil {
			return err
		}
		e.Actions = []rules.RuleAction{does}
	}
	revised, test, err := ruledraft.Expect(p.File, e, p.of.app.Env.ActionKinds(), p.of.options()...)
	if err != nil {
		return err
	}
	p.File, p.Test = revised, test.Name
	if o.Way == Test {
		p.Says = "The rules stay as they are. A test says what they must do about this message, whatever changes them."
	}
	return nil
}

// describe says what the proposal does.
func (p *Proposal) describe(ctx context.Context, o Order) error {
	c := p.of
	then, err := c.outcome(ctx, p.File)
	if err != nil {
		return err
	}
	p.Then, p.Met = then.words(), met(o, p.Rule, then)
	p.Changes = rulesfile.Differences(c.file.Rules, p.File.Rules)
	p.Decides = len(p.Changes) > 0
	p.Changes = append(p.Changes, rulesfile.TestDifferences(c.file.Tests, p.File.Tests)...)
	if len(p.Changes) == 0 {
		return usage.Errorf("That is so already: nothing would change.")
	}
	for i := range p.Changes {
		p.Differences = append(p.Differences, p.Changes[i].String())
	}
	p.Dangers = c.dangers(then)
	p.Failed = c.newlyFailing(p.File)
	p.addNotes()
	sum := sha256.Sum256([]byte(c.path + "\x00" + c.text + "\x00" + p.File.Source))
	p.Digest = hex.EncodeToString(sum[:])
	return nil
}

// met reports whether the rules do what is wanted.
func met(o Order, rule string, then outcome) bool {
	if o.Way == Except && (o.Action == "" || o.Action == postroom.None) {
		return !slices.Contains(then.matched, rule)
	}
	label := strings.TrimSpace(o.Label)
	return slices.ContainsFunc(then.decisions, func(d postroom.Decision) bool {
		named, _ := d.Parameters.Text(postroom.ParamLabel)
		return d.Action == o.Action && (named == "" || named == label)
	})
}

// dangers are what would be done with the message, and was not before, and is dangerous.
func (c *Case) dangers(then outcome) (list []string) {
	before := c.now.words()
	for i, words := range then.words() {
		d := then.decisions[i]
		if kind, known := c.app.Env.ActionKinds().Kind(d.Action); known && kind.Danger != postroom.Dangerous ||
			slices.Contains(before, words) {
			continue
		}
		asks := "; a person is asked first"
		if d.SafeMode == postroom.SafeDangerousOverride && !d.NeedsApproval {
			asks = ", and nobody is asked first"
		}
		list = append(list, fmt.Sprintf("The rule %q then does this with the message: %s. It cannot be taken back%s.",
			d.RuleName, words, asks))
	}
	return list
}

// newlyFailing are the tests of a file that fail, but for those that fail now.
func (c *Case) newlyFailing(file *rulesfile.File) (failed []string) {
	kinds, fails := c.app.Env.ActionKinds(), map[string]bool{}
	for _, result := range c.file.Test(c.file.Tests, kinds) {
		fails[result.Test.Name] = !result.Passed()
	}
	for _, result := range file.Test(file.Tests, kinds) {
		if !result.Passed() && !fails[result.Test.Name] {
			failed = append(failed, result.String())
		}
	}
	return failed
}

func (p *Proposal) addNotes() {
	known := map[string]bool{}
	for _, w := range p.of.file.Warnings {
		known[w.Message] = true
	}
	for _, w := range p.File.Warnings {
		if !known[w.Message] {
			p.Notes = append(p.Notes, w.String())
		}
	}
	if len(p.of.Shared) > 0 {
		p.Notes = append(p.Notes,
			"The rules are also those of "+strings.Join(p.of.Shared, ", ")+", and change there as well.")
	}
	for _, name := range p.of.Beyond {
		p.Notes = append(p.Notes,
			fmt.Sprintf("The rule %q of all mailboxes has the message, too; it is not changed here.", name))
	}
}

// Trial tries the changed rules on the stored mail since an instant, in place of those in use.
func (p *Proposal) Trial(since time.Time) app.Trial {
	return app.Trial{Account: p.of.account, Text: p.File.Source, Path: p.of.path, Since: since, Samples: 3}
}

// Try is the result of a trial on the mail of the 90 days before the newest.
func (p *Proposal) Try(ctx context.Context) (*backtest.Report, error) {
	newest, err := p.of.app.Mail.NewestReceived(ctx, p.of.account.ID)
	if err != nil {
		return nil, err
	}
	return p.of.app.Backtest(ctx, p.Trial(newest.Add(-triedSince)))
}

const triedSince = 90 * 24 * time.Hour

// Dangerous says what of a trial is dangerous and was not done before.
func (p *Proposal) Dangerous(tried *backtest.Report) (list []string) {
	kinds := p.of.app.Env.ActionKinds()
	for _, change := range tried.Changes {
		for _, words := range change.After {
			name, _, _ := strings.Cut(words, " ")
			kind, known := kinds.Kind(postroom.ActionType(name))
			if (!known || kind.Danger == postroom.Dangerous) && !slices.Contains(change.Before, words) {
				list = append(list, fmt.Sprintf("%s: %d of the messages, which cannot be taken back.", words, change.Count))
			}
		}
	}
	return list
}

// ErrChanged is the error of [Save] about rules that are not what they were when the change was shown. Nothing was
// saved.
var ErrChanged = errors.New("the rules, or what the fix would change, are not what was shown: look at it again")

// Save saves what a proposal with this digest has shown, as a new version of the rules, with the comments of their
// file. If anything has changed since, the error is [ErrChanged].
func Save(ctx context.Context, h *app.App, account mailstore.Account, m *postroom.Message, o Order, digest, by string) (
	*Proposal, error,
) {
	c, err := Open(ctx, h, account, m)
	if err != nil {
		return nil, err
	}
	p, err := c.Propose(ctx, o)
	if err != nil {
		return nil, err
	}
	if p.Digest != digest {
		return nil, ErrChanged
	}
	_, err = h.RuleEditor.Save(ctx, account.ID, by, c.text, p.File)
	return p, err
}
