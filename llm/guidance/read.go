package guidance

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

type instructionRow struct {
	ID        string      `db:"id"`
	Name      string      `db:"name"`
	Scope     Scope       `db:"scope"`
	ScopeRef  string      `db:"scope_ref"`
	Text      string      `db:"content"`
	Forbids   string      `db:"forbids"`
	Open      bool        `db:"unauthenticated"`
	Enabled   bool        `db:"enabled"`
	Priority  int         `db:"priority"`
	CreatedAt dbtime.Time `db:"created_at"`
	UpdatedAt dbtime.Time `db:"updated_at"`
	Revision  int64       `db:"revision"`
}

func (r *instructionRow) value() (Instruction, error) {
	i := Instruction{
		ID: r.ID, Name: r.Name, Scope: r.Scope, ScopeRef: r.ScopeRef, Text: r.Text,
		Unauthenticated: r.Open, Enabled: r.Enabled, Priority: r.Priority,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, Revision: r.Revision,
	}
	if err := json.Unmarshal([]byte(r.Forbids), &i.Forbids); err != nil {
		return i, fmt.Errorf("llm/guidance: read what instruction %q forbids: %w", r.ID, err)
	}
	return i, nil
}

// Instruction returns one instruction.
func (s *Store) Instruction(ctx context.Context, id string) (Instruction, error) {
	return get(ctx, s.cfg.DB.Reader(), id)
}

func get(ctx context.Context, q dbquery.Querier, id string) (Instruction, error) {
	var row instructionRow
	err := dbquery.Get(ctx, q, &row, sqlInstruction, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Instruction{}, failed("read", id, err)
	}
	return row.value()
}

// Instructions returns all instructions in their order, disabled ones included.
func (s *Store) Instructions(ctx context.Context) ([]Instruction, error) {
	return list(ctx, s.cfg.DB.Reader(), sqlInstructions)
}

func list(ctx context.Context, q dbquery.Querier, query string, args ...any) ([]Instruction, error) {
	var rows []instructionRow
	if err := dbquery.Select(ctx, q, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("llm/guidance: read instructions: %w", err)
	}
	found := make([]Instruction, len(rows))
	for n := range rows {
		var err error
		if found[n], err = rows[n].value(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// For returns the enabled instructions about a message in their order: those about all mail, about its mailbox, and
// about its sender and the sender's domain, whether or not the sender is verified; see [Instruction].Unauthenticated.
func (s *Store) For(ctx context.Context, msg *postroom.Message) ([]Instruction, error) {
	return forMessage(ctx, s.cfg.DB.Reader(), msg)
}

func forMessage(ctx context.Context, q dbquery.Querier, msg *postroom.Message) ([]Instruction, error) {
	sender := strings.ToLower(msg.From.Email)
	domain := sender[strings.LastIndexByte(sender, '@')+1:]
	return list(ctx, q, sqlInstructionsFor, msg.AccountID, domain, sender)
}

// Forbidden returns the reason why a model must not do the action to the message; empty if no enabled instruction
// forbids it. It makes the store the Forbids of a safety.Config.
func (s *Store) Forbidden(ctx context.Context, tx queue.Tx, msg *postroom.Message,
	action postroom.ActionType) (why string, err error) {
	instructions, err := forMessage(ctx, tx, msg)
	if err != nil {
		return "", err
	}
	for n := range instructions {
		if i := &instructions[n]; slices.Contains(i.Forbids, action) {
			about := i.About()
			if i.Scope == ScopeMailbox {
				about = "mail to this mailbox"
			}
			return fmt.Sprintf("no %s for %s, by instruction %s", action, about, i.ID), nil
		}
	}
	return "", nil
}
