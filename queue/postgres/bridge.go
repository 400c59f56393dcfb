package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// A bridge is a connection of database/sql that queries a transaction of pgx, since only a driver can make *sql.Rows.
// It is opened for one query, and needs no closing.
type bridge struct{ pgxTx }

var (
	_ sqldriver.Connector         = bridge{}
	_ sqldriver.QueryerContext    = bridge{}
	_ sqldriver.NamedValueChecker = bridge{}
)

var errBridge = errors.New("postgres: a transaction of pgx is prepared, begun and ended by pgx alone")

func (b bridge) Connect(context.Context) (sqldriver.Conn, error) { return b, nil }
func (b bridge) Driver() sqldriver.Driver                        { return nil }
func (b bridge) Prepare(string) (sqldriver.Stmt, error)          { return nil, errBridge }
func (b bridge) Begin() (sqldriver.Tx, error)                    { return nil, errBridge }
func (b bridge) Close() error                                    { return nil }

// CheckNamedValue leaves the arguments to pgx, which knows more types than database/sql.
func (b bridge) CheckNamedValue(*sqldriver.NamedValue) error { return nil }

// valueFormats asks for text of what has no better representation in database/sql.
var valueFormats = pgx.QueryResultFormatsByOID{
	pgtype.BoolOID: pgx.BinaryFormatCode, pgtype.ByteaOID: pgx.BinaryFormatCode,
	pgtype.Int2OID: pgx.BinaryFormatCode, pgtype.Int4OID: pgx.BinaryFormatCode, pgtype.Int8OID: pgx.BinaryFormatCode,
	pgtype.Float4OID: pgx.BinaryFormatCode, pgtype.Float8OID: pgx.BinaryFormatCode,
	pgtype.DateOID: pgx.BinaryFormatCode, pgtype.TimestampOID: pgx.BinaryFormatCode,
	pgtype.TimestamptzOID: pgx.BinaryFormatCode,
}

func (b bridge) QueryContext(ctx context.Context, query string, named []sqldriver.NamedValue) (sqldriver.Rows, error) {
	args := make([]any, 0, len(named)+1)
	args = append(args, valueFormats)
	for _, arg := range named {
		args = append(args, arg.Value)
	}
	if err := b.ended(); err != nil {
		return nil, err
	}
	answer, err := b.tx.Query(ctx, b.names.Fill(query), args...)
	if err != nil {
		return nil, finished(err)
	}
	// The columns are known when the first row is.
	more := answer.Next()
	if err := answer.Err(); err != nil {
		answer.Close()
		return nil, err
	}
	return &bridgedRows{rows: answer, types: b.tx.Conn().TypeMap(), ahead: true, more: more}, nil
}

type bridgedRows struct {
	rows        pgx.Rows
	types       *pgtype.Map
	ahead, more bool // the first row has been asked for, and is there
}

func (r *bridgedRows) Columns() []string {
	fields := r.rows.FieldDescriptions()
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return names
}

func (r *bridgedRows) Close() error {
	r.rows.Close()
	return r.rows.Err()
}

func (r *bridgedRows) Next(dest []sqldriver.Value) (err error) {
	if r.ahead {
		r.ahead = false
	} else {
		r.more = r.rows.Next()
	}
	if !r.more {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	fields := r.rows.FieldDescriptions()
	for i, raw := range r.rows.RawValues() {
		if dest[i], err = r.value(fields[i], raw); err != nil {
			return err
		}
	}
	return nil
}

func (r *bridgedRows) value(field pgconn.FieldDescription, raw []byte) (sqldriver.Value, error) {
	if raw == nil {
		return nil, nil
	}
	if field.Format == pgx.TextFormatCode {
		return string(raw), nil
	}
	known, ok := r.types.TypeForOID(field.DataTypeOID)
	if !ok {
		return append([]byte(nil), raw...), nil
	}
	return known.Codec.DecodeDatabaseSQLValue(r.types, field.DataTypeOID, field.Format, raw)
}
