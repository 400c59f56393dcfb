package peers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // registers DBOS's driver for SQLite
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

func dbosContenders() []contender.Contender {
	const module = "github.com/dbos-inc/dbos-transact-golang"
	open := func(connect dbosConnect, opts ...dbos.QueueOption) contender.OpenFunc {
		return func(ctx context.Context, place store.Place) (contender.Queue, error) {
			return openDBOS(ctx, place, connect, opts)
		}
	}
	tuned := []dbos.QueueOption{dbos.WithPriorityEnabled(), dbos.WithWorkerConcurrency(100),
		dbos.WithQueueBasePollingInterval(time.Millisecond)}
	const tunedSetting = "its own driver and pool; WorkerConcurrency: 100, base polling interval: 1 ms; the row by RunAsTransaction, and the end of its workflow is another commit"
	const defaultSetting = "its own driver and pool; no bound on concurrency, base polling interval: 1 s"
	return []contender.Contender{
		{Engine: "sqlite", Name: "DBOS", Module: module, Setting: tunedSetting, Groups: contender.Everything, Peer: true, Open: open(dbosSQLite, tuned...)},
		{Engine: "sqlite", Name: "DBOS, defaults", Setting: defaultSetting, Groups: contender.Starting, Open: open(dbosSQLite)},
		{Engine: "postgres", Name: "DBOS", Module: module, Setting: tunedSetting, Groups: contender.Everything, Peer: true, Open: open(dbosPostgres, tuned...)},
		{Engine: "postgres", Name: "DBOS, defaults", Setting: defaultSetting, Groups: contender.Starting, Open: open(dbosPostgres)},
	}
}

// A dbosConnect says where the tables are: DBOS's URL, and a driver, its DSN, a dialect and a table for staging.
type dbosConnect func(place store.Place) (databaseURL, driver, dsn, table string, d dialect)

func dbosSQLite(place store.Place) (databaseURL, driver, dsn, table string, d dialect) {
	uri := "file:" + place.Path + "?_pragma=synchronous(" + string(place.Durability) + ")&_pragma=busy_timeout(5000)"
	return "sqlite:" + uri, "sqlite", uri, "workflow_status", sqliteDialect
}

func dbosPostgres(place store.Place) (databaseURL, driver, dsn, table string, d dialect) {
	return place.DSN, "pgx", place.DSN, "dbos.workflow_status", postgresDialect
}

const (
	dbosApp   = "bench"
	dbosQueue = "bench"
	dbosFlow  = "bench"
	// dbosPatience is how long workflows under way may take to end.
	dbosPatience = time.Minute
)

type dbosQueueOf struct {
	url     string
	dsn     string
	client  dbos.Client
	db      *sql.DB
	dialect dialect
	table   string
	opts    []dbos.QueueOption
}

var _ contender.RowQueue = (*dbosQueueOf)(nil)

