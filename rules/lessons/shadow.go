package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// shadowMatches is how many messages a rule in shadow has matched, after a week, when it is applied.
const shadowMatches = 10

// ripen counts the matches of the rules in shadow, and applies those that have waited and matched enough. One whose
// proof is gone by now is left for the end of the run, which drops it or proposes it instead.
func (s *Store) ripen(ctx context.Context, p *plan, write writer) error {
	if s.cfg.Apply == nil {
		return nil
	}
	known, err := s.Learned(ctx, p.account.ID)
	if err != nil {
		return err
	}
	for i := range known {
		r := &known[i]
		if r.State != Shadow || !p.isProven(r.Key) {
			continue
		}
		list, err := s.readShadow(r, p.account)
		if err != nil {
			s.notApplied(ctx, r, err)
			continue
		}
		if err := s.countShadow(ctx, r, p.account, list, write); err != nil {
			return err
		}
		if p.now.Sub(r.ProposedAt) < week || r.ShadowMatched < shadowMatches {
			continue
		}
		switch err := s.cfg.Apply(ctx, r.ID); {
		case err == nil:
			p.report.Applied++
		case errors.Is(err, ErrState): // a person has answered meanwhile
		case ctx.Err() != nil:
			return fmt.Errorf("lessons: apply learned rule %s (%s): %w", r.ID, r.Name, err)
		default:
			s.notApplied(ctx, r, err)
		}
	}
	return nil
}

// notApplied logs why a rule stays in shadow. The others are learned all the same, and the next run tries it again.
func (s *Store) notApplied(ctx context.Context, r *Rule, err error) {
	s.cfg.Logger.ErrorContext(ctx, "a learned rule cannot be applied, and stays in shadow", "account", r.AccountID,
		"rule", r.ID, "name", r.Name, "error", err)
}

// isProven reports whether the run has found a rule that may be applied by itself.
func (p *plan) isProven(key string) bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool { return r.Key == key && r.Class == learn.ClassHigh })
}

// readShadow returns a rule as one of its account, whatever mailbox its text names.
func (s *Store) readShadow(r *Rule, account Account) ([]rules.Rule, error) {
	file, err := rulesfile.Parse(r.Name, strings.NewReader(r.Text), rulesfile.WithKinds(s.cfg.Kinds))
	if err != nil {
		return nil, fmt.Errorf("lessons: read learned rule %s: %w", r.ID, err)
	}
	list := file.Rules
	for i := range list {
		list[i].AccountID, list[i].Scope, list[i].ScopeRef = account.ID, rules.ScopeGlobal, ""
	}
	return list, nil
}

// countShadow counts what a rule would have decided about since it is in shadow. Its write is refused to a job that was
// given to another process meanwhile, which then applies nothing.
func (s *Store) countShadow(ctx context.Context, r *Rule, account Account, list []rules.Rule, write writer) error {
	results, err := s.backtest(ctx, account.ID, r.ProposedAt, list)
	if err != nil {
		return err
	}
	r.ShadowMatched = results[r.Name].Matched
	return write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := update(ctx, tx, r, Shadow)
		return err
	})
}
