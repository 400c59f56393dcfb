package safety

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A RuleStore stores rules whose changes are in the audit log; *rules.Store and *llm.GuidanceStore implement it.
type RuleStore interface {
	// EachRuleState calls fn for each state of each stored rule, earlier states of a rule before later ones. It stops at the
	// first error of fn.
	EachRuleState(ctx context.Context, tx queue.Tx, fn func(postroom.RuleState) error) error
}

// ErrNotAdopted reports that the rules of [Config].RuleStores were stored before the audit log had entries about rules, and were
// not recorded because the audit log itself is not whole.
var ErrNotAdopted = errors.New("the stored rules were not put on record, since the log is not as it was written: " +
	"somebody may have removed what it said about them; verify it, look at each rule and confirm it")

// AdoptRules records the rules that were stored before the audit log had entries about rules. It does so once in the life of a
// database, and records that it has, and only if [Ledger.VerifyAudit] finds no fault. Otherwise the error is [ErrNotAdopted], and
// the decisions of all these rules wait for a person. It also signs again what one of [Config].OldKeys has signed. Call it at
// every start, before rules are read.
func (l *Ledger) AdoptRules(ctx context.Context) error {
	if err := l.keys.load(ctx, l.cfg.DB.Reader()); err != nil {
		return err
	}
	marker, err := lastRuleEntry(ctx, l.cfg.DB.Reader(), auditAdoption, adopted)
	switch {
	case err != nil:
		return err
	case marker == nil:
		return l.adopt(ctx)
	case len(l.keys.old) > 0 && !l.freshlySigned(marker):
		return l.signRulesAnew(ctx)
	}
	return nil
}

func (l *Ledger) adopt(ctx context.Context) error {
	audit, err := l.VerifyAudit(ctx, nil)
	if err != nil {
		return err
	}
	for _, f := range audit.Faults {
		if f.Kind != auditFault { // altered actions are known, and say nothing about rules
			return fmt.Errorf("safety: %w (%s %s: %s)", ErrNotAdopted, f.Kind, f.Subject, f.What)
		}
	}
	return l.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := l.lockRules(ctx, tx); err != nil {
			return err
		}
		if marker, err := lastRuleEntry(ctx, tx, auditAdoption, adopted); err != nil || marker != nil {
			return err
		}
		err := l.eachStored(ctx, tx, func(r *storedStates, last *AuditEntry) error {
			if last != nil {
				return nil
			}
			return l.logInOrder(ctx, tx, append(r.past, r.now))
		})
		return errors.Join(err, l.logAdoption(ctx, tx, 1))
	})
}

func (l *Ledger) logAdoption(ctx context.Context, tx queue.Tx, rev int) error {
	return l.log(ctx, tx, l.entry(auditAdoption, "", adopted, rev, "", ruleParts(postroom.RuleState{ID: adopted}, rev)))
}

// signRulesAnew signs the rules that match their last entry with the current key. The entry of the adoption comes last and
// records that it is done.
func (l *Ledger) signRulesAnew(ctx context.Context) error {
	return l.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := l.lockRules(ctx, tx); err != nil {
			return err
		}
		marker, err := lastRuleEntry(ctx, tx, auditAdoption, adopted)
		if err != nil || marker == nil || l.freshlySigned(marker) || l.ruleEntryFits(marker, adoption) != signedRight {
			return err
		}
		err = l.eachStored(ctx, tx, func(r *storedStates, last *AuditEntry) error {
			if last == nil || l.freshlySigned(last) || l.ruleEntryFits(last, r.now) != signedRight {
				return nil
			}
			var known []postroom.RuleState
			for _, s := range r.past {
				was, err := l.wasOnRecord(ctx, tx, s)
				if err != nil {
					return err
				}
				if was {
					known = append(known, s)
				}
			}
			return l.logInOrder(ctx, tx, append(known, r.now))
		})
		return errors.Join(err, l.logAdoption(ctx, tx, marker.Rev+1))
	})
}

// adoption is the state that the entry of the adoption records.
var adoption = postroom.RuleState{Kind: auditAdoption, ID: adopted}

// storedStates are the stored states of a rule: past and present.
type storedStates struct {
	past []postroom.RuleState
	now  postroom.RuleState // RuleGone, if only versions have it
}

// eachStored calls fn for each rule that is stored, or kept with versions, with its last entry or nil.
func (l *Ledger) eachStored(ctx context.Context, tx queue.Tx, fn func(r *storedStates, last *AuditEntry) error) error {
	stored := map[[2]string]*storedStates{}
	var order []*storedStates
	for _, store := range l.cfg.RuleStores {
		err := store.EachRuleState(ctx, tx, func(s postroom.RuleState) error {
			key := [2]string{string(s.Kind), s.ID}
			r := stored[key]
			if r == nil {
				r = &storedStates{now: postroom.RuleState{Kind: s.Kind, ID: s.ID, AccountID: s.AccountID, State: postroom.RuleGone}}
				stored[key], order = r, append(order, r)
			}
			if s.Past {
				r.past = append(r.past, s)
			} else {
				r.now = s
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("safety: put stored rules on record: %w", err)
		}
	}
	for _, r := range order {
		last, err := lastRuleEntry(ctx, tx, string(r.now.Kind), r.now.ID)
		if err == nil {
			err = fn(r, last)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// logInOrder logs the states of one rule one by one, since each counts for the next.
func (l *Ledger) logInOrder(ctx context.Context, tx queue.Tx, states []postroom.RuleState) error {
	for _, s := range states {
		if err := l.LogRules(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}
