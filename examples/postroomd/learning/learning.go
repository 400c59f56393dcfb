// Package learning is what the doors of a postroomd say and do about rules that are learned from corrections. Package
// rules/lessons keeps them.
package learning

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/lessons"
)

// A Rule is a learned rule as people see it.
type Rule struct {
	ID            string            `json:"id"`
	State         lessons.State     `json:"state"` // proposed, shadow or accepted
	Class         learn.Class       `json:"class"` // high or medium
	Name          string            `json:"name"`
	Text          string            `json:"text"` // as a rules file
	Agreeing      int               `json:"agreeing"`
	Contradicting int               `json:"contradicting"`
	Lower         float64           `json:"lower_bound"` // of its precision, from 0 to 1
	Matched       int               `json:"matched"`     // of the mail of 90 days
	ShadowMatched int               `json:"shadow_matched,omitempty"`
	Samples       []backtest.Sample `json:"samples"` // of what it would decide about
	Taught        []Message         `json:"taught"`  // the newest first
	Against       []Message         `json:"against"`
	ProposedAt    time.Time         `json:"proposed_at"`
	ChangedAt     time.Time         `json:"changed_at"`
	ChangedBy     string            `json:"changed_by"`
}

// Percent is the lower bound of the precision in percent.
func (r *Rule) Percent() int { return int(100 * r.Lower) }

// A Message is one that has taught a rule.
type Message struct {
	ID       string    `json:"id"` // Gmail's
	From     string    `json:"from"`
	Subject  string    `json:"subject"`
	Received time.Time `json:"received"`
}

// A Listing is what was learned in a mailbox.
type Listing struct {
	Mailbox string `json:"mailbox"`
	Rules   []Rule `json:"rules"` // the newest first
	// Bulk is how many corrections were made in bulk, for which nobody has said whose they are.
	Bulk int `json:"bulk"`
	// Drifts are the rules and models of whose last actions some were corrected.
	Drifts []Drift `json:"drifts"`
}

// Proposed are the rules that wait for a person, or are in shadow.
func (l *Listing) Proposed() (list []Rule) {
	for _, r := range l.Rules {
		if r.State != lessons.Accepted {
			list = append(list, r)
		}
	}
	return list
}

// Accepted are the rules in use.
func (l *Listing) Accepted() (list []Rule) {
	for _, r := range l.Rules {
		if r.State == lessons.Accepted {
			list = append(list, r)
		}
	}
	return list
}

// Check returns a [usage.Error] if nothing is learned here.
func Check(h *app.App) error {
	if h.Lessons == nil {
		return usage.Errorf("nothing is learned here: set learn.enabled = true")
	}
	return nil
}

// shown is how many messages of a rule are listed.
const shown = 10

// List lists what was learned in a mailbox, without what was dismissed.
func List(ctx context.Context, h *app.App, account mailstore.Account) (Listing, error) {
	l := Listing{Mailbox: account.Email, Rules: []Rule{}, Drifts: []Drift{}}
	if err := Check(h); err != nil {
		return l, err
	}
	learned, err := h.Lessons.Learned(ctx, account.ID)
	if err != nil {
		return l, err
	}
	for i := range learned {
		if learned[i].State == lessons.Dismissed {
			continue
		}
		rule, err := ruleOf(ctx, h, &learned[i])
		if err != nil {
			return l, err
		}
		l.Rules = append(l.Rules, rule)
	}
	if l.Bulk, err = h.Lessons.Bulk(ctx, account.ID); err != nil {
		return l, err
	}
	drifts, err := Drifts(ctx, h, account)
	l.Drifts = append(l.Drifts, drifts...)
	return l, err
}

func ruleOf(ctx context.Context, h *app.App, r *lessons.Rule) (Rule, error) {
	rule := Rule{ID: r.ID, State: r.State, Class: r.Class, Name: r.Name, Text: r.Text, Agreeing: r.Agreeing,
		Contradicting: r.Contradicting, Lower: r.Lower, Matched: r.Matched, ShadowMatched: r.ShadowMatched,
		Samples: r.Samples, ProposedAt: r.ProposedAt, ChangedAt: r.ChangedAt, ChangedBy: r.ChangedBy}
	if rule.Samples == nil {
		rule.Samples = []backtest.Sample{}
	}
	var err error
	if rule.Taught, err = messages(ctx, h, r.AccountID, r.Taught); err != nil {
		return rule, err
	}
	rule.Against, err = messages(ctx, h, r.AccountID, r.Against)
	return rule, err
}

