package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3" // registers the driver "sqlite3"
	"github.com/redis/go-redis/v9"
)

const (
	postgresEnv = "POSTROOM_TEST_POSTGRES"
	redisAddr   = "127.0.0.1:6379"
	// redisDB is emptied after each measurement, so that it must be empty before.
	redisDB = 15
)

// An Engine makes stores and takes them away.
type Engine interface {
	Title() string
	// Check returns the version and the relevant settings, or an error with a hint if the engine is not available.
	Check(ctx context.Context) (about string, err error)
	Durabilities() []Durability
	// Make makes an empty place; remove takes it away.
	Make(ctx context.Context) (place Place, remove func() error, err error)
	// Settle makes the engine do its delayed work after many writes at once, so that it does not disturb other
	// measurements.
	Settle(ctx context.Context, place Place) error
}

// engines are all of them; SQLite is measured with one durability, or, when it is empty, with both.
func engines(dir string, only Durability) map[string]Engine {
	durabilities := []Durability{Normal, Full}
	if only != "" {
		durabilities = []Durability{only}
	}
	return map[string]Engine{"sqlite": sqliteEngine{dir, durabilities}, "postgres": postgresEngine{dsn: os.Getenv(postgresEnv)}, "redis": redisEngine{}}
}

type sqliteEngine struct {
	dir          string
	durabilities []Durability
}

func (sqliteEngine) Title() string                { return "SQLite" }
func (e sqliteEngine) Durabilities() []Durability { return e.durabilities }

func (sqliteEngine) Check(ctx context.Context) (string, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return "", err
	}
	defer db.Close()
	var version string
	err = db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version)
	return "SQLite " + version + " with a write-ahead log", err
}

func (e sqliteEngine) Make(context.Context) (Place, func() error, error) {
	dir, err := os.MkdirTemp(e.dir, "postroom-bench-")
	if err != nil {
		return Place{}, nil, fmt.Errorf("%w; name a folder that can be written to with -dir", err)
	}
	return Place{Path: filepath.Join(dir, "queue.db")}, func() error { return os.RemoveAll(dir) }, nil
}

// Settle does nothing: SQLite has no delayed work.
func (sqliteEngine) Settle(context.Context, Place) error { return nil }

// openSQLite opens a file as the documents of all contenders on mattn/go-sqlite3 advise: a write-ahead log and
// patience.
func openSQLite(place Place) (*sql.DB, error) {
	options := url.Values{"_journal_mode": {"WAL"}, "_synchronous": {string(place.Durability)}, "_busy_timeout": {"5000"}, "_foreign_keys": {"1"}}
	return sql.Open("sqlite3", "file:"+place.Path+"?"+options.Encode())
}

type postgresEngine struct{ dsn string }

func (postgresEngine) Title() string              { return "PostgreSQL" }
func (postgresEngine) Durabilities() []Durability { return []Durability{Full} }

func (e postgresEngine) Check(ctx context.Context) (string, error) {
	if e.dsn == "" {
		return "", errors.New("set " + postgresEnv + " to the URL of a PostgreSQL server whose user may create databases, as " +
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
		return "", fmt.Errorf("the server that %s names must answer: %w; start it, or leave PostgreSQL out with -only '^(sqlite|redis)/'", postgresEnv, err)
	}
	version, _, _ = strings.Cut(version, " ")
	return fmt.Sprintf("PostgreSQL %s, synchronous_commit=%s, fsync=%s, autovacuum=%s", version, commit, fsync, autovacuum), nil
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

// pooled is the DSN for a pool that has a connection for each of the goroutines that enqueue, or as many as the place
// allows.
func (p Place) pooled() string {
	separator := "?"
	if strings.Contains(p.DSN, "?") {
		separator = "&"
	}
	return fmt.Sprintf("%s%spool_max_conns=%d", p.DSN, separator, cmp.Or(p.Connections, 20))
}

type redisEngine struct{}

func (redisEngine) Title() string              { return "Redis" }
func (redisEngine) Durabilities() []Durability { return []Durability{Full} }

func openRedis() *redis.Client { return redis.NewClient(&redis.Options{Addr: redisAddr, DB: redisDB}) }

func (redisEngine) Check(ctx context.Context) (string, error) {
	client := openRedis()
	defer client.Close()
	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return "", fmt.Errorf("a Redis server must answer at %s: %w; start one, or leave Redis out with -only '^(sqlite|postgres)/'", redisAddr, err)
	}
	if n, err := client.DBSize(ctx).Result(); err != nil || n > 0 {
		return "", errors.Join(err, fmt.Errorf("database %d of the Redis server at %s holds %d keys, and would be emptied; empty it yourself", redisDB, redisAddr, n))
	}
	appendonly := client.ConfigGet(ctx, "append*").Val()
	about := "Redis " + info["Server"]["redis_version"] + ", appendonly " + appendonly["appendonly"]
	if appendonly["appendonly"] == "yes" {
		about += " (appendfsync " + appendonly["appendfsync"] + ")"
	}
	return about, nil
}

func (redisEngine) Make(context.Context) (Place, func() error, error) {
	remove := func() error {
		client := openRedis()
		return errors.Join(client.FlushDB(context.Background()).Err(), client.Close())
	}
	return Place{}, remove, nil
}

func (redisEngine) Settle(context.Context, Place) error { return nil }
