package peers

import (
	"cmp"
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

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

func goqiteContenders() []contender.Contender {
	const module = "maragu.dev/goqite"
	open := func(opts jobs.NewRunnerOpts) contender.OpenFunc {
		return func(ctx context.Context, place store.Place) (contender.Queue, error) {
			return openGoqite(ctx, place, opts)
		}
	}
	tuned := jobs.NewRunnerOpts{Limit: 100, PollInterval: time.Millisecond, Extend: time.Minute}
	machine := func(ctx context.Context, place store.Place, workers int) (contender.Queue, error) {
		opts := tuned
		opts.Limit = cmp.Or(workers, opts.Limit)
		return openGoqite(ctx, place, opts)
	}
	return []contender.Contender{
		{Engine: "sqlite", Name: "goqite", Module: module,
			Setting: "one connection, as its README says; Limit: 100, PollInterval: 1 ms, Timeout and Extend: 1 min; the row and the end of its job are two commits",
			Groups:  contender.Everything, Peer: true, Open: open(tuned), OpenMachine: machine},
		{Engine: "sqlite", Name: "goqite, defaults",
			Setting: "one connection; Limit: the number of CPUs, PollInterval: 100 ms",
			Groups:  contender.Draining | contender.Starting, Open: open(jobs.NewRunnerOpts{})},
	}
}

type goqiteQueue struct {
	db   *sql.DB
	q    *goqite.Queue
	opts jobs.NewRunnerOpts
}

var _ contender.RowQueue = (*goqiteQueue)(nil)

func openGoqite(ctx context.Context, place store.Place, opts jobs.NewRunnerOpts) (contender.Queue, error) {
	schema, err := goqiteSchema(ctx)
	if err != nil {
		return nil, err
	}
	db, err := store.OpenSQLite(place)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := os.Stat(place.Path); errors.Is(err, os.ErrNotExist) {
		if _, err := db.ExecContext(ctx, schema); err != nil {
			return nil, errors.Join(err, db.Close())
		}
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

func (g *goqiteQueue) Enqueue(ctx context.Context, p contender.Payload) error {
	_, err := jobs.Create(ctx, g.q, "bench", goqite.Message{Body: p.JSON()})
	return err
}

func (g *goqiteQueue) EnqueueMany(context.Context, int) error { return errors.ErrUnsupported }

func (g *goqiteQueue) Run(ctx context.Context, ran func(n int64)) error {
	return g.run(ctx, func(_ context.Context, p contender.Payload) error {
		ran(p.N)
		return nil
	})
}

// RunWriting commits the row before the runner deletes the message: a handler does not get the arguments of DeleteTx.
func (g *goqiteQueue) RunWriting(ctx context.Context, ran func(n int64)) error {
	return g.run(ctx, func(ctx context.Context, p contender.Payload) error {
		defer ran(p.N)
		_, err := g.db.ExecContext(context.WithoutCancel(ctx), contender.RowInsert, p.N, contender.RowText)
		return err
	})
}

func (g *goqiteQueue) run(ctx context.Context, handle func(ctx context.Context, p contender.Payload) error) error {
	runner := jobs.NewRunner(g.opts)
	runner.Register("bench", func(ctx context.Context, body []byte) error {
		p, err := contender.DecodePayload(body)
		if err != nil {
			return err
		}
		return handle(ctx, p)
	})
	runner.Start(ctx)
	return nil
}

// Stage knows no finished jobs: goqite deletes them.
func (g *goqiteQueue) Stage(ctx context.Context, kind contender.Kind, n int) error {
	message := goqite.Message{Body: contender.NewPayload(1).JSON()}
	switch kind {
	case contender.Due:
	case contender.Finished:
		return errors.ErrUnsupported
	case contender.Scheduled:
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

func (g *goqiteQueue) Unfinished(ctx context.Context) (int, error) {
	return g.Count(ctx, "SELECT COUNT(*) FROM goqite")
}

func (g *goqiteQueue) Exec(ctx context.Context, statement string) error {
	_, err := g.db.ExecContext(ctx, statement)
	return err
}

func (g *goqiteQueue) Count(ctx context.Context, query string) (n int, err error) {
	err = g.db.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (g *goqiteQueue) Close() error { return g.db.Close() }
