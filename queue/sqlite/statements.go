package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"

	"github.com/postroom-go/postroom/queue"
)

// maxStatements bounds the prepared statements that are kept; programs that build SQL at run time go past it.
const maxStatements = 500

// statements is a connection whose statements are prepared once. It belongs to whose turn it is to write.
//
// It does not heed the contexts it is given: a statement that is interrupted takes its whole transaction with it, which
// others share, and what is written next would commit by itself.
type statements struct {
	conn     *sqlx.Conn
	prepared map[string]*sqlx.Stmt
	within   bool // a caller's transaction
}

var _ queue.Statements = (*statements)(nil)

func newStatements(conn *sqlx.Conn) *statements {
	return &statements{conn: conn, prepared: make(map[string]*sqlx.Stmt)}
}

// prepare returns nil for what is better run directly: several statements in one text, of which SQLite would prepare the
// first alone, and what it refuses to prepare, so that the caller gets the error where it expects it.
func (s *statements) prepare(query string) *sqlx.Stmt {
	if stmt, ok := s.prepared[query]; ok {
		return stmt
	}
	if len(s.prepared) >= maxStatements || strings.Contains(query, ";") {
		return nil
	}
	stmt, err := s.conn.PreparexContext(context.Background(), query)
	if err != nil {
		return nil
	}
	s.prepared[query] = stmt
	return stmt
}

// errGone is what is told of a transaction that SQLite has rolled back by itself, as it does when the disk is full.
var errGone = errors.New("SQLite has rolled the transaction back after an error")

// gone tells whether the caller's transaction is there no more. What is written next would commit by itself.
func (s *statements) gone() (gone bool) {
	if !s.within {
		return false
	}
	err := s.conn.Raw(func(dc any) error {
		conn, ok := dc.(*sqlite3.SQLiteConn)
		gone = ok && conn.AutoCommit()
		return nil
	})
	return gone || err != nil
}

func (s *statements) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	if s.gone() {
		return nil, errGone
	}
	if stmt := s.prepare(query); stmt != nil {
		return stmt.ExecContext(context.Background(), args...)
	}
	return s.conn.ExecContext(context.Background(), query, args...)
}

func (s *statements) QueryContext(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	if s.gone() {
		return nil, errGone
	}
	if stmt := s.prepare(query); stmt != nil {
		return stmt.QueryContext(context.Background(), args...)
	}
	return s.conn.QueryContext(context.Background(), query, args...)
}

func (s *statements) QueryxContext(_ context.Context, query string, args ...any) (*sqlx.Rows, error) {
	if s.gone() {
		return nil, errGone
	}
	if stmt := s.prepare(query); stmt != nil {
		return stmt.QueryxContext(context.Background(), args...)
	}
	return s.conn.QueryxContext(context.Background(), query, args...)
}

func (s *statements) QueryRowxContext(_ context.Context, query string, args ...any) *sqlx.Row {
	if s.gone() {
		// Only a statement makes a row that carries an error: there is no such savepoint any more.
		return s.conn.QueryRowxContext(context.Background(), "RELEASE postroom_write")
	}
	if stmt := s.prepare(query); stmt != nil {
		return stmt.QueryRowxContext(context.Background(), args...)
	}
	return s.conn.QueryRowxContext(context.Background(), query, args...)
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.prepared {
		errs = append(errs, stmt.Close())
	}
	s.prepared = nil
	return errors.Join(errs...)
}
