package safety

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A ruleLog has the entries about rules, the newest entry of each rule last.
type ruleLog struct {
	entries map[[2]string][]AuditEntry // by kind and id
	newest  map[string]int64           // the number of the newest version of the rules, by account
}

func (r *ruleLog) add(e *AuditEntry) {
	if r.entries == nil {
		r.entries, r.newest = map[[2]string][]AuditEntry{}, map[string]int64{}
	}
	key := [2]string{e.Kind, e.Subject}
	r.entries[key] = append(r.entries[key], *e)
	list := r.entries[key]
	for i := len(list) - 1; i > 0 && list[i].Rev < list[i-1].Rev; i-- { // they are of several chains
		list[i], list[i-1] = list[i-1], list[i]
	}
	if number, err := strconv.ParseInt(e.Subject, 10, 64); err == nil && e.Kind == string(postroom.RuleKindVersion) {
		r.newest[e.Account] = max(r.newest[e.Account], number)
	}
}

// rules compares the stores of rules with the audit log.
func (v *verifier) rules(ctx context.Context) error {
	tx, ok := v.tx.(queue.Tx)
	if !ok {
		return errors.New("rules are read in a transaction")
	}
	listed := map[[2]string]bool{}
	for _, store := range v.l.cfg.RuleStores {
		err := store.EachRuleState(ctx, tx, func(s postroom.RuleState) error {
			if !s.Past {
				listed[[2]string{string(s.Kind), s.ID}] = true
			}
			v.rule(s)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read the stored rules: %w", err)
		}
	}
	for r, rev := range v.l.seen.rules() {
		if entries := v.ruleLog.entries[[2]string{r.kind, r.id}]; len(entries) == 0 || entries[len(entries)-1].Rev < rev {
			v.faultf(r.kind, r.id, "the log had %d entries about it, and the last of them are gone", rev)
		}
	}
	for key, entries := range v.ruleLog.entries {
		if !listed[key] && len(v.l.cfg.RuleStores) > 0 && !v.mayBeGone(&entries[len(entries)-1]) {
			v.faultf(key[0], key[1], "the log has the row, and it is gone")
		}
	}
	return nil
}

// mayBeGone reports whether the subject of its last entry need not be stored: it was deleted, or it is a version that a newer one
// has replaced and that may have been pruned.
func (v *verifier) mayBeGone(last *AuditEntry) bool {
	if last.Kind == string(postroom.RuleKindVersion) {
		return strconv.FormatInt(v.ruleLog.newest[last.Account], 10) != last.Subject
	}
	return last.Kind == auditAdoption || v.l.saysGone(last)
}

// rule compares a stored rule with its entries.
func (v *verifier) rule(s postroom.RuleState) {
	entries := v.ruleLog.entries[[2]string{string(s.Kind), s.ID}]
	v.audit.Rows++
	if len(entries) == 0 {
		if _, since := v.ruleLog.entries[[2]string{auditAdoption, adopted}]; !since {
			v.audit.Rows--
			v.audit.Before++
			return
		}
		v.faultf(string(s.Kind), s.ID, "it %s", ruleUnknown)
		return
	}
	was := signedWrong
	for i := len(entries) - 1; i >= 0; i-- {
		switch fits := v.l.ruleEntryFits(&entries[i], s); {
		case fits == signedRight && (s.Past || i == len(entries)-1):
			return
		case fits == signedRight:
			was = signedRight
		case fits == signedByAnotherKey && was == signedWrong && (s.Past || i == len(entries)-1):
			was = signedByAnotherKey
		}
	}
	switch {
	case was == signedByAnotherKey:
		v.audit.OtherKey++
	case was == signedRight:
		v.faultf(string(s.Kind), s.ID, "it %s", rulePutBack)
	case s.Past:
		v.faultf(string(s.Kind), s.ID, "what is kept of it with a version %s", ruleAltered)
	default:
		v.faultf(string(s.Kind), s.ID, "it %s", ruleAltered)
	}
}
