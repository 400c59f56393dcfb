package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The audit log has an entry for each change of a stored rule or direction, whichever package stores it. The entry has the state
// of the rule then and the number of entries about it (rev), both of which the signature covers. The last entry counts: a row
// that differs from it was written without the key, or put back.

// auditAdoption is the kind of the entry that records that the rules stored before are in the audit log. Its subject is adopted.
const (
	auditAdoption = "adoption"
	adopted       = "rules"
)

// aboutRule reports whether an entry is about a rule.
func aboutRule(kind string) bool {
	switch postroom.RuleKind(kind) {
	case postroom.RuleKindRule, postroom.RuleKindVersion, postroom.RuleKindDirection, postroom.RuleKindInstruction:
		return true
	}
	return kind == auditAdoption
}

// LogRules records rules as they are stored now, in the transaction that writes them. A rule that is recorded in this state adds
// no entry. A store of rules must call it at each change: a rule whose state is not recorded decides nothing without a person.
func (l *Ledger) LogRules(ctx context.Context, tx queue.Tx, states ...postroom.RuleState) error {
	if err := errors.Join(l.keys.load(ctx, tx), l.lockRules(ctx, tx)); err != nil {
		return err
	}
	var entries []AuditEntry
	for _, s := range states {
		last, err := lastRuleEntry(ctx, tx, string(s.Kind), s.ID)
		if err != nil {
			return err
		}
		cut, rev, err := l.missesRule(ctx, s, last)
		if err != nil {
			return err
		}
		if last != nil && !cut && l.freshlySigned(last) && l.ruleEntryFits(last, s) == signedRight {
			continue
		}
		rev++
		e := l.entry(string(s.Kind), s.AccountID, s.ID, rev, s.State, ruleParts(s, rev))
		e.kept = true
		entries = append(entries, e)
	}
	if len(entries) == 0 {
		return nil
	}
	return l.log(ctx, tx, entries...)
}

// lockRules waits for other transactions that record rules.
func (l *Ledger) lockRules(ctx context.Context, tx queue.Tx) error {
	if !l.onPostgres() {
		return nil
	}
	if _, err := tx.ExecContext(ctx, lockRuleEntries); err != nil {
		return fmt.Errorf("safety: lock the log of rules: %w", err)
	}
	return nil
}

// ruleParts are what the rev-th entry about the rule signs.
func ruleParts(s postroom.RuleState, rev int) []string {
	return []string{s.ID, s.AccountID, s.State, s.Digest, strconv.Itoa(rev)}
}

// ruleEntryFits verifies that the entry is about this state.
func (l *Ledger) ruleEntryFits(e *AuditEntry, s postroom.RuleState) signed {
	return l.keys.checkAt(e.Lane, e.Entry, e.Digest, append([]string{string(s.Kind)}, ruleParts(s, e.Rev)...))
}

// freshlySigned reports whether the entry is signed with the current key.
func (l *Ledger) freshlySigned(e *AuditEntry) bool { return strings.HasPrefix(e.Digest, l.keys.id+":") }

// lastRuleEntry returns the last entry about a rule; nil if there is none.
func lastRuleEntry(ctx context.Context, q dbquery.Querier, kind, id string) (*AuditEntry, error) {
	var e AuditEntry
	err := dbquery.Get(ctx, q, &e, selectLastRuleEntry, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("safety: look up %s %s in the log: %w", kind, id, err)
	}
	return &e, nil
}

// CheckRule compares a rule with its last entry and returns the fault; empty if they match.
func (l *Ledger) CheckRule(ctx context.Context, tx queue.Tx, s postroom.RuleState) (fault string, err error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return "", err
	}
	last, err := lastRuleEntry(ctx, tx, string(s.Kind), s.ID)
	if err != nil {
		return "", err
	}
	return l.ruleFaultBy(ctx, tx, s, last)
}

// WasOnRecord reports whether the audit log has ever had the rule in this state.
func (l *Ledger) WasOnRecord(ctx context.Context, tx queue.Tx, s postroom.RuleState) (bool, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return false, err
	}
	return l.wasOnRecord(ctx, tx, s)
}

func (l *Ledger) wasOnRecord(ctx context.Context, q dbquery.Querier, s postroom.RuleState) (bool, error) {
	var entries []AuditEntry
	if err := dbquery.Select(ctx, q, &entries, selectRuleEntries, string(s.Kind), s.ID); err != nil {
		return false, fmt.Errorf("safety: look up %s %s in the log: %w", s.Kind, s.ID, err)
	}
	for i := range entries {
		if l.ruleEntryFits(&entries[i], s) == signedRight {
			return true, nil
		}
	}
	return false, nil
}

