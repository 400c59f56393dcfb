package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// A dry run decides about mail in a transaction that it rolls back, so that nothing of it is left, and gives the job
// back. [Backlog.AskAgain] makes the job due at the next start: a run that is no dry run decides about the mail as if
// there had been none, and another dry run decides again.

// errDryRun is why a job that decides waits after a dry run.
var errDryRun = errors.New("dry run: nothing was done and nothing is recorded; the next start decides about the message")

// tryAgain is how long the job waits where nobody starts anew, or another process works on the same database.
const tryAgain = 24 * time.Hour

// wasTried reports whether a job that decides was given back by a dry run.
func wasTried(j *queue.Job) bool { return strings.Contains(j.LastError, errDryRun.Error()) }

// try is that of [rules.Config] for a dry run.
func (p *Pipeline) try(ctx context.Context, msg *postroom.Message,
	record func(ctx context.Context, tx queue.Tx) error) error {
	var would []safety.Entry
	err := p.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		would = nil // a transaction may be tried again
		if err := record(context.WithValue(ctx, wouldKey{}, &would), tx); err != nil {
			return err
		}
		return errDryRun
	})
	if !errors.Is(err, errDryRun) {
		return fmt.Errorf("pipeline: decide in a dry run: %w", err)
	}
	for _, e := range would {
		p.tell(ctx, msg, e)
	}
	return queue.Defer(errDryRun, tryAgain)
}

func (p *Pipeline) tell(ctx context.Context, msg *postroom.Message, e safety.Entry) {
	if p.cfg.Tried != nil {
		p.cfg.Tried(ctx, msg, e)
		return
	}
	p.cfg.Logger.InfoContext(ctx, "dry run: nothing was done", "would", e.Action.Type,
		"rule", e.Decision.Decision.RuleName,
		"account", msg.AccountID, "message", msg.ProviderID)
}

// A triedLedger remembers what is recorded through it, in the value of the context with wouldKey.
type triedLedger struct{ *safety.Ledger }

type wouldKey struct{}

// Record implements [rules.Ledger].
func (l triedLedger) Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context,
	tx queue.Tx) (postroom.Action, error) {
	record := l.Ledger.Record(ctx, msg, d)
	return func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return remembered(ctx, d)(record(ctx, tx))
	}
}

// Refuse implements [rules.Ledger].
func (l triedLedger) Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision,
	reason string) (postroom.Action, error) {
	return remembered(ctx, d)(l.Ledger.Refuse(ctx, tx, msg, d, reason))
}

func remembered(ctx context.Context, d postroom.Decision) func(postroom.Action, error) (postroom.Action, error) {
	return func(a postroom.Action, err error) (postroom.Action, error) {
		if would, ok := ctx.Value(wouldKey{}).(*[]safety.Entry); ok && err == nil {
			*would = append(*would, safety.Entry{Action: a, Decision: safety.DecisionRecord{Decision: d}})
		}
		return a, err
	}
}

// errNoAging is why the job of rules about age ends in a dry run, to be enqueued again by the next start.
var errNoAging = errors.New("dry run: rules about age are not asked; the next start asks them")

// hasDecided reports whether a version of a rule has decided about a message.
func (p *Pipeline) hasDecided(ctx context.Context, msg *postroom.Message, ruleID, version string) (bool, error) {
	list, err := p.Ledger.Decisions(ctx, safety.Filter{AccountID: msg.AccountID, MessageID: msg.ID, Rule: ruleID,
		Limit: 100})
	return slices.ContainsFunc(list, func(d safety.DecisionRecord) bool { return d.Decision.RuleVersion == version }), err
}

// registerAging registers the job of rules about age. It notes how far it has come, so that a dry run must not do it.
func (p *Pipeline) registerAging(d *queue.Dispatcher) error {
	if p.cfg.Safety.DryRun {
		queue.Handle(d, aging.Job, func(context.Context, *queue.Work[aging.Payload]) error {
			return queue.Cancel(errNoAging)
		})
		return nil
	}
	return aging.Register(d, aging.Config{Store: p.Mail, Engine: p.Engine, Ledger: p.Ledger, People: p.Undoer,
		Decided: p.hasDecided, SkipLabels: p.cfg.Gmail.SkipLabels, Now: p.cfg.Now, Logger: p.cfg.Logger})
}
