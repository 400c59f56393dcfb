package rules

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// ApplyConfig configures an [Apply].
type ApplyConfig struct {
	// Engine decides by the stored rules. Required. Only stored rules are applied: the safety gate looks each one up.
	Engine *Engine
	// Only are the names of the rules that are applied, as if there were no others. Default empty: all that are enabled.
	Only []string
	// Aged has only this rule decide, at its version, among all rules; its decisions are named by it instead of Batch, so
	// that each version of a rule decides once about a message. If the rule has changed, Apply returns [ErrRuleChanged].
	// Default nil: all rules decide.
	Aged *Aging
	// Meant has only the rules decide that ask what a message means, among all rules, when that has been found out; their
	// decisions are named by them instead of Batch, so that each version of a rule decides once about a message. Default
	// false: all rules decide.
	Meant bool
	// Decided reports whether a version of a rule has decided about a message before, such as when it arrived: Aged and
	// Meant then leave the rule out. Default nil: it is asked again.
	Decided func(ctx context.Context, msg *postroom.Message, ruleID, version string) (bool, error)
	// Messages are the messages to apply the rules to, such as those of gmail's Store.AllMessages. Required.
	Messages iter.Seq2[*postroom.Message, error]
	// Batch names the decisions: applying twice under one name records nothing twice, so that an interrupted Apply is
	// finished by repeating it. At most 64 letters, digits and hyphens. Default: a new UUID, see [Applied].
	Batch string

	// Labels and Ledger are those of [Config]. Required.
	Labels Labels
	Ledger Ledger
	// People know what was changed by hand, undone or asked before: what goes against that is left out. *undo.Undoer
	// implements it. Default nil: all that the rules say is done.
	People People
	// Skip reports whether actions of a type are left out, as if the rule did not have them. Default nil: none is.
	Skip func(postroom.ActionType) bool
	// Now returns the present time. Default [time.Now].
	Now func() time.Time

	// DryRun only counts what would be recorded, and writes nothing: a broken rule is skipped and not disabled.
	// Approvals are not predicted.
	DryRun bool
}

// An Applied counts what an [Apply] has recorded, or would record.
type Applied struct {
	Batch    string
	Messages int // that were looked at
	Matched  int // that a rule matches
	// Actions are the recorded actions, by type and by the name of their rule.
	Actions map[string]int
	Rules   map[string]int
	// AlreadySo are actions that are left out because the message is as they would leave it. Refused are those that are
	// recorded as failed, since they name a label that is not there. Waiting are among the recorded ones those that wait
	// for a person; zero in a dry run. LeftAlone are actions that are left out because they would reverse what a person
	// has changed by hand, or do again what was undone or rejected, or what waits or is done for good. Skipped are those
	// that are left out by [ApplyConfig].Skip.
	AlreadySo, Refused, Waiting, LeftAlone, Skipped int
}

// People know what people have done to messages.
type People interface {
	// Reverses reports whether a decision would reverse what a person has changed by hand of the message, or do again
	// what was undone or rejected, or what waits or is done for good. The decision names labels by their ids.
	Reverses(ctx context.Context, msg *postroom.Message, d *postroom.Decision) (bool, error)
}

// BatchKey returns the prefix of the keys of a batch's decisions; see [ApplyConfig].Batch.
func BatchKey(batch string) string { return postroom.BatchKeyPrefix + batch + ":" }

// applyBatch is how many messages are recorded in a transaction.
const applyBatch = 100

// Apply applies the stored rules to existing mail. It records the decisions about each message in the ledger, as the
// arrival of the message would have; the gate, the approvals, the jobs and the undo are those of any other action.
// The decisions are named by the batch, so that all of them can be found and undone at once, by [BatchKey]. Rules are
// evaluated as of now. Apply records nothing about messages that no rule matches, and omits actions that would change
// nothing, and those that would reverse what a person has done; see [ApplyConfig].People.
//
// It reads the rules of an account at its first message, and writes 100 messages at a time, each in a transaction of
// its own. If it fails in between, Applied counts what was done.
func Apply(ctx context.Context, cfg ApplyConfig) (Applied, error) {
	done := Applied{Actions: map[string]int{}, Rules: map[string]int{}}
	if err := cfg.validate(); err != nil {
		return done, err
	}
	if cfg.Batch == "" && cfg.Aged == nil && !cfg.Meant {
		var err error
		if cfg.Batch, err = uuid7.New(); err != nil {
			return done, err
		}
	}
	done.Batch = cfg.Batch
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	a := &applier{cfg: cfg, done: &done, sets: map[string]*Set{},
		classifier: classifier{Config{Labels: cfg.Labels, Ledger: cfg.Ledger, Kinds: cfg.Engine.store.Kinds()}}}
	if err := a.choose(ctx); err != nil {
		return done, fmt.Errorf("apply rules: %w", err)
	}
	var chunk []*postroom.Message
	for msg, err := range cfg.Messages {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return done, fmt.Errorf("apply rules: %w", err)
		}
		if chunk = append(chunk, msg); len(chunk) == applyBatch {
			if err := a.apply(ctx, chunk); err != nil {
				return done, err
			}
			chunk = nil
		}
	}
	return done, a.apply(ctx, chunk)
}

