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
	// Messages are the messages to apply the rules to, such as those of gmail's Store.AllMessages. Required.
	Messages iter.Seq2[*postroom.Message, error]
	// Batch names the decisions: applying twice under one name records nothing twice, so that an interrupted Apply is finished by
	// repeating it. At most 64 letters, digits and hyphens. Default: a new UUID, see [Applied].
	Batch string

	// Labels and Ledger are those of [Config]. Required.
	Labels Labels
	Ledger Ledger

	// DryRun only counts what would be recorded, and writes nothing: a broken rule is skipped and not disabled. Approvals are not
	// predicted.
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
	// AlreadySo are actions that are left out because the message is as they would leave it. Refused are those that are recorded as
	// failed, since they name a label that is not there. Waiting are among the recorded ones those that wait for a person; zero in a
	// dry run.
	AlreadySo, Refused, Waiting int
}

// BatchKey returns the prefix of the keys of a batch's decisions; see [ApplyConfig].Batch.
func BatchKey(batch string) string { return postroom.BatchKeyPrefix + batch + ":" }

// applyBatch is how many messages are recorded in a transaction.
const applyBatch = 100

// Apply applies the stored rules to existing mail. It records the decisions about each message in the ledger, as the arrival of
// the message would have; the gate, the approvals, the jobs and the undo are those of any other action. The decisions are named
// by the batch, so that all of them can be found and undone at once, by [BatchKey]. Rules are evaluated as of now. Apply records
// nothing about messages that no rule matches, and omits actions that would change nothing.
//
// It writes 100 messages at a time, each in a transaction of its own. If it fails in between, Applied counts what was done.
func Apply(ctx context.Context, cfg ApplyConfig) (Applied, error) {
	done := Applied{Actions: map[string]int{}, Rules: map[string]int{}}
	if err := cfg.validate(); err != nil {
		return done, err
	}
	if cfg.Batch == "" {
		var err error
		if cfg.Batch, err = uuid7.New(); err != nil {
			return done, err
		}
	}
	done.Batch = cfg.Batch
	a := &applier{cfg: cfg, done: &done, classifier: classifier{Config{Labels: cfg.Labels, Ledger: cfg.Ledger, Kinds: cfg.Engine.store.Kinds()}}}
	var err error
	if a.set, err = cfg.set(ctx); err != nil {
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
	}
	strange := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}
	if len(c.Batch) > 64 || strings.ContainsFunc(c.Batch, strange) {
		faults = append(faults, fmt.Errorf("rules: ApplyConfig.Batch is %q; write at most 64 letters, digits and hyphens", c.Batch))
	}
	return errors.Join(faults...)
}

// set returns the set of the rules to apply.
func (c *ApplyConfig) set(ctx context.Context) (*Set, error) {
	switch {
	case len(c.Only) == 0 && c.DryRun:
		return c.Engine.compile(ctx)
	case len(c.Only) == 0:
		return c.Engine.current(ctx)
	}
	all, err := c.Engine.store.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Only {
		switch i := slices.IndexFunc(all, func(r Rule) bool { return r.Name == name }); {
		case i < 0:
			return nil, fmt.Errorf("rule %q: %w", name, postroom.ErrNotFound)
		case !all[i].Enabled:
			return nil, fmt.Errorf("rule %q is disabled; enable it first", name)
		}
	}
	chosen := slices.DeleteFunc(all, func(r Rule) bool { return !slices.Contains(c.Only, r.Name) })
	set := newSet(chosen, c.Engine.store.Kinds(), c.Engine.senders != nil)
	for _, b := range set.broken {
		return nil, b.Err
	}
	return set, nil
}

// An applier applies a set to messages.
type applier struct {
	classifier

	cfg  ApplyConfig
	set  *Set
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
	matched, alreadySo := 0, 0
	for _, msg := range messages {
		decisions, err := a.plan(ctx, msg, &alreadySo)
		if err != nil {
			return fmt.Errorf("apply rules: message %s: %w", msg.ID, err)
		}
		if decisions != nil {
			matched++
		}
		plan = append(plan, decisions...)
	}
	waiting := 0
	if !a.cfg.DryRun && len(plan) > 0 {
		err := a.cfg.Engine.store.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			waiting, err = recordAll(ctx, tx, plan)
			return err
		})
		if err != nil {
			return fmt.Errorf("apply rules: %w", err)
		}
	}
	a.count(len(messages), matched, alreadySo, waiting, plan)
	return nil
}

// plan returns the decisions to record about a message; nil if no rule matches.
func (a *applier) plan(ctx context.Context, msg *postroom.Message, alreadySo *int) ([]planned, error) {
	f, err := a.cfg.Engine.factsOf(ctx, a.set, msg)
	if err != nil {
		return nil, err
	}
	decisions := a.set.decide(msg, time.Now(), f)
	if decisions[0].Source == postroom.SourceNone {
		return nil, nil
	}
	plan := []planned{}
	for i, d := range decisions {
		d.Key = fmt.Sprintf("%s%d", BatchKey(a.cfg.Batch), i+1)
		d.Rationale += ", applied to existing mail as batch " + a.cfg.Batch
		d = a.usable(d)
		refusal, err := a.refusal(ctx, msg, &d)
		switch {
		case err != nil:
			return nil, err
		case refusal == "" && a.changesNothing(msg, &d):
			*alreadySo++
		default:
			plan = append(plan, planned{d, a.recording(msg, d, refusal), refusal})
		}
	}
	return plan, nil
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
	image := postroom.NewSnapshot(msg.LabelIDs)
	return image.Apply(kind.Effect(d.Parameters).Change).ChangeFrom(image).IsZero()
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

func (a *applier) count(messages, matched, alreadySo, waiting int, plan []planned) {
	a.done.Messages += messages
	a.done.Matched += matched
	a.done.AlreadySo += alreadySo
	a.done.Waiting += waiting
	for _, p := range plan {
		if p.refusal != "" {
			a.done.Refused++
			continue
		}
		a.done.Actions[string(p.decision.Action)]++
		a.done.Rules[p.decision.RuleName]++
	}
}
