package rules

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A Log records, signed, which rules are stored, so that rules that something else has written are detected; *safety.Ledger
// implements it.
type Log interface {
	// LogRules puts rules on record as they are stored now, in the transaction that writes them.
	LogRules(ctx context.Context, tx queue.Tx, states ...postroom.RuleState) error
	// CheckRule returns why a rule is not as it is on record; empty if it is.
	CheckRule(ctx context.Context, tx queue.Tx, state postroom.RuleState) (fault string, err error)
	// CheckRules returns which of all stored rules of a kind are not as they are on record, and which are missing.
	CheckRules(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, stored []postroom.RuleState) ([]postroom.RuleFault, error)
	// WasOnRecord reports whether the rule was ever recorded in this state.
	WasOnRecord(ctx context.Context, tx queue.Tx, state postroom.RuleState) (bool, error)
}

// ErrAltered reports that a rule to be changed does not match its record in the [Log]: the change would accept what something
// else has written. [Store.Confirm] accepts it, [Store.Delete] deletes it, and an import replaces it.
var ErrAltered = errors.New("the rule is not as it was written: look at it, and confirm or delete it")

// state returns the state of a stored rule for a log.
func (r *row) state() (postroom.RuleState, error) {
	same := *r
	same.UpdatedAt = dbtime.Time{} // a version does not know it
	digest, err := digestOf(&same)
	state := postroom.RuleDisabled
	if r.Enabled == 1 {
		state = postroom.RuleEnabled
	}
	return postroom.RuleState{Kind: postroom.RuleKindRule, ID: r.ID, AccountID: r.AccountID, State: state, Digest: digest}, err
}

