package rulestore

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// A VersionPruning says which versions [Store.PruneVersions] deletes.
type VersionPruning struct {
	// Before is the time: versions that were replaced before it are deleted. Required.
	Before time.Time
	// Keep is how many of the newest versions of each account stay, however old they are. 0 is as 1.
	Keep int
	// InUse reports whether something, such as a decision, refers to a rule at a version, see [Store.RuleAt]. Rules in
	// use are kept. Required.
	InUse func(ruleID, version string) bool
}

// PruneVersions deletes old versions, and returns their number. The newest version of each account that is older than
// the time is kept, since it was in effect until the next. [Store.RuleAt] still returns the rules that are in use.
func (s *Store) PruneVersions(ctx context.Context, p VersionPruning) (int, error) {
	give := "a function that knows the rules which decisions refer to; they could not be explained any more"
	if err := fields.Required("rulestore: VersionPruning.InUse", p.InUse, give); err != nil {
		return 0, err
	}
	if p.Before.IsZero() || p.Keep < 0 {
		return 0,
			fmt.Errorf(
				"rulestore: VersionPruning: Before is %v and Keep is %d; give a time, and a number that is not negative",
				p.Before, p.Keep)
	}
	var accounts []string
	if err := dbquery.Select(ctx, s.db.Reader(), &accounts, sqlVersionedAccounts); err != nil {
		return 0, fmt.Errorf("prune versions of rules: %w", err)
	}
	total := 0
	for _, account := range accounts {
		n, err := s.pruneAccount(ctx, account, p)
		if total += n; err != nil {
			return total, fmt.Errorf("prune versions of rules: account %q: %w", account, err)
		}
	}
	return total, nil
}

// pruneAccount deletes the versions first: a call after a crash finds the remaining rules.
func (s *Store) pruneAccount(ctx context.Context, account string, p VersionPruning) (int, error) {
	var first int64 // that stays
	if err := dbquery.Get(ctx, s.db.Reader(), &first, sqlFirstToKeep, account, dbtime.Of(p.Before),
		max(p.Keep-1, 0)); err != nil || first == 0 {
		return 0, err
	}
	total := 0
	for {
		n, err := s.prune(ctx, func(ctx context.Context, tx queue.Tx) (int64, error) {
			return dbquery.Exec(ctx, tx, sqlPruneVersions, account, first, pruneBatch)
		})
		if total += int(n); err != nil {
			return total, err
		}
		if n < pruneBatch {
			break
		}
	}
	var states []stateKey
	if err := dbquery.Select(ctx, s.db.Reader(), &states, sqlReplacedStates, account, first); err != nil {
		return total, err
	}
	var gone []stateKey
	for _, st := range states {
		if st.RuleVersion == "" || !p.InUse(st.RuleID, st.RuleVersion) {
			gone = append(gone, st)
		}
	}
	return total, s.pruneStates(ctx, account, gone)
}

// pruneBatch is how many rows a transaction deletes: large deletes hold the writer of SQLite.
const pruneBatch = 500

type stateKey struct {
	RuleID      string `db:"rule_id"`
	Version     int64  `db:"version"`
	RuleVersion string `db:"rule_version"`
}

func (s *Store) pruneStates(ctx context.Context, account string, gone []stateKey) error {
	for len(gone) > 0 {
		batch := gone[:min(len(gone), pruneBatch)]
		gone = gone[len(batch):]
		_, err := s.prune(ctx, func(ctx context.Context, tx queue.Tx) (int64, error) {
			for _, st := range batch {
				if _, err := tx.ExecContext(ctx, sqlPruneState, account, st.RuleID, st.Version); err != nil {
					return 0, err
				}
			}
			return int64(len(batch)), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// prune deletes while no transaction changes or restores rules.
func (s *Store) prune(ctx context.Context, remove func(ctx context.Context, tx queue.Tx) (int64, error)) (n int64,
	err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := s.Lock(ctx, tx); err != nil {
			return err
		}
		n, err = remove(ctx, tx)
		return err
	})
	return n, err
}
