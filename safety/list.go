package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// An Entry is an action with the decision that led to it. An undo has the decision of the action that it undoes.
type Entry struct {
	Action   postroom.Action
	Decision DecisionRecord
}

type entryRow struct {
	actionRow
	decisionRow
}

func (r *entryRow) value() (e Entry, err error) {
	if e.Action, err = r.actionRow.value(); err != nil {
		return e, err
	}
	e.Decision, err = r.decisionRow.value()
	return e, err
}

// Actions lists actions and their decisions, newest first.
func (l *Ledger) Actions(ctx context.Context, f Filter) ([]Entry, error) {
	return l.entries(ctx, f, listActions)
}

func (l *Ledger) entries(ctx context.Context, f Filter, listing string) ([]Entry, error) {
	query, args, err := l.listing(f, listing)
	if err != nil {
		return nil, err
	}
	entries, err := all[entryRow, Entry](ctx, l.cfg.DB.Reader(), query, args...)
	if err != nil {
		return nil, fmt.Errorf("safety: list: %w", err)
	}
	return entries, nil
}

// Decisions lists the decisions whose actions match the filter, newest first, undos excluded.
func (l *Ledger) Decisions(ctx context.Context, f Filter) ([]DecisionRecord, error) {
	entries, err := l.entries(ctx, f, listDecisions)
	records := make([]DecisionRecord, len(entries))
	for i, e := range entries {
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

// A Waiting is an action that waits for approval, with its request.
type Waiting struct {
	Entry
	Approval Approval

	// Fault is nil if the request is what was asked; otherwise it is the result of [Ledger.CheckRequest]. A request with a Fault
	// must not be shown as genuine.
	Fault error
}

type waitingRow struct {
	entryRow
	approvalRow
}

func (r *waitingRow) value() (w Waiting, err error) {
	if w.Entry, err = r.entryRow.value(); err != nil {
		return w, err
	}
	w.Approval, err = r.approvalRow.value()
	return w, err
}

// Approvals lists the actions that wait for approval, newest first, those with expired requests included. Filter.States must
// be empty: all of them are pending_approval.
func (l *Ledger) Approvals(ctx context.Context, f Filter) ([]Waiting, error) {
	if len(f.States) > 0 {
		return nil, errors.New("safety: Filter.States must be empty: all approvals wait in state pending_approval")
	}
	query, args, err := l.listing(f, listApprovals)
	if err != nil {
		return nil, err
	}
	if err := l.keys.load(ctx, l.cfg.DB.Reader()); err != nil {
		return nil, err
	}
	list, err := l.readWaiting(ctx, query, args)
	if err != nil {
		return nil, fmt.Errorf("safety: list: %w", err)
	}
	return list, nil
}

// readWaiting reads waiting actions and verifies what it has read. The keys must be loaded.
func (l *Ledger) readWaiting(ctx context.Context, query string, args []any) ([]Waiting, error) {
	db := l.cfg.DB.Reader()
	held := l.checkpoint.check(ctx, db, l.cfg.Audit)
	var accepted switchRow
	if err := dbquery.Get(ctx, db, &accepted, selectSwitch); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	var rows []waitingRow
	if err := dbquery.Select(ctx, db, &rows, query, args...); err != nil {
		return nil, err
	}
	list := make([]Waiting, len(rows))
	for i := range rows {
		r := &rows[i]
		var err error
		if list[i], err = r.value(); err != nil {
			return nil, err
		}
		p := permitRow{actionRow: r.actionRow, decided: decided{r.decisionRow}, switchRow: accepted}
		switch {
		case p.State != postroom.ActionPendingApproval:
			list[i].Fault = &StateError{Op: "check the request about", ActionID: p.ID, State: p.State, JobID: p.JobID}
		case held != nil:
			list[i].Fault = held
		default:
			list[i].Fault = l.genuine(&p, &r.approvalRow)
		}
	}
	return list, nil
}

// listing builds the statement of a list.
func (l *Ledger) listing(f Filter, listing string) (query string, args []any, err error) {
	if f, err = f.withDefaults(l.cfg.Kinds); err != nil {
		return "", nil, err
	}
	if query, args, err = f.build(listing); err != nil {
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

// Resolve returns the id of the one action whose id begins with the prefix; case is ignored. Without such an action the error
// is [postroom.ErrNotFound]; with several it is [ErrAmbiguous] and lists them.
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
