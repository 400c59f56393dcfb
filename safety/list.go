package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
)

// An Entry is an action and the decision it stems from. An undo stems from the decision of what it takes back.
type Entry struct {
	Action   postroom.Action
	Decision DecisionRecord
}

func scanEntry(s scanner) (e Entry, err error) {
	var a actionRow
	var d decisionRow
	if err := s.Scan(append(a.dest(), d.dest()...)...); err != nil {
		return e, err
	}
	if e.Action, err = a.value(); err != nil {
		return e, err
	}
	e.Decision, err = d.value()
	return e, err
}

// Actions lists actions and their decisions, newest first.
func (l *Ledger) Actions(ctx context.Context, f Filter) ([]Entry, error) {
	return list(ctx, l, f, listActions, scanEntry)
}

// Decisions lists decisions by what became of them, newest first: as [Ledger.Actions], without the undos.
func (l *Ledger) Decisions(ctx context.Context, f Filter) ([]DecisionRecord, error) {
	entries, err := list(ctx, l, f, listDecisions, scanEntry)
	records := make([]DecisionRecord, len(entries))
	for i, e := range entries {
		records[i] = e.Decision
	}
	return records, err
}

// A Waiting is an action that waits for a person, and the request that is made of them.
type Waiting struct {
	Entry
	Approval Approval
}

func scanWaiting(s scanner) (w Waiting, err error) {
	var a actionRow
	var d decisionRow
	var p approvalRow
	if err := s.Scan(append(append(a.dest(), d.dest()...), p.dest()...)...); err != nil {
		return w, err
	}
	if w.Action, err = a.value(); err != nil {
		return w, err
	}
	if w.Decision, err = d.value(); err != nil {
		return w, err
	}
	w.Approval, err = p.value()
	return w, err
}

// Approvals lists what waits for a person, newest first, expired requests too. Only actions in state approved_pending
// wait, so Filter.States must be empty.
func (l *Ledger) Approvals(ctx context.Context, f Filter) ([]Waiting, error) {
	if len(f.States) > 0 {
		return nil, errors.New("safety: Filter.States must be empty: all approvals wait in state approved_pending")
	}
	return list(ctx, l, f, listApprovals, scanWaiting)
}

func list[T any](ctx context.Context, l *Ledger, f Filter, listing string, read func(scanner) (T, error)) ([]T, error) {
	f, err := f.withDefaults()
	if err != nil {
		return nil, err
	}
	query, args, err := f.build(listing)
	if err != nil {
		return nil, fmt.Errorf("safety: list: %w", err)
	}
	rows, err := l.cfg.DB.Reader().QueryContext(ctx, query, args...)
	all, err := collect(rows, err, read)
	if err != nil {
		return nil, fmt.Errorf("safety: list: %w", err)
	}
	return all, nil
}

// Decision returns one decision, or [postroom.ErrNotFound].
func (l *Ledger) Decision(ctx context.Context, id string) (DecisionRecord, error) {
	d, err := scan(l.cfg.DB.Reader().QueryRowContext(ctx, selectDecision, id), &decisionRow{})
	if errors.Is(err, sql.ErrNoRows) {
		return d, notFound("decision", id)
	}
	if err != nil {
		return d, fmt.Errorf("safety: read decision %s: %w", id, err)
	}
	return d, nil
}

// maxCandidates is how many ids an ambiguous prefix names.
const maxCandidates = 10

// Resolve finds the one action whose id begins with prefix, for people who type: letter case does not matter. None is
// [postroom.ErrNotFound]; several are [ErrAmbiguous], and the error lists them.
func (l *Ledger) Resolve(ctx context.Context, prefix string) (string, error) {
	p := strings.ToLower(strings.TrimSpace(prefix))
	if p == "" || strings.Trim(p, "0123456789abcdef-") != "" {
		return "", notFound("action", prefix)
	}
	rows, err := l.cfg.DB.Reader().QueryContext(ctx, selectPrefix, p, p+"g")
	ids, err := collect(rows, err, func(s scanner) (id string, err error) {
		err = s.Scan(&id)
		return id, err
	})
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
