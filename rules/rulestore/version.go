package rulestore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// An Origin says where a change of rules comes from.
type Origin string

// The origins.
const (
	OriginAPI     Origin = "api"     // the methods of a [Store]
	OriginFile    Origin = "file"    // [Store.ImportFile]; the detail is the name of the file
	OriginRestore Origin = "restore" // [Store.Restore]; the detail is the restored version
	OriginProgram Origin = "program" // the program disabled rules; the detail says why
	OriginFound   Origin = "found"   // the rules were stored before versions were kept
)

// An Author says who changes rules, and from where.
type Author struct {
	Name   string // of a person or a program; may be empty
	Origin Origin // empty: OriginAPI
	Detail string // for people; may be empty
}

func (a Author) origin() Origin { return cmp.Or(a.Origin, OriginAPI) }

// As returns a store that writes down the author with the versions that it makes.
func (s *Store) As(a Author) *Store {
	other := *s
	other.author = a
	return &other
}

// A Version is the rules of one account after a change. Each method of a [Store] that changes rules makes one for
// each account whose rules have changed.
type Version struct {
	Number    int64  // counted over all accounts, from 1
	AccountID string // empty: the rules that belong to no account
	By        Author
	At        time.Time
	// Digest is equal for versions with equal rules, apart from their ids and times.
	Digest string
	Rules  int // how many there are
	// HasSource reports whether the text of the file is kept that the rules were read from.
	HasSource bool
}

// A VersionContent is a version with its rules.
type VersionContent struct {
	Version
	// List are the rules in the order in which they are tried, disabled ones included.
	List []rules.Rule
	// Source is the file that the rules were read from, byte for byte with its comments; empty if there was none.
	Source string
}

// A VersionFilter selects versions.
type VersionFilter struct {
	// Account selects the versions of one account; empty for the rules that belong to none. Nil: of all.
	Account *string
	// Before selects those with a smaller number. 0: all.
	Before int64
	// Limit is how many are returned at most. Default 100; bound 10,000.
	Limit int
}

const (
	defaultVersions = 100
	maxVersions     = 10_000
)

// Versions returns versions, the newest first.
func (s *Store) Versions(ctx context.Context, f VersionFilter) ([]Version, error) {
	limit := cmp.Or(f.Limit, defaultVersions)
	if limit < 0 || limit > maxVersions {
		return nil, fmt.Errorf("rulestore: VersionFilter.Limit is %d; it must be within 1 and %d, or 0 for %d", f.Limit,
			maxVersions, defaultVersions)
	}
	before := cmp.Or(f.Before, math.MaxInt64)
	statement, args := sqlVersions, []any{before, limit}
	if f.Account != nil {
		statement, args = sqlVersionsOf, []any{before, *f.Account, limit}
	}
	var rows []versionRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, statement, args...); err != nil {
		return nil, fmt.Errorf("read the versions of rules: %w", err)
	}
	list := make([]Version, len(rows))
	for i := range rows {
		list[i] = rows[i].version()
	}
	return list, nil
}