// The reasons why a rule does not count. They follow "the rule".
const (
	ruleUnknown  = "is not on record: something else than Postroom has written it, or it is from before rules were signed"
	ruleOtherKey = "was signed with a key that is not known"
	rulePutBack  = "was put back in the database to what it was before"
	ruleAltered  = "was altered in the database"
	ruleCut      = "was put back in the database to what it was before, and in the log as well"
	ruleMissing  = "was removed in the database"
)

// ruleFaultBy compares a rule with its last entry and returns the fault; empty if they match.
func (l *Ledger) ruleFaultBy(ctx context.Context, tx queue.Tx, s postroom.RuleState, last *AuditEntry) (string, error) {
	cut, _, err := l.missesRule(ctx, s, last)
	switch {
	case err != nil:
		return "", err
	case cut:
		return ruleCut, nil
	case last == nil || l.ruleEntryFits(last, s) != signedRight:
		return l.explainRule(ctx, tx, s, last)
	}
	return "", nil
}

// missesRule reports whether the audit log has had an entry about the rule that is later than last, and returns how many it had.
// It looks outside the transaction for an entry that the transaction does not see yet.
func (l *Ledger) missesRule(ctx context.Context, s postroom.RuleState, last *AuditEntry) (cut bool, rev int, err error) {
	seen, err := l.seen.rev(seenRule{string(s.Kind), s.ID})
	if err != nil {
		return false, 0, unseen(err)
	}
	if last != nil {
		rev = last.Rev
	}
	if rev >= seen {
		return false, rev, nil
	}
	now, err := lastRuleEntry(ctx, l.cfg.DB.Reader(), string(s.Kind), s.ID)
	return err == nil && (now == nil || now.Rev < seen), seen, err
}

// explainRule returns the fault of a rule that differs from its last entry.
func (l *Ledger) explainRule(ctx context.Context, q dbquery.Querier, s postroom.RuleState, last *AuditEntry) (string, error) {
	if last == nil {
		return ruleUnknown, nil
	}
	if l.ruleEntryFits(last, s) == signedByAnotherKey {
		return ruleOtherKey, nil
	}
	was, err := l.wasOnRecord(ctx, q, s)
	if was {
		return rulePutBack, err
	}
	return ruleAltered, err
}

// CheckRules compares all stored rules of a kind with the audit log. It returns the rules that do not match, including those that
// are gone.
func (l *Ledger) CheckRules(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, stored []postroom.RuleState) ([]postroom.RuleFault, error) {
	if err := l.keys.load(ctx, tx); err != nil {
		return nil, err
	}
	var entries []AuditEntry
	if err := dbquery.Select(ctx, tx, &entries, selectLastRuleEntries, string(kind)); err != nil {
		return nil, fmt.Errorf("safety: look up rules in the log: %w", err)
	}
	last := make(map[string]*AuditEntry, len(entries))
	for i := range entries {
		last[entries[i].Subject] = &entries[i]
	}
	var faults []postroom.RuleFault
	for _, s := range stored {
		e := last[s.ID]
		delete(last, s.ID)
		what, err := l.ruleFaultBy(ctx, tx, s, e)
		if err != nil {
			return nil, err
		}
		if what == "" {
			continue
		}
		fault := postroom.RuleFault{Kind: kind, ID: s.ID, AccountID: s.AccountID, What: what}
		if e != nil && e.Account != s.AccountID {
			fault.AccountID = ""
		}
		faults = append(faults, fault)
	}
	for i := range entries {
		if e := &entries[i]; last[e.Subject] == e && !l.saysGone(e) {
			faults = append(faults, postroom.RuleFault{Kind: kind, ID: e.Subject, AccountID: e.Account, What: ruleMissing, Missing: true})
		}
	}
	return faults, nil
}

// saysGone reports whether the entry records the deletion of the rule.
func (l *Ledger) saysGone(e *AuditEntry) bool {
	gone := postroom.RuleState{Kind: postroom.RuleKind(e.Kind), ID: e.Subject, AccountID: e.Account, State: postroom.RuleGone}
	return l.ruleEntryFits(e, gone) == signedRight
}
