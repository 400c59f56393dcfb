package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/away"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A rulesGate keeps this process from deciding about the mail of an account until its rules are stored. When a process
// starts, the stored rules are those of an earlier one. To store those of [Config].Rules takes the account's labels,
// and so a call of Gmail, while the jobs that are due already run: mail would be decided by rules that the user has
// taken away.
//
// Meanwhile mail is taken in and stored, with a job that decides later; that job waits and spends no attempt. So does
// the job of what cannot be taken back and is decided again before it starts: that the stored rules permit it says
// nothing. To disable the stored rules that the new ones lack would not do: what is left of them is what nobody wrote.
// A rule that keeps mail might be gone, and the one after it that deletes the rest still be there.
//
// Another process on the same database decides by what is stored, until that is replaced.
type rulesGate struct {
	given  bool // [Config].Rules is set: its rules are to be stored in this process
	stored func(ctx context.Context, accountID string) (bool, error)

	mu     sync.Mutex
	closed bool            // rules are to be stored before anything is decided
	open   map[string]bool // by the id of the account
}

func newRulesGate(p *Pipeline) *rulesGate {
	return &rulesGate{given: p.cfg.Rules != nil, stored: p.Rules.Stored, open: map[string]bool{}}
}

// close holds all accounts whose rules are not stored by the run that begins.
func (g *rulesGate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = g.given
	clear(g.open)
}

// holds reports whether nothing may be decided yet about the mail of the account. It does not, if that cannot be told.
func (g *rulesGate) holds(ctx context.Context, accountID string) bool {
	g.mu.Lock()
	open := g.open[accountID] || g.given && !g.closed
	g.mu.Unlock()
	if open {
		return false
	}
	if g.given {
		return true
	}
	stored, err := g.stored(ctx, accountID)
	if err != nil || !stored {
		return true
	}
	g.lets(accountID)
	return false
}

func (g *rulesGate) lets(accountID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[accountID] = true
}

// forgets holds an account that was removed.
func (g *rulesGate) forgets(accountID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, accountID)
}

// A gatedEngine decides nothing while the gate holds, also on a dispatcher without the pipeline's middleware.
type gatedEngine struct {
	*rules.Engine
	gate *rulesGate
}

// Decide implements [postroom.Decider].
func (e gatedEngine) Decide(ctx context.Context, msg *postroom.Message) (postroom.Decision, error) {
	if e.gate.holds(ctx, msg.AccountID) {
		return postroom.Decision{}, queue.Defer(rules.ErrNotStored, time.Minute)
	}
	return e.Engine.Decide(ctx, msg)
}

// DecideAll is Decide for several decisions.
func (e gatedEngine) DecideAll(ctx context.Context, msg *postroom.Message) ([]postroom.Decision, error) {
	if e.gate.holds(ctx, msg.AccountID) {
		return nil, queue.Defer(rules.ErrNotStored, time.Minute)
	}
	return e.Engine.DecideAll(ctx, msg)
}

// holdDecisions is the middleware that gives back jobs that decide, by rules or a model, while the gate holds them.
func (p *Pipeline) holdDecisions(next queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, a *queue.Attempt) error {
		err := rules.ErrNotStored
		if account, ok := classifiedAccount(&a.Job); !ok || !p.gate.holds(ctx, account) || p.isRemoved(ctx, account) {
			err = next(ctx, a)
		}
		if errors.Is(err, rules.ErrNotStored) {
			return queue.Defer(rules.ErrNotStored, attempts.Held(a.Job.Interruptions, time.Time{}, time.Now()))
		}
		return err
	}
}

// isRemoved reports whether an account was removed: a job that decides about its mail finds no message, and ends.
func (p *Pipeline) isRemoved(ctx context.Context, accountID string) bool {
	_, err := p.Mail.Account(ctx, accountID)
	return errors.Is(err, postroom.ErrNotFound)
}

// confirm decides again about a message, see gmail.Config, unless the gate holds that.
func (p *Pipeline) confirm(ctx context.Context, msg *postroom.Message, permit postroom.Permit) (string, error) {
	if p.gate.holds(ctx, msg.AccountID) {
		return "", queue.Defer(rules.ErrNotStored, time.Second)
	}
	if away.IsRule(permit.Decision.RuleID) {
		return "", p.confirmAway(ctx, msg, permit)
	}
	return p.Engine.Confirm(ctx, msg, permit)
}

// decideAtOnce decides about a message while it is stored, or leaves it to the job if the gate holds it, and in a
// dry run.
func (p *Pipeline) decideAtOnce(c *rules.Classifier) func(context.Context,
	*postroom.Message) (func(context.Context, queue.Tx) error, error) {
	return func(ctx context.Context, msg *postroom.Message) (func(context.Context, queue.Tx) error, error) {
		if p.cfg.Safety.DryRun || p.gate.holds(ctx, msg.AccountID) {
			return nil, nil
		}
		record, err := c.Decide(ctx, msg)
		if err != nil || record == nil {
			return nil, err
		}
		return func(ctx context.Context, tx queue.Tx) error {
			if err := p.arrived(ctx, tx, msg); err != nil {
				return err
			}
			return record(ctx, tx)
		}, nil
	}
}

// classifiedAccount returns the account of a job that decides.
func classifiedAccount(j *queue.Job) (accountID string, ok bool) {
	if j.Type != string(rules.JobClassify) && j.Type != string(aging.Job) {
		return "", false
	}
	return accountOf(j)
}

// accountOf returns the account of a job that goes by its rules.
func accountOf(j *queue.Job) (accountID string, ok bool) {
	var of struct {
		AccountID string `json:"account_id"`
	}
	err := json.Unmarshal(j.Payload, &of)
	return of.AccountID, err == nil
}

// byRules are the types of the jobs that go by the rules of an account.
var byRules = []string{string(rules.JobClassify), string(gmail.JobAction), string(outbox.JobSend), string(aging.Job)}

// letDecide opens the gate for an account whose rules are stored, and lets go on what has waited for them. It is called
// again a little later: a job that was held as the gate opened may not have been queued again by then.
func (p *Pipeline) letDecide(ctx context.Context, accountID string) error {
	p.gate.lets(accountID)
	now := time.Now()
	held, err := p.Backlog.Queued(ctx, queue.Filter{Types: byRules}, func(j *queue.Job) bool {
		of, ok := accountOf(j)
		return ok && of == accountID && WaitsForRules(j, now)
	})
	if err != nil {
		return err
	}
	return p.Backlog.makeDue(ctx, jobIDs(held))
}

// isGated reports whether a job waits for rules that are still not stored.
func (p *Pipeline) isGated(ctx context.Context, j *queue.Job, now time.Time) bool {
	accountID, ok := accountOf(j)
	return ok && WaitsForRules(j, now) && p.gate.holds(ctx, accountID)
}

// WaitsForRules reports whether a job has been given back because the rules of its account were not stored.
func WaitsForRules(j *queue.Job, now time.Time) bool { return isGivenBack(j, now) && lacksRules(j) }

func lacksRules(j *queue.Job) bool { return strings.Contains(j.LastError, rules.ErrNotStored.Error()) }
