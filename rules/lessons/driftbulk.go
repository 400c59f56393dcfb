package lessons

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// bulkOf are corrections in bulk that nobody has answered for.
type bulkOf struct {
	ids   map[string]bool
	since time.Time // when those began that the last correction is among; zero if it is not
}

// bulkAt reads the corrections in bulk of an account after one that was just made. The first twenty of many were
// counted before anybody could know what they are among: those that follow have them counted anew.
func (s *Store) bulkAt(ctx context.Context, tx queue.Tx, accountID string) (b bulkOf, err error) {
	var rows []feedbackRow
	err = dbquery.Select(ctx, tx, &rows, sqlUnanswered, accountID, dbtime.Of(queue.Now(tx).Add(-driftSince)))
	if err != nil {
		return b, fmt.Errorf("lessons: read the corrections in bulk of account %s: %w", accountID, err)
	}
	b.ids = map[string]bool{}
	bulk := inBulk(rows)
	for i, is := range bulk {
		if is {
			b.ids[rows[i].ID] = true
		}
	}
	for i := len(rows) - 1; i >= 0 && bulk[i]; i-- {
		b.since = rows[i].CreatedAt.Time
	}
	return b, nil
}

// A pace says how many corrections were just made at once.
type pace int

const (
	oneByOne    pace = iota
	inABulk          // the last is one in bulk
	inALongBulk      // and so are the 20 before it: what follows from the bulk was seen to by then
)

// pace returns that of the correction that was just made. It reads no more than it has to: ten thousand may come at
// once, in a few transactions.
func (s *Store) pace(ctx context.Context, tx queue.Tx, accountID string) (pace, error) {
	var rows []feedbackRow
	if err := dbquery.Select(ctx, tx, &rows, sqlNewestUnanswered, accountID, 2*bulkActs+1); err != nil {
		return oneByOne, fmt.Errorf("lessons: read the newest corrections of account %s: %w", accountID, err)
	}
	atOnce := func(n int) bool {
		return len(rows) > n && rows[0].CreatedAt.Sub(rows[n].CreatedAt.Time) <= bulkWithin
	}
	switch {
	case atOnce(2 * bulkActs):
		return inALongBulk, nil
	case atOnce(bulkActs):
		return inABulk, nil
	}
	return oneByOne, nil
}

// drifting are the drifts that a correction may change: that of what it corrects and, for one in bulk, those that have
// begun to warn or to ask since the bulk began. They are sorted, so that two transactions lock them in one order.
func (s *Store) drifting(ctx context.Context, tx queue.Tx, c *Correction, since time.Time) (list []Drift, err error) {
	if corrects(c) {
		list = append(list, c.drift())
	}
	if since.IsZero() {
		return list, nil
	}
	all, err := driftsOf(ctx, tx, c.AccountID)
	for _, d := range all {
		own := len(list) > 0 && d.RuleID == list[0].RuleID && d.version == list[0].version
		if !own && d.State != DriftRight && !d.ChangedAt.Before(since) {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Drift) int {
		return cmp.Or(cmp.Compare(a.RuleID, b.RuleID), cmp.Compare(a.version, b.version))
	})
	return list, err
}

// driftsOf reads all drifts of an account, in their order.
func driftsOf(ctx context.Context, tx queue.Tx, accountID string) (list []Drift, err error) {
	var rows []driftRow
	if err := dbquery.Select(ctx, tx, &rows, sqlAllDrifts, accountID); err != nil {
		return nil, fmt.Errorf("lessons: list the drifts of account %s: %w", accountID, err)
	}
	for i := range rows {
		list = append(list, rows[i].value())
	}
	return list, nil
}

// countAnswered has the drifts counted anew after a person has said that corrections in bulk count. A drift is not
// lowered by that: only a person ends one.
func (s *Store) countAnswered(ctx context.Context, tx queue.Tx, accountID string) error {
	if s.cfg.Acted == nil {
		return nil
	}
	all, err := driftsOf(ctx, tx, accountID)
	if err != nil {
		return err
	}
	bulk, err := s.bulkAt(ctx, tx, accountID)
	if err != nil {
		return err
	}
	for i := range all {
		was, err := s.lockDrift(ctx, tx, &all[i])
		if err != nil {
			return err
		}
		d, err := s.recount(ctx, tx, was, bulk.ids)
		if err != nil {
			return err
		}
		if rank(d.State) > rank(was.State) {
			if err := s.setDrift(ctx, tx, &d, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// rank orders the states of a drift.
func rank(state DriftState) int {
	return slices.Index([]DriftState{DriftRight, DriftWarns, DriftAsks}, state)
}

// corrects reports whether a correction says that an action of a rule or of the models was wrong.
func corrects(c *Correction) bool {
	p := &c.Proposed
	byRule := p.Source == postroom.SourceDeterministic && p.RuleID != ""
	return c.Says == Wrong && p.ActionID != "" && (byRule || p.Source == postroom.SourceModel)
}

// drift is that of the rule, or of the models, whose action a correction is about.
func (c *Correction) drift() Drift {
	p := &c.Proposed
	return Drift{AccountID: c.AccountID, RuleID: p.RuleID, Rule: p.Rule, version: p.RuleVersion}
}
