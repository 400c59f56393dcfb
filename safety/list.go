package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// Actions lists actions and their decisions, newest first.
func (l *Ledger) Actions(ctx context.Context, f Filter) ([]Entry, error) {
	return entries(ctx, l.cfg, f, listActions)
}

func entries(ctx context.Context, cfg *Config, f Filter, statement string) (_ []Entry, err error) {
	if f.fewSure, err = fewOf(ctx, cfg.DB, f.Confidence); err != nil {
		return nil, err
	}
	query, args, err := listing(f, cfg.Kinds, statement)
	if err != nil {
		return nil, err
	}
	list, err := all[entryRow, Entry](ctx, cfg.DB.Reader(), query, args...)
	if err != nil {
		return nil, fmt.Errorf("safety: list: %w", err)
	}
	return list, nil
}

// few is how many entries are found and sorted faster than the newest ones are searched for them.
const few = 1000

// fewOf reports whether few decisions have a confidence in the range.
func fewOf(ctx context.Context, db queue.DB, r *Range) (bool, error) {
	if r == nil || !(r.Max < 1) {
		return false, nil
	}
	var n int
	query := sqlx.Rebind(sqlx.DOLLAR, "SELECT COUNT(*) FROM ("+selectOfConfidence+" LIMIT ?) AS found")
	if err := dbquery.Get(ctx, db.Reader(), &n, query, r.Min, r.Max, few); err != nil {
		return false, fmt.Errorf("safety: count decisions by their confidence: %w", err)
	}
	return n < few, nil
}

// Decisions lists the decisions whose actions match the filter, newest first, undos excluded.
func (l *Ledger) Decisions(ctx context.Context, f Filter) ([]DecisionRecord, error) {
	list, err := entries(ctx, l.cfg, f, listDecisions)
	records := make([]DecisionRecord, len(list))
	for i, e := range list {
		records[i] = e.Decision
	}
	return records, err
}

// A DecidingRule is a version of a rule that has decided. Approvals and undos refer to it by their decision.
type DecidingRule struct {
	ID      string `db:"rule_id"`
	Version string `db:"rule_version"`
}

// DecidingRules returns the rules of all decisions, each at each version that decided.
func (l *Ledger) DecidingRules(ctx context.Context) ([]DecidingRule, error) {
	var list []DecidingRule
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &list, listDecidingRules); err != nil {
		return nil, fmt.Errorf("safety: list the rules of decisions: %w", err)
	}
	return list, nil
}

// Approvals lists the actions that wait for approval, newest first, those with expired requests included.
// Filter.States must be empty: all of them are pending_approval.
func (l *Ledger) Approvals(ctx context.Context, f Filter) ([]Waiting, error) {
	if len(f.States) > 0 {
		return nil, errors.New("safety: Filter.States must be empty: all approvals wait in state pending_approval")
	}
	query, args, err := listing(f, l.cfg.Kinds, listApprovals)
	if err != nil {
		return nil, err
	}
	if err := l.keys.Load(ctx, l.cfg.DB.Reader()); err != nil {
		return nil, err
	}
	list, err := l.requests.readWaiting(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("safety: list: %w", err)
	}
	return list, nil
}

// listing builds the statement of a list.
func listing(f Filter, kinds *postroom.Kinds, statement string) (query string, args []any, err error) {
	if f, err = f.withDefaults(kinds); err != nil {
		return "", nil, err
	}
	if query, args, err = f.build(statement); err != nil {
		err = fmt.Errorf("safety: list: %w", err)
	}
	return query, args, err
}

// Decision returns one decision, or [postroom.ErrNotFound].
func (l *Ledger) Decision(ctx context.Context, id string) (DecisionRecord, error) {
	d, err := get[decisionRow, DecisionRecord](ctx, l.cfg.DB.Reader(), selectDecision, id)
	if errors.Is(err, sql.ErrNoRows) {
		return d, notFound("decision", id)
	}
	if err != nil {
		return d, fmt.Errorf("safety: read decision %s: %w", id, err)
	}
	return d, nil
}

// EntryTx returns an action and its decision inside a write transaction, or [postroom.ErrNotFound].
func (l *Ledger) EntryTx(ctx context.Context, tx queue.Tx, actionID string) (Entry, error) {
	return oneEntry(ctx, tx, "action "+actionID, selectEntry, actionID)
}