// messages returns those of the messages that are still there.
func messages(ctx context.Context, h *app.App, accountID string, ids []string) ([]Message, error) {
	list := []Message{}
	for _, id := range ids[:min(len(ids), shown)] {
		m, err := h.Mail.Message(ctx, accountID, id)
		if errors.Is(err, postroom.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Message{ID: m.ProviderID, From: m.From.String(), Subject: m.Subject, Received: m.ReceivedAt})
	}
	return list, nil
}

// An Answer is what a person says about a learned rule.
type Answer string

// The answers.
const (
	Accept  Answer = "accept"
	Dismiss Answer = "dismiss"
	Remove  Answer = "remove" // an accepted rule, from those in use
)

// Give carries out an answer about a learned rule of a mailbox, whose id is given or as much of it as is unique.
func Give(ctx context.Context, h *app.App, account mailstore.Account, answer Answer, typed, by string) (Rule, error) {
	if err := Check(h); err != nil {
		return Rule{}, err
	}
	id, err := find(ctx, h, account, typed)
	if err != nil {
		return Rule{}, err
	}
	switch answer {
	case Accept:
		err = h.AcceptLearned(ctx, id, by)
	case Remove:
		err = h.RemoveLearned(ctx, id, by)
	case Dismiss:
		err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := h.Lessons.Dismiss(ctx, tx, id, by)
			return err
		})
	default:
		err = usage.Errorf("%q is no answer: accept, dismiss or remove", string(answer))
	}
	if errors.Is(err, lessons.ErrState) || errors.Is(err, postroom.ErrNotFound) {
		err = usage.Wrap(err)
	}
	if err != nil {
		return Rule{}, err
	}
	r, err := h.Lessons.Rule(ctx, id)
	if err != nil {
		return Rule{}, err
	}
	return ruleOf(ctx, h, &r)
}

func find(ctx context.Context, h *app.App, account mailstore.Account, typed string) (string, error) {
	learned, err := h.Lessons.Learned(ctx, account.ID)
	if err != nil {
		return "", err
	}
	var ids []string
	for i := range learned {
		if app.MatchesID(learned[i].ID, typed) {
			ids = append(ids, learned[i].ID)
		}
	}
	return app.OneID(ids, "learned rule", typed, "postroomd learn list")
}

// Run learns in a mailbox, now, and says what was found.
func Run(ctx context.Context, h *app.App, account mailstore.Account) (lessons.Report, error) {
	if err := Check(h); err != nil {
		return lessons.Report{}, err
	}
	shares, err := h.SharesRules(ctx, account.Email)
	if err != nil {
		return lessons.Report{}, err
	}
	return h.Lessons.Run(ctx, lessons.Account{ID: account.ID, Email: account.Email, SharesRules: shares}, time.Now())
}

// CountBulk says whether the corrections in bulk of a mailbox are a person's, and returns how many they are. If they
// are not as many as the person was shown, nothing is answered, with a [usage.Error].
func CountBulk(ctx context.Context, h *app.App, account mailstore.Account, shown int, count bool) (int, error) {
	if err := Check(h); err != nil {
		return 0, err
	}
	n, err := h.Lessons.CountBulk(ctx, account.ID, shown, count)
	if errors.Is(err, lessons.ErrBulk) {
		err = usage.Wrap(err)
	}
	return n, err
}

// Summary says in one line what a run has found.
func Summary(r lessons.Report) string {
	text := fmt.Sprintf("%d conversations were corrected or left: %d new rules, %d for a later week, %d not proven yet",
		r.Votes, r.Proposed, r.Waiting, r.Low)
	if r.Applied > 0 {
		text += fmt.Sprintf("; %d applied", r.Applied)
	}
	if r.Bulk > 0 {
		text += fmt.Sprintf("; %d corrections in bulk do not count: see 'postroomd learn bulk'", r.Bulk)
	}
	return text
}
