// Package fixing changes rules by a person's word about one message: "it should have been archived". [Open] says which
// rules decide about it, [Case.Propose] makes the change of the rules as a difference, and [Save] saves it, if the
// rules still are those that it was shown for.
package fixing

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// A Case is a message, and what the rules do with it.
type Case struct {
	Deciders []Decider `json:"deciders"` // the first is the one that is meant if none is named
	Now      []string  `json:"now"`      // what the rules of now do with the message, as it came; empty: no rule has it
	Likes    []Like    `json:"likes"`    // what mail can be like the message in, the usual one first
	// Shared are the other mailboxes that read the same rules.
	Shared []string `json:"shared,omitempty"`
	// Beyond are the rules of all mailboxes that have the message: they are not those of its mailbox, and are not
	// changed here.
	Beyond []string `json:"beyond,omitempty"`

	app     *app.App
	account mailstore.Account
	message *postroom.Message
	at      time.Time // when it was decided about
	facts   *rules.Facts
	global  []rules.Rule

	path, text string
	file       *rulesfile.File // of the text
	now        outcome
	scoped     string // the mailbox as a rule of one mailbox names it
}

// A Decider is a rule that decides about a message.
type Decider struct {
	Rule    string   `json:"rule"`
	Does    []string `json:"does"`
	Decided bool     `json:"decided"` // it has, and is as it was then
	Now     bool     `json:"now"`     // it has the message now
}

// A Like is what mail can be like a message in.
type Like struct {
	About ruledraft.About `json:"about"`
	Value string          `json:"value"` // such as the address of the sender
}

// Open reads what the rules of its mailbox do with a message. Rules that cannot be read are a [usage.Error].
func Open(ctx context.Context, h *app.App, account mailstore.Account, m *postroom.Message) (*Case, error) {
	c := &Case{app: h, account: account, message: m, at: m.ReceivedAt, Deciders: []Decider{}, Likes: []Like{}}
	conditions, abouts := ruledraft.AboutsOf(m)
	for i, about := range abouts {
		c.Likes = append(c.Likes, Like{about, conditions[i].Value})
	}
	if err := c.readRules(ctx); err != nil {
		return nil, err
	}
	if err := c.readFacts(ctx); err != nil {
		return nil, err
	}
	recorded, err := c.recorded(ctx)
	if err != nil {
		return nil, err
	}
	if c.now, err = c.outcome(ctx, c.file); err != nil {
		return nil, err
	}
	c.Now, c.Beyond = c.now.words(), c.now.beyond
	for _, name := range recorded {
		c.addDecider(name, true)
	}
	for _, name := range slices.Backward(c.now.matched) {
		c.addDecider(name, false)
	}
	return c, nil
}

func (c *Case) readRules(ctx context.Context) (err error) {
	editor := c.app.RuleEditor
	if c.path, err = editor.Path(ctx, c.account.ID); err != nil {
		return err
	}
	if c.text, err = editor.Text(ctx, c.account.ID); err != nil {
		return err
	}
	if c.file, err = editor.Written(c.path, c.text); err != nil {
		return err
	}
	for i := range c.file.Rules {
		if own := c.file.Rules[i : i+1]; own[0].Scope == rules.ScopeAccount &&
			len((&rulesfile.File{Rules: own}).For(c.account.ID, c.account.Email).Rules) > 0 {
			c.scoped = own[0].ScopeRef
		}
	}
	readers, err := editor.Readers(ctx, c.account.ID)
	for _, reader := range readers {
		if reader.Email() != c.account.Email {
			c.Shared = append(c.Shared, reader.Email())
		}
	}
	return err
}

// readFacts reads what the rules may ask besides the message.
func (c *Case) readFacts(ctx context.Context) (err error) {
	c.facts = &rules.Facts{Server: rules.GmailServer}
	if c.facts.SenderSeen, err = c.app.Mail.SenderSeen(ctx, c.message); err != nil {
		return err
	}
	if c.facts.Past, err = c.app.PastOf(ctx, c.message); err != nil {
		return err
	}
	if c.app.Enrichment != nil {
		c.facts.Meaning, err = c.app.Enrichment.Meaning(ctx, c.message)
	}
	return err
}

