package app

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A rulesGate keeps this process from deciding about the mail of an account until the rules of the file are stored for it. When a process
// starts, the stored rules are those of an earlier one. To store those of the file takes the account's labels, and so a call of Gmail,
// while the jobs that are due already run: mail would be decided by rules that the user has taken away.
//
// Meanwhile mail is taken in and stored, with a job that decides later; that job waits and spends no attempt. So does the job of what
// cannot be taken back and is decided again before it starts: that the stored rules permit it says nothing. To disable the stored rules
// that the file lacks would not do: what is left of them is what nobody wrote. A rule that keeps mail might be gone, and the one after it
// that deletes the rest still be there.
//
// Another process on the same database decides by what is stored, until that is replaced.
type rulesGate struct {
	mu   sync.Mutex
	open map[string]bool // by the id of the account
}

func newRulesGate() *rulesGate { return &rulesGate{open: map[string]bool{}} }

// holds reports whether nothing may be decided yet about the mail of the account. A nil gate holds nothing: the stored rules are all
// there are.
func (g *rulesGate) holds(accountID string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.open[accountID]
}

func (g *rulesGate) lets(accountID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open[accountID] = true
}

// ErrRulesNotStored is why a job that decides waits; its text tells such a job from one that waits for a model.
var ErrRulesNotStored = errors.New("the rules of the file are not stored yet for this mailbox, and nothing is decided about its mail until they are; " +
	"/readyz and 'postroomd jobs list --type labels.sync.gmail' say what they wait for")

// HoldDecisions is the middleware that gives back jobs that decide, by rules or a model, while the gate holds them.
func (h *App) HoldDecisions(next queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, a *queue.Attempt) error {
		err := ErrRulesNotStored
		if account, ok := classifiedAccount(&a.Job); !ok || !h.Gate.holds(account) {
			err = next(ctx, a)
		}
		if errors.Is(err, ErrRulesNotStored) {
			return queue.Defer(ErrRulesNotStored, attempts.Held(a.Job.Interruptions, time.Time{}, time.Now()))
		}
		return err
	}
}

// Confirm decides again about a message, see gmail.Config, unless the gate holds that.
func (h *App) confirm(e *rules.Engine) func(context.Context, *postroom.Message, postroom.Permit) (string, error) {
	return func(ctx context.Context, msg *postroom.Message, p postroom.Permit) (string, error) {
		if h.Gate.holds(msg.AccountID) {
			return "", queue.Defer(ErrRulesNotStored, time.Second)
		}
		return e.Confirm(ctx, msg, p)
	}
}

// decideAtOnce decides about a message while it is stored, or leaves it to the job if the gate holds it.
func (h *App) decideAtOnce(c *rules.Classifier) func(context.Context, *postroom.Message) (func(context.Context, queue.Tx) error, error) {
	return func(ctx context.Context, msg *postroom.Message) (func(context.Context, queue.Tx) error, error) {
		if h.Gate.holds(msg.AccountID) {
			return nil, nil
		}
		return c.Decide(ctx, msg)
	}
}

// classifiedAccount returns the account of a job that decides.
func classifiedAccount(j *queue.Job) (accountID string, ok bool) {
	if j.Type != string(rules.JobClassify) {
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
var byRules = []string{string(rules.JobClassify), string(gmail.JobAction), string(gmail.JobOutboundSend)}

// LetDecide opens the gate for an account whose rules are stored, and lets go on what has waited for them. Call it again a little later:
// a job that was held as the gate opened may not have been queued again by then.
func (h *App) LetDecide(ctx context.Context, accountID string) error {
	if h.Gate == nil {
		return nil
	}
	h.Gate.lets(accountID)
	now := time.Now()
	held, err := h.Backlog.Queued(ctx, queue.Filter{Types: byRules}, func(j *queue.Job) bool {
		of, ok := accountOf(j)
		return ok && of == accountID && WaitsForRules(j, now)
	})
	if err != nil {
		return err
	}
	return h.Backlog.makeDue(ctx, jobIDs(held))
}

// isGated reports whether a job waits for rules that are still not stored.
func (h *App) isGated(j *queue.Job, now time.Time) bool {
	accountID, ok := accountOf(j)
	return ok && WaitsForRules(j, now) && h.Gate.holds(accountID)
}

// WaitsForRules reports whether a job has been given back because the rules of the file were not stored.
func WaitsForRules(j *queue.Job, now time.Time) bool {
	return isGivenBack(j, now) && lacksRules(j)
}

func lacksRules(j *queue.Job) bool { return strings.HasPrefix(j.LastError, ErrRulesNotStored.Error()) }

// holdUntilRules makes the App decide nothing about the mail of an account until the rules of a file are stored for it.
func (h *App) holdUntilRules() { h.Gate = newRulesGate() }
