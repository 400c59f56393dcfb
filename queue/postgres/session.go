package postgres

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	// begin does not inherit an isolation in which transactions fail for others, nor that nothing may be written.
	begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

	// The settings of a session that the driver relies on, whatever the server, the database or the role have. The last
	// are not known to every version of the server.
	pinSession = `
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
SET DateStyle = 'ISO';
SET TimeZone = 'UTC';
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SELECT set_config(name, '0', FALSE)
FROM pg_settings
WHERE name IN ('idle_session_timeout', 'transaction_timeout')`

	// connectTimeout is how long a server may take to accept a connection, unless the DSN says so.
	connectTimeout = 10 * time.Second
	// userTimeout is how long what was sent may stay unacknowledged by the peer's machine, whoever has sent it.
	userTimeout = 25 * time.Second
	// answerTimeout is how long the server may take to answer statements of the driver's own, unless the caller waits
	// longer. The connection is then closed: it may have gone silent.
	answerTimeout = 30 * time.Second
)

// pin prepares the connections of a pool that is the driver's own: they lead to a server that can write, notice when
// that is gone, and have the settings of pinSession, which a pooler would give to others.
func pin(options *pgxpool.Config, pooled bool) {
	conn := options.ConnConfig
	if conn.ValidateConnect == nil {
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	if options.PingTimeout == 0 { // of a connection that was idle
		options.PingTimeout = connectTimeout / 2
	}
	dialer := &net.Dialer{Control: setUserTimeout, KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}
	conn.DialFunc = dialer.DialContext
	if !pooled {
		options.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, pinSession)
			return err
		}
	}
}

// readsOnly reports whether the session could not write, as after a failover. On a standby server a transaction that
// wants to write does not even begin.
func readsOnly(err error) bool {
	const readOnly, notSupported = "25006", "0A000"
	e := (*pgconn.PgError)(nil)
	return errors.As(err, &e) && (e.Code == readOnly || e.Code == notSupported &&
		e.Routine == "check_transaction_read_only")
}

// exec runs a statement outside of transactions.
func (db *engine) exec(ctx context.Context, text string, args ...any) error {
	conn, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	_, err = conn.Exec(ctx, db.names.Fill(text), args...)
	if readsOnly(err) {
		_ = conn.Conn().Close(ctx) // the pool replaces it
	}
	return err
}

// answered returns a context for statements, which ends when the server does not answer within patience, or by the
// caller's deadline where that is later. Those of the program, and the commit of what they have changed, may take as
// long as they want.
func (db *engine) answered(ctx context.Context, steps []step) (context.Context, context.CancelFunc) {
	if slices.ContainsFunc(steps, func(s step) bool { return s.lasts }) {
		return ctx, func() {}
	}
	until := time.Now().Add(db.patience)
	if deadline, ok := driver.Deadline(ctx); ok && deadline.After(until) {
		until = deadline
	}
	return context.WithDeadline(ctx, until)
}
