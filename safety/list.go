package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// Actions lists actions and their decisions, newest first.
func (l *Ledger) Actions(ctx context.Context, f Filter) ([]Entry, error) {
	return entries(ctx, l.cfg, f, listActions)
}

func entries(ctx context.Context, cfg *Config, f Filter, statement string) ([]Entry, error) {
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
	a, err := get[lockRow, postroom.Action](ctx, l.cfg.DB.Reader(), selectLockHolder, accountID, messageID)
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