func (c *ApplyConfig) validate() error {
	faults := []error{
		fields.Required("rules: ApplyConfig.Engine", c.Engine, "one made by NewEngine"),
		fields.Required("rules: ApplyConfig.Messages", c.Messages, "a sequence of messages"),
		fields.Required("rules: ApplyConfig.Labels", c.Labels, "the store of labels, such as a *mailstore.Store"),
		fields.Required("rules: ApplyConfig.Ledger", c.Ledger, "the ledger of decisions, such as a *safety.Ledger"),
		fields.Optional("rules: ApplyConfig.People", c.People),
	}
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}
	if len(c.Batch) > 64 || strings.ContainsFunc(c.Batch, strange) {
		faults = append(faults, fmt.Errorf("rules: ApplyConfig.Batch is %q; write at most 64 letters, digits and hyphens",
			c.Batch))
	}
	return errors.Join(faults...)
}

// choose makes the set of the rules that are named, if any are.
func (a *applier) choose(ctx context.Context) error {
	if len(a.cfg.Only) == 0 {
		return nil
	}
	all, err := a.cfg.Engine.store.List(ctx)
	if err != nil {
		return err
	}
	for _, name := range a.cfg.Only {
		switch i := slices.IndexFunc(all, func(r Rule) bool { return r.Name == name }); {
		case i < 0:
			return fmt.Errorf("rule %q: %w", name, postroom.ErrNotFound)
		case !all[i].Enabled:
			return fmt.Errorf("rule %q is disabled; enable it first", name)
		}
	}
	chosen := slices.DeleteFunc(all, func(r Rule) bool { return !slices.Contains(a.cfg.Only, r.Name) })
	a.only = newSet(chosen, a.cfg.Engine.store.Kinds(), a.cfg.Engine.knows())
	for _, b := range a.only.broken {
		return b.Err
	}
	return nil
}

// set returns the set of the rules to apply to mail of an account: those that were stored at its first message.
func (a *applier) set(ctx context.Context, accountID string) (*Set, error) {
	if a.only != nil {
		return a.only, nil
	}
	if s := a.sets[accountID]; s != nil {
		return s, nil
	}
	read := a.cfg.Engine.current
	if a.cfg.DryRun {
		read = a.cfg.Engine.preview
	}
	s, err := read(ctx, accountID)
	if err == nil && a.cfg.Aged != nil {
		err = a.cfg.Aged.isIn(s)
	}
	if err != nil {
		return nil, err
	}
	a.sets[accountID] = s
	return s, nil
}

// An applier applies rules to messages.
type applier struct {
	classifier

	cfg  ApplyConfig
	only *Set            // of the rules that are named; nil: all are applied
	sets map[string]*Set // by account
	done *Applied
}

// A planned decision about a message is recorded, or refused if refusal says why it cannot be carried out.
type planned struct {
	decision postroom.Decision
	record   recording
	refusal  string
}

func (a *applier) apply(ctx context.Context, messages []*postroom.Message) error {
	var plan []planned
	var counts Applied // of this chunk
	for _, msg := range messages {
		decisions, err := a.plan(ctx, msg, &counts)
		if err != nil {
			return fmt.Errorf("apply rules: message %s: %w", msg.ID, err)
		}
		plan = append(plan, decisions...)
	}
	if !a.cfg.DryRun && len(plan) > 0 {
		err := a.cfg.Engine.store.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			counts.Waiting, err = recordAll(ctx, tx, plan)
			return err
		})
		if err != nil {
			return fmt.Errorf("apply rules: %w", err)
		}
	}
	a.count(len(messages), &counts, plan)
	return nil
}

