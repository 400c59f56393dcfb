package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const (
	// week is half a day short: a job that is scheduled once a week may begin a little earlier than the last time.
	week    = 6*24*time.Hour + 12*time.Hour
	weekly  = 5  // rules of an account that are proposed within a week
	samples = 10 // messages of each rule
)

// A Report says what a run has found.
type Report struct {
	Votes    int // threads that taught something
	Bulk     int // corrections in bulk, for which nobody has answered
	Low      int // rules that are not proven, and only counted
	Proposed int // rules that were proposed, or came into shadow
	Waiting  int // proven rules that are proposed in a later week
	Applied  int // rules that were applied from shadow
	Gone     int // rules whose proof is gone, and which are not proposed any more
}

// A plan is what a run is going to write.
type plan struct {
	report  Report
	account Account
	now     time.Time
	rules   []Rule          // of the findings, those that are accepted or still dismissed left out
	inUse   map[string]bool // the names of the rules in use
}

// find reads the mail and the corrections of an account, and writes nothing.
func (s *Store) find(ctx context.Context, account Account, now time.Time) (*plan, error) {
	p := &plan{account: account, now: now}
	facts, bulk, err := s.Facts(ctx, account, now)
	if err != nil {
		return nil, err
	}
	labels, err := s.cfg.Labels(ctx, account.ID)
	if err != nil {
		return nil, fmt.Errorf("lessons: read the labels of account %s: %w", account.ID, err)
	}
	names := make(map[string]string, len(labels))
	for _, l := range labels {
		names[l.ID] = l.Name
	}
	opts := learn.Options{AccountID: account.ID, Own: []string{account.Email}, LabelNames: names, Kinds: s.cfg.Kinds}
	if account.SharesRules {
		opts.Mailbox = account.Email
	}
	found := learn.Find(facts, opts)
	p.report = Report{Votes: found.Votes, Bulk: bulk, Low: found.Low}
	known, err := s.Learned(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	inUse, err := s.rulesInUse(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	p.inUse = make(map[string]bool, len(inUse))
	for _, r := range inUse {
		p.inUse[r.Name] = true
	}
	wanted := slices.DeleteFunc(found.Findings, func(f learn.Finding) bool {
		label, ok := f.Rule.Parameters.Text(postroom.ParamLabel)
		i := slices.IndexFunc(known, func(r Rule) bool { return r.Key == f.Key })
		return ok && names[label] == "" || i >= 0 && !known[i].comes(&f)
	})
	return p, s.try(ctx, p, wanted, names)
}

// comes reports whether a rule is to be proposed, or still is, by what a run has found.
func (r *Rule) comes(f *learn.Finding) bool {
	switch r.State {
	case Accepted:
		return false
	case Dismissed:
		return f.Agreeing >= 2*r.dismissedAt
	}
	return true
}

// try tries what was found beside the rules in use, on the mail of the last 90 days, and leaves out what would decide
// about nothing: there is a rule for that mail already.
func (s *Store) try(ctx context.Context, p *plan, found []learn.Finding, names map[string]string) error {
	if len(found) == 0 {
		return nil
	}
	list := make([]rules.Rule, len(found))
	for i := range found {
		list[i] = found[i].Rule
	}
	results, err := s.backtest(ctx, p.account.ID, p.now.Add(-tried), list)
	if err != nil {
		return err
	}
	for i := range found {
		f := &found[i]
		result := results[f.Rule.Name]
		if result.Matched == 0 {
			continue
		}
		p.rules = append(p.rules, Rule{AccountID: p.account.ID, Key: f.Key, Class: f.Class, Name: f.Rule.Name,
			Text: textOf(f, p.account, names), Agreeing: f.Agreeing, Contradicting: f.Contradicting, Lower: f.Lower(),
			First: f.First, Last: f.Last, Matched: result.Matched,
			Evidence: Evidence{Taught: f.Taught, Against: f.Against, Samples: result.Samples}})
	}
	return nil
}

// backtest returns, by its name, what each of the rules would decide about beside the rules in use.
func (s *Store) backtest(ctx context.Context, accountID string, since time.Time, list []rules.Rule) (
	map[string]backtest.Rule, error) {
	inUse, err := s.rulesInUse(ctx, accountID)
	if err != nil {
		return nil, err
	}
	own := make(map[string]bool, len(list))
	for _, r := range list {
		own[r.Name] = true
	}
	inUse = slices.DeleteFunc(slices.Clone(inUse), func(r rules.Rule) bool { return own[r.Name] })
	result, err := backtest.Run(ctx, backtest.Config{Rules: append(inUse, list...), Kinds: s.cfg.Kinds,
		Senders: s.cfg.Senders, History: s.cfg.History, Samples: samples}, s.cfg.Mail.Messages(ctx, accountID, since))
	if err != nil {
		return nil, fmt.Errorf("lessons: try rules on the mail of account %s: %w", accountID, err)
	}
	results := make(map[string]backtest.Rule, len(list))
	for _, r := range result.Rules {
		if own[r.Name] {
			results[r.Name] = r
		}
	}
	return results, nil
}

func (s *Store) rulesInUse(ctx context.Context, accountID string) ([]rules.Rule, error) {
	list, err := s.cfg.Rules(ctx, accountID)
	if err != nil {
		return nil, fmt.Errorf("lessons: read the rules of account %s: %w", accountID, err)
	}
	return list, nil
}

// textOf returns the rule as a file, whose labels are named and which is for one mailbox, whoever reads the file.
func textOf(f *learn.Finding, account Account, names map[string]string) string {
	rule := f.Rule
	rule.Scope, rule.ScopeRef = rules.ScopeAccount, account.Email
	rule.Description = fmt.Sprintf("Learned from %d threads, of which %d contradict it: right in %.0f %% of cases or more.",
		f.Threads(), f.Contradicting, 100*f.Lower())
	if label, ok := rule.Parameters.Text(postroom.ParamLabel); ok {
		rule.Parameters = postroom.Parameters{postroom.ParamLabel: names[label]}
	}
	return string(rulesfile.Marshal(rulesfile.FileOf([]rules.Rule{rule})))
}

// write writes what was found: new rules as far as the week allows, and the new counts of the others. Corrections that
// are too old to teach anything are deleted: they are of mail that is older still.
func (s *Store) write(ctx context.Context, tx queue.Tx, p *plan) error {
	_, err := dbquery.Exec(ctx, tx, sqlPruneFeedback, p.account.ID, dbtime.Of(p.now.Add(-learnedFrom)))
	if err != nil {
		return fmt.Errorf("lessons: delete the old corrections of account %s: %w", p.account.ID, err)
	}
	known, err := learned(ctx, tx, p.account.ID)
	if err != nil {
		return err
	}
	left := weekly
	for _, r := range known {
		if p.now.Sub(r.ProposedAt) < week { // whatever a person has answered
			left--
		}
	}
	found := map[string]bool{}
	for i := range p.rules {
		r := &p.rules[i]
		found[r.Key] = true
		k := slices.IndexFunc(known, func(old Rule) bool { return old.Key == r.Key })
		if k >= 0 && (known[k].State == Proposed || known[k].State == Shadow) {
			if err := s.refresh(ctx, tx, r, &known[k]); err != nil {
				return err
			}
			continue
		}
		if left <= 0 {
			p.report.Waiting++
			continue
		}
		var old *Rule
		if k >= 0 {
			old = &known[k]
		}
		proposed, err := s.propose(ctx, tx, r, old, p.now)
		if err != nil {
			return err
		}
		if proposed {
			left--
			p.report.Proposed++
		}
	}
	return s.drop(ctx, tx, p, known, found)
}

// stateOf is the state in which a rule begins. One that a person has said no to waits for the person's yes.
func (s *Store) stateOf(r *Rule) State {
	if s.cfg.Apply != nil && r.Class == learn.ClassHigh && r.dismissedAt == 0 {
		return Shadow
	}
	return Proposed
}

// refresh writes new counts of a rule that is known. One whose class has changed begins anew in its new state.
func (s *Store) refresh(ctx context.Context, tx queue.Tx, r, old *Rule) error {
	r.ID, r.ProposedAt, r.ChangedAt, r.ChangedBy = old.ID, old.ProposedAt, old.ChangedAt, old.ChangedBy
	r.ShadowMatched, r.dismissedAt = old.ShadowMatched, old.dismissedAt
	r.State = s.stateOf(r)
	if r.State != old.State {
		now := queue.Now(tx)
		r.ProposedAt, r.ChangedAt, r.ChangedBy, r.ShadowMatched = now, now, By, 0
	}
	_, err := update(ctx, tx, r, old.State)
	return err
}

// propose writes a rule that is new, or was dismissed and has more support by now. It reports whether it did: a person
// may have answered meanwhile.
func (s *Store) propose(ctx context.Context, tx queue.Tx, r, old *Rule, now time.Time) (bool, error) {
	if old != nil {
		if old.State != Dismissed || r.Agreeing < 2*old.dismissedAt {
			return false, nil
		}
		r.ID, r.dismissedAt = old.ID, old.dismissedAt
	}
	r.State, r.ProposedAt, r.ChangedAt, r.ChangedBy = s.stateOf(r), now, now, By
	if old != nil {
		return update(ctx, tx, r, Dismissed)
	}
	var err error
	if r.ID, err = uuid7.New(); err != nil {
		return false, fmt.Errorf("lessons: write learned rule %q: %w", r.Name, err)
	}
	return true, insert(ctx, tx, r)
}

// drop deletes the rules that wait and are proven no more; one that a person has said no to before is dismissed again.
// An accepted one that is no more in use was removed by a person, who has thereby dismissed it.
func (s *Store) drop(ctx context.Context, tx queue.Tx, p *plan, known []Rule, found map[string]bool) error {
	for i := range known {
		r := &known[i]
		if r.State == Accepted && !p.inUse[r.Name] && r.ChangedAt.Before(p.now) {
			if _, err := s.Withdraw(ctx, tx, r.ID, By); err != nil && !errors.Is(err, ErrState) {
				return err
			}
		}
		if found[r.Key] || r.State != Proposed && r.State != Shadow {
			continue
		}
		gone, err := takeBack(ctx, tx, r)
		if err != nil {
			return err
		}
		if gone {
			p.report.Gone++
		}
	}
	return nil
}

// takeBack ends that a rule waits. It reports whether it did: a person may have answered meanwhile.
func takeBack(ctx context.Context, tx queue.Tx, r *Rule) (bool, error) {
	if r.dismissedAt > 0 {
		was := r.State
		r.State, r.ChangedAt, r.ChangedBy = Dismissed, queue.Now(tx), By
		return update(ctx, tx, r, was)
	}
	n, err := dbquery.Exec(ctx, tx, sqlDeleteRule, r.ID, string(r.State))
	if err != nil {
		return false, fmt.Errorf("lessons: drop learned rule %s: %w", r.ID, err)
	}
	return n > 0, nil
}