func digestOf(columns any) (string, error) {
	text, err := json.Marshal(columns)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

func gone(accountID, id string) postroom.RuleState {
	return postroom.RuleState{Kind: postroom.RuleKindRule, ID: id, AccountID: accountID, State: postroom.RuleGone}
}

// state returns the state of a version for a log.
func (r *versionRow) state() (postroom.RuleState, error) {
	digest, err := digestOf(r)
	return postroom.RuleState{Kind: postroom.RuleKindVersion, ID: strconv.FormatInt(r.Number, 10), AccountID: r.AccountID, Digest: digest}, err
}

// EachRuleState calls fn for all that is stored: the rules as versions keep them, the rules as they are, and the versions. It is for
// the RuleStores of package safety.
func (s *Store) EachRuleState(ctx context.Context, tx queue.Tx, fn func(postroom.RuleState) error) error {
	return errors.Join(
		eachState(ctx, tx, sqlAllStates, fn, (*keptRow).state),
		eachState(ctx, tx, sqlRules, fn, (*row).state),
		eachState(ctx, tx, sqlAllVersions, fn, (*versionRow).state),
	)
}

func eachState[R any](
	ctx context.Context, tx queue.Tx, statement string, fn func(postroom.RuleState) error, state func(*R) (postroom.RuleState, error),
) error {
	var rows []R
	if err := dbquery.Select(ctx, tx, &rows, statement); err != nil {
		return fmt.Errorf("read rules: %w", err)
	}
	for i := range rows {
		s, err := state(&rows[i])
		if err == nil {
			err = fn(s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A keptRow is a rule as a version has it.
type keptRow struct {
	AccountID string `db:"account_id"`
	historyRow
}

func (k *keptRow) state() (postroom.RuleState, error) {
	state := gone(k.AccountID, k.RuleID)
	if k.Content.Valid {
		r, err := k.row()
		if err != nil { // no log has ever known it
			state.State, state.Digest = postroom.RuleDisabled, "unreadable"
		} else if state, err = r.state(); err != nil {
			return state, err
		}
	}
	state.Past = true
	return state, nil
}

// faults are the rules that are not as they are on record; none without a log.
func (s *Store) faults(ctx context.Context, tx queue.Tx) ([]postroom.RuleFault, error) {
	if s.log == nil {
		return nil, nil
	}
	var stored []postroom.RuleState
	names := make(map[string]string)
	err := eachState(ctx, tx, sqlRules, func(state postroom.RuleState) error {
		stored = append(stored, state)
		return nil
	}, func(r *row) (postroom.RuleState, error) {
		names[r.ID] = r.Name
		return r.state()
	})
	if err != nil {
		return nil, err
	}
	faults, err := s.log.CheckRules(ctx, tx, postroom.RuleKindRule, stored)
	if err != nil {
		return nil, fmt.Errorf("compare the rules with the log: %w", err)
	}
	for i := range faults {
		faults[i].Name = names[faults[i].ID]
	}
	return faults, nil
}

// Faults returns the stored rules that do not match their record in the log of [StoreConfig], including those that something else
// has removed. Until a person confirms or corrects them, rules decide nothing for their account without a person. Without a log
// there are none.
func (s *Store) Faults(ctx context.Context) (faults []postroom.RuleFault, err error) {
	if s.log == nil {
		return nil, nil
	}
	// A rule that changes between the reads of the rules and the log would look altered.
	err = dbquery.Snapshot(ctx, s.db.Reader(), func(tx dbquery.Tx) (err error) {
		faults, err = s.faults(ctx, tx)
		return err
	})
	return faults, err
}

// Confirm records a rule as it is stored now, whoever has written it, because a person has reviewed it. A rule that something
// else has removed is then recorded as deleted.
func (s *Store) Confirm(ctx context.Context, tx queue.Tx, id string) error {
	err := s.change(ctx, tx, id, func(e *edit, r *Rule) error {
		err := e.touch(ctx, r)
		delete(e.suspect, id)
		return err
	})
	if !errors.Is(err, postroom.ErrNotFound) {
		return err
	}
	faults, failed := s.faults(ctx, tx)
	for _, f := range faults {
		if f.ID == id {
			return s.log.LogRules(ctx, tx, gone(f.AccountID, id))
		}
	}
	return errors.Join(err, failed)
}

// inspectAll inspects all rules as inspect does one, and records as deleted those that something else has removed from the
// account: the change names all rules that the account will have.
func (e *edit) inspectAll(ctx context.Context, accountID string) error {
	faults, err := e.store.faults(ctx, e.tx)
	if err != nil {
		return err
	}
	e.inspected = true
	for _, f := range faults {
		e.suspect[f.ID] = f.What
		if !f.Missing || f.AccountID != accountID {
			continue
		}
		delete(e.suspect, f.ID)
		if err := e.touch(ctx, &Rule{ID: f.ID, AccountID: accountID}); err != nil {
			return err
		}
	}
	return nil
}

// inspect notes whether a stored rule is as it is on record, before it is changed.
func (e *edit) inspect(ctx context.Context, id string) error {
	if e.store.log == nil || e.inspected {
		return nil
	}
	var r row
	err := dbquery.Get(ctx, e.tx, &r, sqlRule, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	state, err := r.state()
	if err != nil {
		return err
	}
	fault, err := e.store.log.CheckRule(ctx, e.tx, state)
	if fault != "" {
		e.suspect[id] = fault
	}
	return err
}

// mayKeep returns an error if a change keeps what something else has written, and must not.
func (e *edit) mayKeep(r *Rule) error {
	fault := e.suspect[r.ID]
	if fault == "" {
		return nil
	}
	if e.replaces {
		delete(e.suspect, r.ID)
		return nil
	}
	return fmt.Errorf("rule %q %s: %w", r.Name, fault, ErrAltered)
}

// logEdit records the changed rules, but not what something else has written and the change has kept.
func (e *edit) logEdit(ctx context.Context) error {
	if e.store.log == nil {
		return nil
	}
	var states []postroom.RuleState
	for _, account := range slices.Sorted(maps.Keys(e.touched)) {
		for _, id := range slices.Sorted(maps.Keys(e.touched[account])) {
			if e.suspect[id] != "" {
				continue
			}
			var r row
			state := gone(account, id)
			err := dbquery.Get(ctx, e.tx, &r, sqlRule, id)
			if err == nil {
				state, err = r.state()
			}
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			states = append(states, state)
		}
	}
	return e.store.log.LogRules(ctx, e.tx, states...)
}

// logVersion puts a version on record as it is stored.
func (e *edit) logVersion(ctx context.Context, number int64) error {
	if e.store.log == nil {
		return nil
	}
	var v versionRow
	if err := dbquery.Get(ctx, e.tx, &v, sqlVersion, number); err != nil {
		return err
	}
	state, err := v.state()
	if err != nil {
		return err
	}
	return e.store.log.LogRules(ctx, e.tx, state)
}

// genuine reports whether the rule was on record as the version has it.
func (s *Store) genuine(ctx context.Context, tx queue.Tx, r *row) (bool, error) {
	if s.log == nil {
		return true, nil
	}
	state, err := r.state()
	if err != nil {
		return false, err
	}
	return s.log.WasOnRecord(ctx, tx, state)
}

// genuineVersion reports whether the version is as it is on record, but for its rules.
func (s *Store) genuineVersion(ctx context.Context, tx queue.Tx, v *versionRow) (bool, error) {
	if s.log == nil {
		return true, nil
	}
	state, err := v.state()
	if err != nil {
		return false, err
	}
	fault, err := s.log.CheckRule(ctx, tx, state)
	return fault == "", err
}

// doubtful requests approval for the decisions of rules for an account some of whose rules were altered: one of these might have
// decided instead.
func doubtful(decisions []postroom.Decision, faults []postroom.RuleFault, accountID string) []postroom.Decision {
	i := slices.IndexFunc(faults, func(f postroom.RuleFault) bool { return f.AccountID == "" || f.AccountID == accountID })
	if i < 0 {
		return decisions
	}
	for n := range decisions {
		d := &decisions[n]
		if d.Source != postroom.SourceDeterministic {
			continue
		}
		if !d.NeedsApproval {
			d.ApprovalReason = faults[i].String() + ", and no rule decides without a person until that is confirmed or corrected"
		}
		d.NeedsApproval = true
		d.Rationale += "; a person is asked, since " + faults[i].String()
	}
	return decisions
}