// plan returns the decisions to record about a message, and counts it if a rule matches.
func (a *applier) plan(ctx context.Context, msg *postroom.Message, counts *Applied) (plan []planned, err error) {
	set, err := a.set(ctx, msg.AccountID)
	if err != nil {
		return nil, err
	}
	now := a.cfg.Now()
	f, err := a.cfg.Engine.factsOf(ctx, set, msg, now)
	if err != nil {
		return nil, err
	}
	decisions := set.decide(msg, now, f)
	key, why := BatchKey(a.cfg.Batch), ", applied to existing mail as batch "+a.cfg.Batch
	if aged := a.cfg.Aged; aged != nil {
		decisions, key = aged.decidedBy(decisions), aged.agedKey()
		why = ", asked again since the message has become old enough"
	}
	if a.cfg.Meant {
		decisions, why = set.meant(decisions), ", asked when it was known what the message means"
	}
	if len(decisions) == 0 || decisions[0].Source == postroom.SourceNone {
		return nil, nil
	}
	if decisions, err = a.undecided(ctx, msg, decisions); err != nil || len(decisions) == 0 {
		return nil, err
	}
	counts.Matched++
	for i, d := range decisions {
		if a.cfg.Skip != nil && a.cfg.Skip(d.Action) {
			counts.Skipped++
			continue
		}
		d.Key = fmt.Sprintf("%s%d", key, i+1)
		if a.cfg.Meant {
			d.Key = keyOfMeant(decisions, i)
		}
		d.Rationale += why
		d = a.usable(d)
		refusal, err := a.refusal(ctx, msg, &d)
		if err == nil && refusal == "" {
			var left *int
			if left, err = a.leftOut(ctx, msg, &d, counts); left != nil {
				*left++
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		plan = append(plan, planned{d, a.recording(ctx, msg, d, refusal), refusal})
	}
	return plan, nil
}

// undecided leaves out the decisions of rules that have decided about the message before, at their version, where each
// decides once.
func (a *applier) undecided(ctx context.Context, msg *postroom.Message, decisions []postroom.Decision) (
	open []postroom.Decision, err error) {
	if a.cfg.Decided == nil || a.cfg.Aged == nil && !a.cfg.Meant {
		return decisions, nil
	}
	done := map[string]bool{}
	for _, d := range decisions {
		decided, asked := done[d.RuleID]
		if !asked {
			if decided, err = a.cfg.Decided(ctx, msg, d.RuleID, d.RuleVersion); err != nil {
				return nil, err
			}
			done[d.RuleID] = decided
		}
		if !decided {
			open = append(open, d)
		}
	}
	return open, nil
}

// meantKey begins the keys of decisions of rules that ask what a message means.
const meantKey = "meant:"

// keyOfMeant returns the key of a decision, which is numbered within its rule: what other rules decide, and when, does
// not change it.
func keyOfMeant(decisions []postroom.Decision, i int) string {
	rule, number := decisions[i].RuleID, 0
	for _, d := range decisions[:i+1] {
		if d.RuleID == rule {
			number++
		}
	}
	return fmt.Sprintf("%s%s:%s:%d", meantKey, rule, decisions[i].RuleVersion, number)
}

// meant returns the decisions of rules that ask what a message means.
func (s *Set) meant(decisions []postroom.Decision) (of []postroom.Decision) {
	for i := range s.rules {
		c := s.at(i)
		for _, d := range decisions {
			if c.meaning != 0 && d.RuleID == c.rule.ID {
				of = append(of, d)
			}
		}
	}
	return of
}

// leftOut returns the count of the actions that are left out as this one is; nil if it is not.
func (a *applier) leftOut(ctx context.Context, msg *postroom.Message, d *postroom.Decision,
	counts *Applied) (*int, error) {
	if a.changesNothing(msg, d) {
		return &counts.AlreadySo, nil
	}
	if a.cfg.People == nil {
		return nil, nil //nolint:nilnil // none is no error, and no count
	}
	reverses, err := a.cfg.People.Reverses(ctx, msg, d)
	if err != nil || !reverses {
		return nil, err
	}
	return &counts.LeftAlone, nil
}

// changesNothing reports whether the message is already as the action would leave it.
func (a *applier) changesNothing(msg *postroom.Message, d *postroom.Decision) bool {
	if d.Action == postroom.None {
		return !d.NeedsApproval
	}
	kind, ok := a.classifier.cfg.Kinds.Kind(d.Action)
	if !ok || kind.Effect == nil || d.Action == postroom.Snooze {
		return false
	}
	before := postroom.NewSnapshot(msg.LabelIDs)
	return before.Apply(kind.Effect(d.Parameters).Change).ChangeFrom(before).IsZero()
}

func recordAll(ctx context.Context, tx queue.Tx, plan []planned) (waiting int, err error) {
	for _, p := range plan {
		action, err := p.record(ctx, tx)
		if err != nil {
			return 0, err
		}
		if action.State == postroom.ActionPendingApproval {
			waiting++
		}
	}
	return waiting, nil
}

func (a *applier) count(messages int, counts *Applied, plan []planned) {
	a.done.Messages += messages
	a.done.Matched += counts.Matched
	a.done.AlreadySo += counts.AlreadySo
	a.done.Waiting += counts.Waiting
	a.done.LeftAlone += counts.LeftAlone
	a.done.Skipped += counts.Skipped
	for _, p := range plan {
		if p.refusal != "" {
			a.done.Refused++
			continue
		}
		a.done.Actions[string(p.decision.Action)]++
		a.done.Rules[p.decision.RuleName]++
	}
}
