package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const postgresEnv = "POSTROOM_TEST_POSTGRES"

type postgresEngine struct{ dsn string }

func (postgresEngine) Title() string              { return "PostgreSQL" }
func (postgresEngine) Durabilities() []Durability { return []Durability{Full} }

func (e postgresEngine) Check(ctx context.Context) (string, error) {
	if e.dsn == "" {
		return "", errors.New("set " + postgresEnv +
			" to the URL of a PostgreSQL server whose user may create databases, as " +
			"postgres://root@127.0.0.1:5432/test, or leave PostgreSQL out with -only '^(sqlite|redis)/'")
	}
	if _, err := url.Parse(e.dsn); err != nil {
		return "", fmt.Errorf("%s must be a URL: %w", postgresEnv, err)
	}
	var version, commit, fsync, autovacuum string
	err := e.do(ctx, e.dsn, func(conn *pgx.Conn) error {
		const query = "SELECT current_setting('server_version'), current_setting('synchronous_commit'), current_setting('fsync'), current_setting('autovacuum')"
		return conn.QueryRow(ctx, query).Scan(&version, &commit, &fsync, &autovacuum)
	})
	if err != nil {
		return "",
			fmt.Errorf(
				"the server that %s names must answer: %w; start it, or leave PostgreSQL out with -only '^(sqlite|redis)/'",
				postgresEnv, err)
	}
	version, _, _ = strings.Cut(version, " ")
	return fmt.Sprintf("PostgreSQL %s, synchronous_commit=%s, fsync=%s, autovacuum=%s", version, commit, fsync,
		autovacuum), nil
}

// Make makes a database, not a schema, because some contenders name their schema themselves.
func (e postgresEngine) Make(ctx context.Context) (Place, func() error, error) {
	name := "postroom_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	run := func(ctx context.Context, statement string) error {
		return e.do(ctx, e.dsn, func(conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, statement)
			return err
		})
	}
	if err := run(ctx, "CREATE DATABASE "+name); err != nil {
		return Place{}, nil, err
	}
	dsn, err := url.Parse(e.dsn)
	if err != nil {
		return Place{}, nil, err
	}
	dsn.Path = "/" + name
	remove := func() error { return run(context.WithoutCancel(ctx), "DROP DATABASE "+name+" WITH (FORCE)") }
	return Place{DSN: dsn.String()}, remove, nil
}

func (e postgresEngine) Settle(ctx context.Context, place Place) error {
	return e.do(ctx, place.DSN, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "CHECKPOINT")
		return err
	})
}

func (postgresEngine) do(ctx context.Context, dsn string, fn func(conn *pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close(ctx))
}

// WithConnections is the engine itself if its server allows as many connections, or a server of our own; stop stops it.
func (e postgresEngine) WithConnections(ctx context.Context, dir string, n int) (_ Engine, stop func() error,
	err error) {
	var allowed string
	err = e.do(ctx, e.dsn, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SHOW max_connections").Scan(&allowed)
	})
	if err != nil {
		return nil, nil, err
	}
	if has, err := strconv.Atoi(allowed); err != nil || has >= n {
		return e, func() error { return nil }, err
	}
	c, err := startCluster(ctx, dir, n)
	if err != nil {
		return nil, nil, fmt.Errorf(
			"max_connections must be %d, and the server that %s names has %s; start one of our own: %w", n, postgresEnv, allowed, err)
	}
	return postgresEngine{dsn: c.dsn()}, func() error { return c.stop(ctx) }, nil
}