// Stored implements [rules.Store]: a version says that rules were stored, if only an empty list.
func (s *Store) Stored(ctx context.Context, accountID string) (bool, error) {
	for _, id := range []string{accountID, ""} {
		versions, err := s.Versions(ctx, VersionFilter{Account: &id, Limit: 1})
		if err != nil || len(versions) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// Version returns a version with its rules. A number that no version has is [postroom.ErrNotFound].
func (s *Store) Version(ctx context.Context, number int64) (*VersionContent, error) {
	return contentAt(ctx, s.db.Reader(), number)
}

// NewestTx returns the newest version of the account's rules, with them, as the transaction sees it; before there is
// one, [postroom.ErrNotFound].
func (s *Store) NewestTx(ctx context.Context, tx queue.Tx, accountID string) (*VersionContent, error) {
	newest, err := lastVersion(ctx, tx, accountID)
	if err != nil {
		return nil, fmt.Errorf("read the newest version of the rules: %w", err)
	}
	if newest.Number == 0 {
		return nil, fmt.Errorf("a version of the rules of account %q: %w", accountID, postroom.ErrNotFound)
	}
	return contentAt(ctx, tx, newest.Number)
}

func contentAt(ctx context.Context, q dbquery.Querier, number int64) (*VersionContent, error) {
	v, rows, err := versionAt(ctx, q, number)
	if err != nil {
		return nil, err
	}
	content := &VersionContent{Version: v.version(), Source: v.Source.String, List: make([]rules.Rule, len(rows))}
	for i := range rows {
		content.List[i] = rows[i].rule()
	}
	slices.SortFunc(content.List, func(a, b rules.Rule) int { return rules.Order(&a, &b) })
	return content, nil
}

func versionAt(ctx context.Context, q dbquery.Querier, number int64) (*versionRow, []row, error) {
	var v versionRow
	err := dbquery.Get(ctx, q, &v, sqlVersion, number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, fmt.Errorf("version %d of the rules: %w", number, postroom.ErrNotFound)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read version %d of the rules: %w", number, err)
	}
	var states []historyRow
	if err := dbquery.Select(ctx, q, &states, sqlStatesAt, v.AccountID, number); err != nil {
		return nil, nil, fmt.Errorf("read version %d of the rules: %w", number, err)
	}
	rows := make([]row, len(states))
	for i := range states {
		r, err := states[i].row()
		if err != nil {
			return nil, nil, fmt.Errorf("read version %d: %w", number, err)
		}
		rows[i] = *r
	}
	return &v, rows, nil
}

// RuleAt returns a rule at the version that a decision names, which is [rules.Rule.Version]; see
// [postroom.Decision].RuleVersion. A version that was never stored, or was stored before versions existed, is
// [postroom.ErrNotFound].
func (s *Store) RuleAt(ctx context.Context, id, version string) (*rules.Rule, error) {
	var h historyRow
	err := dbquery.Get(ctx, s.db.Reader(), &h, sqlStateOfRule, id, version)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("rule %q at version %.12s: %w", id, version, postroom.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read rule %q at a version: %w", id, err)
	}
	r, err := h.row()
	if err != nil {
		return nil, err
	}
	rule := r.rule()
	return &rule, nil
}

// KnowsSource reports whether a version was read from a file with the text.
func (s *Store) KnowsSource(ctx context.Context, text string) (bool, error) {
	return knowsSource(ctx, s.db.Reader(), text)
}

// KnowsSourceTx is KnowsSource within a transaction.
func (s *Store) KnowsSourceTx(ctx context.Context, tx queue.Tx, text string) (bool, error) {
	return knowsSource(ctx, tx, text)
}

func knowsSource(ctx context.Context, q dbquery.Querier, text string) (bool, error) {
	var n int
	if err := dbquery.Get(ctx, q, &n, sqlSourceKnown, text); err != nil {
		return false, fmt.Errorf("look for a rules file among the versions: %w", err)
	}
	return n > 0, nil
}

// CurrentSource returns the text of the file that the account's rules were last read from. ok is false if there are no
// rules, or they were changed in another way since.
func (s *Store) CurrentSource(ctx context.Context, accountID string) (text string, ok bool, err error) {
	var v versionRow
	err = dbquery.Get(ctx, s.db.Reader(), &v, sqlLastVersion, accountID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("read the newest version of the rules: %w", err)
	}
	return v.Source.String, v.Source.Valid, nil
}

// Restore restores the rules of the version's account: each with its id, its state, and the ids of labels that it
// had. That makes a version, which Restore returns; if nothing changes, it returns the newest one. Restored rules are
// not checked: the engine disables one that can no longer be evaluated.
func (s *Store) Restore(ctx context.Context, tx queue.Tx, number int64) (*Version, error) {
	e, err := s.begin(ctx, tx)
	if err != nil {
		return nil, err
	}
	v, rows, err := versionAt(ctx, tx, number)
	if err != nil {
		return nil, err
	}
	e.by(OriginRestore, fmt.Sprintf("version %d", number))
	if v.Source.Valid {
		e.source = &v.Source.String
	}
	e.touched[v.AccountID] = map[string]bool{} // a version may differ in its source alone
	if err := e.restore(ctx, v.AccountID, rows); err != nil {
		return nil, fmt.Errorf("restore version %d of the rules: %w", number, err)
	}
	if err := e.end(ctx); err != nil {
		return nil, err
	}
	last, err := lastVersion(ctx, tx, v.AccountID)
	restored := last.version()
	return &restored, err
}

// restore deletes rules that differ from the rows before it stores these, since names may have changed owners.
func (e *edit) restore(ctx context.Context, accountID string, rows []row) error {
	var current []row
	if err := dbquery.Select(ctx, e.tx, &current, sqlRulesOf, accountID); err != nil {
		return err
	}
	wanted, stays := map[string]string{}, map[string]bool{}
	for i := range rows {
		was, err := historyOf(&rows[i])
		if err != nil {
			return err
		}
		wanted[was.RuleID] = was.Digest
	}
	for i := range current {
		is, err := historyOf(&current[i])
		if err != nil {
			return err
		}
		if stays[is.RuleID] = wanted[is.RuleID] == is.Digest; stays[is.RuleID] {
			continue
		}
		rule := current[i].rule()
		if err := e.remove(ctx, &rule); err != nil {
			return err
		}
	}
	for i := range rows {
		r := rows[i]
		if stays[r.ID] {
			continue
		}
		r.UpdatedAt.Time, r.Revision = queue.Now(e.tx), e.revision
		if err := e.touch(ctx, &rules.Rule{ID: r.ID, AccountID: accountID}); err != nil {
			return err
		}
		if err := e.insertRow(ctx, &r); err != nil {
			return err
		}
	}
	return nil
}
