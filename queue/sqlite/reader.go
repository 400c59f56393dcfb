package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// A readerConn is a connection of [DB.Reader]. Its statements bind $1, $2, … by their numbers, as those of transactions
// do.
type readerConn struct{ *sqlite3.SQLiteConn }

var (
	_ sqldriver.QueryerContext     = readerConn{}
	_ sqldriver.ExecerContext      = readerConn{}
	_ sqldriver.ConnPrepareContext = readerConn{}
)

func (c readerConn) QueryContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Rows, error) {
	if err := single(query); err != nil {
		return nil, err
	}
	return c.SQLiteConn.QueryContext(ctx, numbered(query), args)
}

func (c readerConn) ExecContext(
	ctx context.Context, query string, args []sqldriver.NamedValue,
) (sqldriver.Result, error) {
	if err := single(query); err != nil {
		return nil, err
	}
	return c.SQLiteConn.ExecContext(ctx, numbered(query), args)
}

func (c readerConn) PrepareContext(ctx context.Context, query string) (sqldriver.Stmt, error) {
	if err := single(query); err != nil {
		return nil, err
	}
	return c.SQLiteConn.PrepareContext(ctx, numbered(query))
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
	return readerConn{own}, nil
}
