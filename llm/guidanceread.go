package llm

import (
	"context"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

type directionRow struct {
	ID        string      `db:"id"`
	AccountID string      `db:"account_id"`
	Content   string      `db:"content"`
	Enabled   bool        `db:"enabled"`
	CreatedAt dbtime.Time `db:"created_at"`
	UpdatedAt dbtime.Time `db:"updated_at"`
}

type ruleRow struct {
	ID          string      `db:"id"`
	Name        string      `db:"name"`
	Description string      `db:"description"`
	Scope       Scope       `db:"scope"`
	ScopeRef    string      `db:"scope_ref"`
	Text        string      `db:"rule_text"`
	Enabled     bool        `db:"enabled"`
	CreatedAt   dbtime.Time `db:"created_at"`
	UpdatedAt   dbtime.Time `db:"updated_at"`
}

// Directions returns all directions in the order in which they were stored, disabled ones included.
func (s *GuidanceStore) Directions(ctx context.Context) ([]Direction, error) {
	return s.directions(ctx, sqlDirections)
}

func (s *GuidanceStore) directions(ctx context.Context, query string, args ...any) ([]Direction, error) {
	var rows []directionRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read directions: %w", err)
	}
	list := make([]Direction, len(rows))
	for i, r := range rows {
		list[i] = Direction{ID: r.ID, AccountID: r.AccountID, Text: r.Content, Enabled: r.Enabled, CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time}
	}
	return list, nil
}

// Rules returns all rules in the order in which they were stored, disabled ones included.
func (s *GuidanceStore) Rules(ctx context.Context) ([]ScopedRule, error) {
	return s.rules(ctx, sqlRules)
}

func (s *GuidanceStore) rules(ctx context.Context, query string, args ...any) ([]ScopedRule, error) {
	var rows []ruleRow
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	list := make([]ScopedRule, len(rows))
	for i, r := range rows {
		list[i] = ScopedRule{
			ID: r.ID, Name: r.Name, Description: r.Description, Scope: r.Scope, ScopeRef: r.ScopeRef, Text: r.Text, Enabled: r.Enabled,
			CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time,
		}
	}
	return list, nil
}

// Guidance returns the enabled directions and rules for a message: those of all mail, of its account, and of its sender and the
// sender's domain. It has no labels; the host adds them. It fits [Config].Guidance.
func (s *GuidanceStore) Guidance(ctx context.Context, msg *postroom.Message) (Guidance, error) {
	var g Guidance
	directions, err := s.directions(ctx, sqlDirectionsFor, msg.AccountID)
	if err != nil {
		return g, err
	}
	for _, d := range directions {
		g.Directions = append(g.Directions, d.Text)
	}
	sender := strings.ToLower(msg.From.Email)
	domain := sender[strings.LastIndexByte(sender, '@')+1:]
	rules, err := s.rules(ctx, sqlRulesFor, msg.AccountID, domain, sender)
	for _, r := range rules {
		g.Rules = append(g.Rules, Rule{Name: r.Name, Text: r.Text})
	}
	return g, err
}
