package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// A readerConn is a connection of [DB.Reader]. Its statements bind $1, $2, … by their numbers, as those of transactions
// do.
type readerConn struct {
	*sqlite3.SQLiteConn

	texts map[string]string // by what they were: to read one again takes as long as to run a short statement
}

var (
	_ sqldriver.QueryerContext     = readerConn{}
	_ sqldriver.ExecerContext      = readerConn{}
	_ sqldriver.ConnPrepareContext = readerConn{}
)

func (c readerConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	text, err := c.numbered(query)
	if err != nil {
		return nil, err
	}
	return c.SQLiteConn.QueryContext(ctx, text, args)
}

func (c readerConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	text, err := c.numbered(query)
	if err != nil {
		return nil, err
	}
	return c.SQLiteConn.ExecContext(ctx, text, args)
}

func (c readerConn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	text, err := c.numbered(query)
	if err != nil {
		return nil, err
	}
	return c.SQLiteConn.PrepareContext(ctx, text)
}

func (c readerConn) numbered(query string) (string, error) {
	if text, ok := c.texts[query]; ok {
		return text, nil
	}
	if err := single(query); err != nil {
		return "", err
	}
	text := numbered(query)
	if len(c.texts) < keptStatements {
		c.texts[query] = text
	}
	return text, nil
}

// readerConnector opens connections of a DSN.
type readerConnector string

func (r readerConnector) Driver() sqldriver.Driver { return &sqlite3.SQLiteDriver{} }

func (r readerConnector) Connect(context.Context) (sqldriver.Conn, error) {
	conn, err := r.Driver().Open(string(r))
	if err != nil {
		return nil, err
	}
	own, ok := conn.(*sqlite3.SQLiteConn)
	if !ok {
		return nil, fmt.Errorf("the connection is a %T", conn)
	}
	return readerConn{own, make(map[string]string)}, nil
}