// LastDone returns the actions of the message that were carried out last and their decisions, undos excluded, inside
// a write transaction: 10 at most, the newest first.
func LastDone(ctx context.Context, tx queue.Tx, accountID, messageID string) ([]Entry, error) {
	list, err := all[entryRow, Entry](ctx, tx, selectLastDone, accountID, messageID)
	if err != nil {
		return nil, fmt.Errorf("safety: read the last actions of message %s: %w", messageID, err)
	}
	return list, nil
}

func oneEntry(ctx context.Context, tx queue.Tx, what, statement string, args ...any) (Entry, error) {
	e, err := get[entryRow, Entry](ctx, tx, statement, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return e, fmt.Errorf("safety: %s: %w", what, postroom.ErrNotFound)
	}
	if err != nil {
		return e, fmt.Errorf("safety: read %s: %w", what, err)
	}
	return e, nil
}

// maxCandidates bounds the number of ids in the error about an ambiguous prefix.
const maxCandidates = 10

// Resolve returns the id of the one action whose id begins with the prefix; case is ignored. Without such an action
// the error is [postroom.ErrNotFound]; with several it is [ErrAmbiguous] and lists them.
func (l *Ledger) Resolve(ctx context.Context, prefix string) (string, error) {
	p := strings.ToLower(strings.TrimSpace(prefix))
	if p == "" || strings.Trim(p, "0123456789abcdef-") != "" {
		return "", notFound("action", prefix)
	}
	var ids []string
	err := dbquery.Select(ctx, l.cfg.DB.Reader(), &ids, selectPrefix, p, p+"g")
	switch {
	case err != nil:
		return "", fmt.Errorf("safety: find action %q: %w", prefix, err)
	case len(ids) == 0:
		return "", notFound("action", prefix)
	case len(ids) == 1:
		return ids[0], nil
	}
	return "", ambiguous(prefix, ids[:min(len(ids), maxCandidates)], len(ids) > maxCandidates)
}

// Executing returns the action of the message that is executing, undos included; nil if none is. While a wake-up has
// the lock, it returns the snooze, with the job of the wake-up.
func (l *Ledger) Executing(ctx context.Context, accountID, messageID string) (*postroom.Action, error) {
	return executing(ctx, l.cfg.DB.Reader(), accountID, messageID)
}

// Executing is [Ledger.Executing] inside a write transaction.
func Executing(ctx context.Context, tx queue.Tx, accountID, messageID string) (*postroom.Action, error) {
	return executing(ctx, tx, accountID, messageID)
}

func executing(ctx context.Context, q dbquery.Querier, accountID, messageID string) (*postroom.Action, error) {
	a, err := get[lockRow, postroom.Action](ctx, q, selectLockHolder, accountID, messageID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // none is no error, and no action
	case err != nil:
		return nil, fmt.Errorf("safety: read the executing action of message %s: %w", messageID, err)
	}
	return &a, nil
}

// Queued lists the ids of the queued actions of a message, oldest first and at most 100, undos excluded.
func (l *Ledger) Queued(ctx context.Context, accountID, messageID string) (ids []string, err error) {
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &ids, selectQueued, accountID, messageID); err != nil {
		return nil, fmt.Errorf("safety: list the queued actions of message %s: %w", messageID, err)
	}
	return ids, nil
}

// History lists the completed actions of a message, undos included, in the order in which they were executed. It
// leaves out actions of type none.
func (l *Ledger) History(ctx context.Context, accountID, messageID string) ([]Past, error) {
	return history(ctx, l.cfg.DB.Reader(), accountID, messageID)
}

// Group lists the actions of a group of requests that wait and whose requests have not expired, oldest first. An empty
// id has none.
func (l *Ledger) Group(ctx context.Context, id string) (list []Waiting, err error) {
	if id == "" {
		return nil, nil
	}
	for filter := (Filter{Group: id, Limit: maxLimit}); ; {
		page, err := l.Approvals(ctx, filter)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if len(page) < filter.Limit {
			break
		}
		filter.Before = page[len(page)-1].Action.ID
	}
	now := time.Now()
	list = slices.DeleteFunc(list, func(w Waiting) bool { return !now.Before(w.Approval.ExpiresAt) })
	slices.Reverse(list)
	return list, nil
}

// CountApprovals counts the actions that wait for approval, of all accounts, as [Ledger.Approvals] lists them. It is
// for programs that ask often: it reads those that wait, and not what was done before.
func (l *Ledger) CountApprovals(ctx context.Context) (n int, err error) {
	if err := dbquery.Get(ctx, l.cfg.DB.Reader(), &n, countApprovals); err != nil {
		return 0, fmt.Errorf("safety: count approvals: %w", err)
	}
	return n, nil
}
