package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue"
)

// maxStatements bounds the prepared statements that are kept; programs that build SQL at run time go past it.
const maxStatements = 500

// statements is a connection whose statements are prepared once. It belongs to the writer's goroutine.
type statements struct {
	conn     *sqlx.Conn
	prepared map[string]*sqlx.Stmt
}

var _ queue.Statements = (*statements)(nil)

func newStatements(conn *sqlx.Conn) *statements {
	return &statements{conn: conn, prepared: make(map[string]*sqlx.Stmt)}
}

// prepare returns nil for what is better run directly: several statements in one text, of which SQLite would prepare the
// first alone, and what it refuses to prepare, so that the caller gets the error where it expects it.
func (s *statements) prepare(ctx context.Context, query string) *sqlx.Stmt {
	if stmt, ok := s.prepared[query]; ok {
		return stmt
	}
	if len(s.prepared) >= maxStatements || strings.Contains(query, ";") {
		return nil
	}
	stmt, err := s.conn.PreparexContext(ctx, query)
	if err != nil {
		return nil
	}
	s.prepared[query] = stmt
	return stmt
}

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := s.prepare(ctx, query); stmt != nil {
		return stmt.ExecContext(ctx, args...)
	}
	return s.conn.ExecContext(ctx, query, args...)
}

func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := s.prepare(ctx, query); stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return s.conn.QueryContext(ctx, query, args...)
}

func (s *statements) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	if stmt := s.prepare(ctx, query); stmt != nil {
		return stmt.QueryxContext(ctx, args...)
	}
	return s.conn.QueryxContext(ctx, query, args...)
}

func (s *statements) QueryRowxContext(ctx context.Context, query string, args ...any) *sqlx.Row {
	if stmt := s.prepare(ctx, query); stmt != nil {
		return stmt.QueryRowxContext(ctx, args...)
	}
	return s.conn.QueryRowxContext(ctx, query, args...)
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	s.prepared = nil
	return errors.Join(errs...)
}
