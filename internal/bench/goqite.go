package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"maragu.dev/goqite"
	"maragu.dev/goqite/jobs"
)

func goqiteContenders() []Contender {
	const module = "maragu.dev/goqite"
	open := func(opts jobs.NewRunnerOpts) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openGoqite(ctx, place, opts) }
	}
	return []Contender{
		{Engine: "sqlite", Name: "goqite", Module: module, Setting: "one connection, as its README says; Limit: 10, PollInterval: 1 ms, Timeout and Extend: 1 min",
			Groups: Everything, Peer: true, Open: open(jobs.NewRunnerOpts{Limit: 10, PollInterval: time.Millisecond, Extend: time.Minute})},
		{Engine: "sqlite", Name: "goqite, defaults", Setting: "one connection; Limit: the number of CPUs, PollInterval: 100 ms",
			Groups: Draining | Starting, Open: open(jobs.NewRunnerOpts{})},
	}
}

type goqiteQueue struct {
	db   *sql.DB
	q    *goqite.Queue
	opts jobs.NewRunnerOpts
}

func openGoqite(ctx context.Context, place Place, opts jobs.NewRunnerOpts) (Queue, error) {
	schema, err := goqiteSchema(ctx)
	if err != nil {
		return nil, err
	}
	db, err := openSQLite(place)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	q := goqite.New(goqite.NewOpts{DB: db, Name: "bench", Timeout: opts.Extend})
	opts.Queue = q
	return &goqiteQueue{db: db, q: q, opts: opts}, nil
}

// goqiteSchema reads the table from the module: goqite leaves it to its users to copy that file.
func goqiteSchema(ctx context.Context) (string, error) {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "maragu.dev/goqite").Output()
	if err != nil {
		return "", fmt.Errorf("find goqite's schema: %w; run this in its own folder, as go run . does", err)
	}
	schema, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema_sqlite.sql"))
	return string(schema), err
}

func (g *goqiteQueue) Enqueue(ctx context.Context) error {
	_, err := jobs.Create(ctx, g.q, "bench", goqite.Message{Body: []byte("1")})
	return err
}

func (g *goqiteQueue) EnqueueMany(context.Context, int) error { return errors.ErrUnsupported }

func (g *goqiteQueue) Run(ctx context.Context, ran func()) error {
	runner := jobs.NewRunner(g.opts)
	runner.Register("bench", func(context.Context, []byte) error {
		ran()
		return nil
	})
	runner.Start(ctx)
	return nil
}

// Stage knows no finished jobs: goqite deletes them.
func (g *goqiteQueue) Stage(ctx context.Context, kind Kind, n int) error {
	message := goqite.Message{Body: []byte("1")}
	switch kind {
	case Due:
	case Finished:
		return errors.ErrUnsupported
	case Scheduled:
		message.Priority, message.Delay = 10, 24*time.Hour
	}
	tx, err := g.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for range n {
		if _, err := jobs.CreateTx(ctx, tx, g.q, "bench", message); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (g *goqiteQueue) Unfinished(ctx context.Context) (n int, err error) {
	err = g.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM goqite").Scan(&n)
	return n, err
}

func (g *goqiteQueue) Close() error { return g.db.Close() }
