package guidance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm/decide"
)

type directionRow struct {
	ID        string      `db:"id"`
	AccountID string      `db:"account_id"`
	Content   string      `db:"content"`
	Enabled   bool        `db:"enabled"`
	Priority  int         `db:"priority"`
	CreatedAt dbtime.Time `db:"created_at"`
	UpdatedAt dbtime.Time `db:"updated_at"`
	Revision  int64       `db:"revision"`
}

func (r *directionRow) value() Direction {
	return Direction{
		ID: r.ID, AccountID: r.AccountID, Text: r.Content, Enabled: r.Enabled, Priority: r.Priority,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, Revision: r.Revision,
	}
}

type ruleRow struct {
	ID          string      `db:"id"`
	Name        string      `db:"name"`
	Description string      `db:"description"`
	Scope       Scope       `db:"scope"`
	ScopeRef    string      `db:"scope_ref"`
	Text        string      `db:"rule_text"`
	Enabled     bool        `db:"enabled"`
	Priority    int         `db:"priority"`
	CreatedAt   dbtime.Time `db:"created_at"`
	UpdatedAt   dbtime.Time `db:"updated_at"`
	Revision    int64       `db:"revision"`
}

func (r *ruleRow) value() ScopedRule {
	return ScopedRule{
		ID: r.ID, Name: r.Name, Description: r.Description, Scope: r.Scope, ScopeRef: r.ScopeRef, Text: r.Text, Enabled: r.Enabled,
		Priority: r.Priority, CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, Revision: r.Revision,
	}
}

// Direction returns one direction.
func (s *Store) Direction(ctx context.Context, id string) (Direction, error) {
	return getDirection(ctx, s.db.Reader(), id)
}

func getDirection(ctx context.Context, q dbquery.Querier, id string) (Direction, error) {
	var row directionRow
	err := dbquery.Get(ctx, q, &row, sqlDirection, id)
	return row.value(), failed("read direction", id, missing(err))
}

// Rule returns one rule.
func (s *Store) Rule(ctx context.Context, id string) (ScopedRule, error) {
	return getRule(ctx, s.db.Reader(), id)
}

func getRule(ctx context.Context, q dbquery.Querier, id string) (ScopedRule, error) {
	var row ruleRow
	err := dbquery.Get(ctx, q, &row, sqlRule, id)
	return row.value(), failed("read rule", id, missing(err))
}

func missing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return postroom.ErrNotFound
	}
	return err
}

// Directions returns all directions in their order, disabled ones included.
func (s *Store) Directions(ctx context.Context) ([]Direction, error) {
	return s.directions(ctx, sqlDirections)
}

func (s *Store) directions(ctx context.Context, query string, args ...any) ([]Direction, error) {
	var rows []directionRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read directions: %w", err)
	}
	list := make([]Direction, len(rows))
	for i := range rows {
		list[i] = rows[i].value()
	}
	return list, nil
}

// Rules returns all rules in their order, disabled ones included.
func (s *Store) Rules(ctx context.Context) ([]ScopedRule, error) {
	return s.rules(ctx, sqlRules)
}

func (s *Store) rules(ctx context.Context, query string, args ...any) ([]ScopedRule, error) {
	var rows []ruleRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	list := make([]ScopedRule, len(rows))
	for i := range rows {
		list[i] = rows[i].value()
	}
	return list, nil
}

// Guidance returns the enabled directions and rules for a message: those of all mail, of its account, and of its sender and the
// sender's domain. It has no labels; the host adds them. It fits [Config].Guidance.
func (s *Store) Guidance(ctx context.Context, msg *postroom.Message) (decide.Guidance, error) {
	var g decide.Guidance
	faults, err := s.Faults(ctx)
	if err != nil {
		return g, err
	}
	directions, err := s.directions(ctx, sqlDirectionsFor, msg.AccountID)
	if err != nil {
		return g, err
	}
	for _, d := range directions {
		if !faulty(faults, d.ID) {
			g.Directions = append(g.Directions, d.Text)
		}
	}
	sender := strings.ToLower(msg.From.Email)
	domain := sender[strings.LastIndexByte(sender, '@')+1:]
	rules, err := s.rules(ctx, sqlRulesFor, msg.AccountID, domain, sender)
	for _, r := range rules {
		if !faulty(faults, r.ID) {
			g.Rules = append(g.Rules, decide.Rule{Name: r.Name, Text: r.Text})
		}
	}
	if len(faults) > 0 {
		g.Altered = fmt.Sprintf("the %s %s %s", faults[0].Kind, faults[0].ID, faults[0].What)
	}
	return g, err
}

func faulty(faults []postroom.RuleFault, id string) bool {
	return slices.ContainsFunc(faults, func(f postroom.RuleFault) bool { return f.ID == id })
}