// recorded returns the names of the rules that have decided about the message, the last one first. Those that are gone,
// disabled or changed since are left out: they would not decide so again.
func (c *Case) recorded(ctx context.Context) (names []string, err error) {
	stored, err := c.app.Rules.ListOf(ctx, c.account.ID)
	if err != nil {
		return nil, err
	}
	for i := range stored {
		if stored[i].AccountID == "" {
			c.global = append(c.global, stored[i])
		}
	}
	decided, err := c.app.Ledger.Decisions(ctx, safety.Filter{AccountID: c.account.ID, MessageID: c.message.ID,
		Sources: []postroom.Source{postroom.SourceDeterministic}, Limit: 100})
	for _, d := range decided {
		i := slices.IndexFunc(stored, func(r rules.Rule) bool {
			return r.ID == d.Decision.RuleID && r.AccountID != "" && r.Enabled && r.Version() == d.Decision.RuleVersion
		})
		if i < 0 {
			continue
		}
		if names = append(names, stored[i].Name); d.CreatedAt.Sub(c.at) > lateDecision {
			c.at = d.CreatedAt // such as by a rule about old mail
		}
	}
	return names, err
}

// lateDecision is how long after its arrival mail is decided about because of its age.
const lateDecision = 24 * time.Hour

// addDecider adds a rule of the file, once.
func (c *Case) addDecider(name string, decided bool) {
	rule := c.rule(name)
	if rule == nil || !rule.Enabled || slices.ContainsFunc(c.Deciders, func(d Decider) bool { return d.Rule == name }) {
		return
	}
	d := Decider{Rule: name, Decided: decided, Now: slices.Contains(c.now.matched, name)}
	for _, a := range rule.Actions() {
		d.Does = append(d.Does, inWords(a))
	}
	c.Deciders = append(c.Deciders, d)
}

// rule is the rule of the name in the file; nil if there is none.
func (c *Case) rule(name string) *rules.Rule {
	i := slices.IndexFunc(c.file.Rules, func(r rules.Rule) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	return &c.file.Rules[i]
}

// An outcome is what rules do with a message.
type outcome struct {
	matched   []string    // the rules of the mailbox that have it, in the order in which they are tried
	beyond    []string    // those of all mailboxes
	last      *rules.Rule // of both; nil if none has it
	decisions []postroom.Decision
}

// outcome tries the rules of a file on the message, as it came or was decided about.
func (c *Case) outcome(ctx context.Context, file *rulesfile.File) (o outcome, err error) {
	list, err := c.app.RuleEditor.ParseFor(ctx, c.account.ID, c.path, file.Source)
	if err != nil {
		return o, err
	}
	set := rules.NewSetWithFacts(append(list, c.global...), c.app.Env.ActionKinds())
	x := set.ExplainWith(c.message, c.at, c.facts)
	for _, tried := range x.Rules {
		if tried.Outcome != rules.Matched {
			continue
		}
		o.last = &tried.Rule
		if tried.Rule.AccountID == "" {
			o.beyond = append(o.beyond, tried.Rule.Name)
		} else {
			o.matched = append(o.matched, tried.Rule.Name)
		}
	}
	for _, d := range x.Decisions {
		if d.Source != postroom.SourceNone {
			o.decisions = append(o.decisions, d)
		}
	}
	return o, nil
}

func (o outcome) words() []string {
	list := []string{}
	for _, d := range o.decisions {
		list = append(list, inWords(rules.RuleAction{Type: d.Action, Parameters: d.Parameters}))
	}
	return list
}

// inWords describes an action: none is what no later rule, and no model, is to change.
func inWords(a rules.RuleAction) string {
	if a.Type == postroom.None {
		return "leave alone"
	}
	return a.InWords()
}