func openDBOS(ctx context.Context, place store.Place, connect dbosConnect,
	opts []dbos.QueueOption) (contender.Queue, error) {
	databaseURL, driver, dsn, table, dialect := connect(place)
	if err := migrateDBOS(ctx, databaseURL); err != nil {
		return nil, err
	}
	client, err := dbos.NewClient(ctx, dbos.ClientConfig{DatabaseURL: databaseURL, AppName: dbosApp,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, errors.Join(err, dbos.Shutdown(client, time.Minute))
	}
	return &dbosQueueOf{url: databaseURL, dsn: dsn, client: client, db: db, dialect: dialect, table: table, opts: opts},
		nil
}

// migrateDBOS makes the tables, which a client does not.
func migrateDBOS(ctx context.Context, databaseURL string) error {
	c, err := newDBOSContext(ctx, dbos.Config{DatabaseURL: databaseURL})
	if err != nil {
		return err
	}
	return errors.Join(dbos.Launch(c), dbos.Shutdown(c, time.Minute))
}

func newDBOSContext(ctx context.Context, cfg dbos.Config) (dbos.Context, error) {
	cfg.AppName, cfg.Logger = dbosApp, slog.New(slog.DiscardHandler)
	return dbos.NewContext(ctx, cfg)
}

func (d *dbosQueueOf) Enqueue(_ context.Context, p contender.Payload) error { return d.enqueue(p) }

func (d *dbosQueueOf) enqueue(p contender.Payload, opts ...dbos.EnqueueOption) error {
	_, err := dbos.Enqueue[int](d.client, dbosQueue, dbosFlow, p, opts...)
	return err
}

func (d *dbosQueueOf) EnqueueMany(context.Context, int) error { return errors.ErrUnsupported }

func (d *dbosQueueOf) Run(ctx context.Context, ran func(n int64)) error {
	return d.run(ctx, dbos.Config{DatabaseURL: d.url}, func(dbos.Context) (dbosWorkflow, error) {
		return func(_ dbos.Context, p contender.Payload) (int, error) {
			ran(p.N)
			return 0, nil
		}, nil
	})
}

// RunWriting writes the row in a transaction of DBOS's own database, which also records that the workflow did so. That
// the workflow has ended is recorded by another.
func (d *dbosQueueOf) RunWriting(ctx context.Context, ran func(n int64)) error {
	source, cfg, closeSource, err := d.dataSource(ctx)
	if err != nil {
		return err
	}
	defer closeSource()
	return d.run(ctx, cfg, func(c dbos.Context) (dbosWorkflow, error) {
		ds, err := source(c)
		return func(c dbos.Context, p contender.Payload) (int, error) {
			defer ran(p.N)
			for try := 1; ; try++ {
				// A workflow whose transaction finds the database busy has failed, unless it tries again.
				n, err := dbos.RunAsTransaction(c, ds, func(ctx context.Context, tx dbos.Tx) (int, error) {
					_, err := tx.Exec(ctx, contender.RowInsert, p.N, contender.RowText)
					return 0, err
				})
				if err == nil || try == 10 {
					return n, err
				}
			}
		}, err
	})
}

// dataSource is a pool of our own, which is DBOS's as well, so that one transaction suffices.
func (d *dbosQueueOf) dataSource(ctx context.Context) (source func(c dbos.Context) (*dbos.DataSource, error),
	cfg dbos.Config, closeSource func(), err error) {
	if d.dialect == sqliteDialect {
		db, err := sql.Open("sqlite", d.dsn)
		source = func(c dbos.Context) (*dbos.DataSource, error) { return dbos.NewDataSource(c, db) }
		return source, dbos.Config{SQLiteSystemDB: db}, func() { _ = db.Close() }, err
	}
	pool, err := pgxpool.New(ctx, store.Place{DSN: d.dsn}.Pooled())
	if err != nil {
		return nil, cfg, nil, err
	}
	source = func(c dbos.Context) (*dbos.DataSource, error) { return dbos.NewDataSource(c, pool) }
	return source, dbos.Config{SystemDBPool: pool}, pool.Close, nil
}

type dbosWorkflow func(c dbos.Context, p contender.Payload) (int, error)

func (d *dbosQueueOf) run(ctx context.Context, cfg dbos.Config,
	workflow func(c dbos.Context) (dbosWorkflow, error)) (err error) {
	c, err := newDBOSContext(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dbos.Shutdown(c, time.Minute)) }()
	fn, err := workflow(c)
	if err != nil {
		return err
	}
	dbos.RegisterWorkflow(c, dbos.Workflow[contender.Payload, int](fn), dbos.WithWorkflowName(dbosFlow))
	opts := append([]dbos.QueueOption{dbos.WithQueueOnConflict(dbos.QueueConflictAlwaysUpdate)}, d.opts...)
	if _, err := dbos.RegisterQueue(c, dbosQueue, opts...); err != nil {
		return err
	}
	if err := dbos.Launch(c); err != nil {
		return err
	}
	<-ctx.Done()
	return d.wait(context.WithoutCancel(ctx))
}

// wait lets the workflows under way be recorded as done: a shutdown would leave them to a later recovery.
func (d *dbosQueueOf) wait(ctx context.Context) error {
	query := "SELECT COUNT(*) FROM " + d.table + " WHERE status = 'PENDING' AND started_at_epoch_ms <= $1"
	now := time.Now()
	for ; time.Since(now) < dbosPatience; time.Sleep(time.Millisecond) {
		var n int
		if err := d.db.QueryRowContext(ctx, query, now.UnixMilli()).Scan(&n); err != nil || n == 0 {
			return err
		}
	}
	return fmt.Errorf("workflows were not recorded as done within %v", dbosPatience)
}

func (d *dbosQueueOf) Stage(ctx context.Context, kind contender.Kind, n int) error {
	// Lower numbers come first, and 0 before all.
	opts, status := []dbos.EnqueueOption{dbos.WithEnqueuePriority(2)}, "ENQUEUED"
	if kind == contender.Scheduled {
		opts, status = []dbos.EnqueueOption{dbos.WithEnqueuePriority(1), dbos.WithEnqueueDelay(24 * time.Hour)}, "DELAYED"
	}
	if err := d.enqueue(contender.NewPayload(1), opts...); err != nil {
		return err
	}
	if kind == contender.Finished {
		if _, err := contender.Drain(ctx, d, 1, 0); err != nil {
			return err
		}
		status = "SUCCESS"
	}
	// There is no call for many jobs.
	id := "lower(hex(randomblob(16)))"
	if d.dialect == postgresDialect {
		id = "gen_random_uuid()::text"
	}
	return clone(ctx, d.db, d.dialect, d.table, "status = '"+status+"'", n-1, map[string]string{"workflow_uuid": id})
}

func (d *dbosQueueOf) Unfinished(ctx context.Context) (int, error) {
	return d.Count(ctx, "SELECT COUNT(*) FROM "+d.table+" WHERE status IN ('ENQUEUED', 'DELAYED', 'PENDING')")
}

func (d *dbosQueueOf) Exec(ctx context.Context, statement string) error {
	_, err := d.db.ExecContext(ctx, statement)
	return err
}

func (d *dbosQueueOf) Count(ctx context.Context, query string) (n int, err error) {
	err = d.db.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (d *dbosQueueOf) Close() error {
	return errors.Join(dbos.Shutdown(d.client, time.Minute), d.db.Close())
}
