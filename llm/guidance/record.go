package guidance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A GuidanceLog records, signed, which directions and rules are stored; *safety.Ledger implements it.
type Log interface {
	// LogRules puts them on record as they are stored now, in the transaction that writes them.
	LogRules(ctx context.Context, tx queue.Tx, states ...postroom.RuleState) error
	// CheckRule returns why one is not as it is on record; empty if it is.
	CheckRule(ctx context.Context, tx queue.Tx, state postroom.RuleState) (fault string, err error)
	// CheckRules returns which of all that are stored of a kind are not as they are on record, and which are missing.
	CheckRules(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, stored []postroom.RuleState) ([]postroom.RuleFault, error)
}

// ErrAltered reports that a direction or a rule to be changed does not match its record in the [GuidanceLog]: the change
// would accept what something else has written. [GuidanceStore.Confirm] accepts it, and it may be deleted.
var ErrAltered = errors.New("it is not as it was written: look at it, and confirm or delete it")

func (r *directionRow) state() (postroom.RuleState, error) {
	same := *r
	same.UpdatedAt = dbtime.Time{}
	return guidanceState(postroom.RuleKindDirection, r.ID, r.AccountID, r.Enabled, &same)
}

func (r *ruleRow) state() (postroom.RuleState, error) {
	same := *r
	same.UpdatedAt = dbtime.Time{}
	return guidanceState(postroom.RuleKindInstruction, r.ID, "", r.Enabled, &same)
}

func guidanceState(kind postroom.RuleKind, id, accountID string, enabled bool, columns any) (postroom.RuleState, error) {
	state := postroom.RuleState{Kind: kind, ID: id, AccountID: accountID, State: postroom.RuleDisabled}
	if enabled {
		state.State = postroom.RuleEnabled
	}
	text, err := json.Marshal(columns)
	sum := sha256.Sum256(text)
	state.Digest = hex.EncodeToString(sum[:])
	return state, err
}

// A stated row has a state that a log records.
type stated[R any] interface {
	*R
	state() (postroom.RuleState, error)
}

// statesOf reads the states of all rows.
func statesOf[R any, P stated[R]](ctx context.Context, tx queue.Tx, query string) ([]postroom.RuleState, error) {
	var rows []R
	if err := dbquery.Select(ctx, tx, &rows, query); err != nil {
		return nil, fmt.Errorf("read directions and rules: %w", err)
	}
	states := make([]postroom.RuleState, len(rows))
	for i := range rows {
		var err error
		if states[i], err = P(&rows[i]).state(); err != nil {
			return nil, err
		}
	}
	return states, nil
}

// EachRuleState calls fn for all that is stored. It is for the RuleStores of package safety.
func (s *Store) EachRuleState(ctx context.Context, tx queue.Tx, fn func(postroom.RuleState) error) error {
	directions, err := statesOf[directionRow](ctx, tx, sqlDirections)
	if err != nil {
		return err
	}
	rules, err := statesOf[ruleRow](ctx, tx, sqlRules)
	for _, state := range append(directions, rules...) {
		if err == nil {
			err = fn(state)
		}
	}
	return err
}

// Faults returns the directions and rules that do not match their record in the log of [GuidanceStoreConfig], including those
// that something else has removed. Until a person confirms or corrects them, a person is asked about models' decisions. Without a
// log there are none.
func (s *Store) Faults(ctx context.Context) (faults []postroom.RuleFault, err error) {
	if s.log == nil {
		return nil, nil
	}
	// A row that changes between the reads of the tables and the log would look altered.
	err = dbquery.Snapshot(ctx, s.db.Reader(), func(tx dbquery.Tx) (err error) {
		faults, err = s.faults(ctx, tx)
		return err
	})
	return faults, err
}

func (s *Store) faults(ctx context.Context, tx queue.Tx) ([]postroom.RuleFault, error) {
	if s.log == nil {
		return nil, nil
	}
	directions, err := statesOf[directionRow](ctx, tx, sqlDirections)
	if err != nil {
		return nil, err
	}
	rules, err := statesOf[ruleRow](ctx, tx, sqlRules)
	if err != nil {
		return nil, err
	}
	faults, err := s.log.CheckRules(ctx, tx, postroom.RuleKindDirection, directions)
	if err != nil {
		return nil, fmt.Errorf("compare the directions with the log: %w", err)
	}
	more, err := s.log.CheckRules(ctx, tx, postroom.RuleKindInstruction, rules)
	if err != nil {
		return nil, fmt.Errorf("compare the rules with the log: %w", err)
	}
	return append(faults, more...), nil
}

// Confirm records a direction or a rule as it is stored now, whoever has written it, because a person has reviewed it. One that
// something else has removed is then recorded as deleted.
func (s *Store) Confirm(ctx context.Context, tx queue.Tx, id string) error {
	if s.log == nil {
		return nil
	}
	faults, err := s.faults(ctx, tx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(faults, func(f postroom.RuleFault) bool { return f.ID == id })
	switch {
	case i < 0:
		return fmt.Errorf("llm/guidance: confirm %q: nothing that is not as it was written has this id: %w", id, postroom.ErrNotFound)
	case faults[i].Missing:
		return s.logGone(ctx, tx, faults[i].Kind, id, faults[i].AccountID)
	}
	return s.logStored(ctx, tx, faults[i].Kind, id)
}

// storedState reads the state of a row.
func storedState(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, id string) (postroom.RuleState, error) {
	if kind == postroom.RuleKindDirection {
		var row directionRow
		if err := dbquery.Get(ctx, tx, &row, sqlDirection, id); err != nil {
			return postroom.RuleState{}, failed("read direction", id, missing(err))
		}
		return row.state()
	}
	var row ruleRow
	if err := dbquery.Get(ctx, tx, &row, sqlRule, id); err != nil {
		return postroom.RuleState{}, failed("read rule", id, missing(err))
	}
	return row.state()
}

// logStored puts a row on record as it is stored.
func (s *Store) logStored(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, id string) error {
	if s.log == nil {
		return nil
	}
	state, err := storedState(ctx, tx, kind, id)
	if err != nil {
		return err
	}
	return s.log.LogRules(ctx, tx, state)
}

func (s *Store) logGone(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, id, accountID string) error {
	if s.log == nil {
		return nil
	}
	return s.log.LogRules(ctx, tx, postroom.RuleState{Kind: kind, ID: id, AccountID: accountID, State: postroom.RuleGone})
}

// genuine is an error if a row is not as it is on record.
func (s *Store) genuine(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, id string) error {
	if s.log == nil {
		return nil
	}
	state, err := storedState(ctx, tx, kind, id)
	if err != nil {
		return err
	}
	fault, err := s.log.CheckRule(ctx, tx, state)
	if err == nil && fault != "" {
		err = fmt.Errorf("llm/guidance: %s %q %s: %w", kind, id, fault, ErrAltered)
	}
	return err
}
