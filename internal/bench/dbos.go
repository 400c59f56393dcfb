package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // registers DBOS's driver for SQLite
	_ "github.com/jackc/pgx/v5/stdlib"                              // registers the driver "pgx"
)

func dbosContenders() []Contender {
	const module = "github.com/dbos-inc/dbos-transact-golang"
	open := func(connect dbosConnect, opts ...dbos.QueueOption) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openDBOS(ctx, place, connect, opts) }
	}
	tuned := []dbos.QueueOption{dbos.WithPriorityEnabled(), dbos.WithWorkerConcurrency(100), dbos.WithQueueBasePollingInterval(time.Millisecond)}
	const tunedSetting = "its own driver and pool; WorkerConcurrency: 100, base polling interval: 1 ms"
	const defaultSetting = "its own driver and pool; no bound on concurrency, base polling interval: 1 s"
	return []Contender{
		{Engine: "sqlite", Name: "DBOS", Module: module, Setting: tunedSetting, Groups: Everything, Peer: true, Open: open(dbosSQLite, tuned...)},
		{Engine: "sqlite", Name: "DBOS, defaults", Setting: defaultSetting, Groups: Starting, Open: open(dbosSQLite)},
		{Engine: "postgres", Name: "DBOS", Module: module, Setting: tunedSetting, Groups: Everything, Peer: true, Open: open(dbosPostgres, tuned...)},
		{Engine: "postgres", Name: "DBOS, defaults", Setting: defaultSetting, Groups: Starting, Open: open(dbosPostgres)},
	}
}

// A dbosConnect tells where the tables are: DBOS's URL, and a driver, its DSN, a dialect and a table for staging.
type dbosConnect func(place Place) (databaseURL, driver, dsn, table string, d dialect)

func dbosSQLite(place Place) (databaseURL, driver, dsn, table string, d dialect) {
	uri := "file:" + place.Path + "?_pragma=synchronous(" + string(place.Durability) + ")&_pragma=busy_timeout(5000)"
	return "sqlite:" + uri, "sqlite", uri, "workflow_status", sqliteDialect
}

func dbosPostgres(place Place) (databaseURL, driver, dsn, table string, d dialect) {
	return place.DSN, "pgx", place.DSN, "dbos.workflow_status", postgresDialect
}

const (
	dbosApp   = "bench"
	dbosQueue = "bench"
	dbosFlow  = "bench"
)

type dbosQueueOf struct {
	url     string
	client  dbos.Client
	db      *sql.DB
	dialect dialect
	table   string
	opts    []dbos.QueueOption
}

func openDBOS(ctx context.Context, place Place, connect dbosConnect, opts []dbos.QueueOption) (Queue, error) {
	databaseURL, driver, dsn, table, dialect := connect(place)
	client, err := dbos.NewClient(ctx, dbos.ClientConfig{DatabaseURL: databaseURL, AppName: dbosApp, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, errors.Join(err, dbos.Shutdown(client, time.Minute))
	}
	return &dbosQueueOf{url: databaseURL, client: client, db: db, dialect: dialect, table: table, opts: opts}, nil
}

func (d *dbosQueueOf) Enqueue(ctx context.Context) error { return d.enqueue(ctx) }

func (d *dbosQueueOf) enqueue(_ context.Context, opts ...dbos.EnqueueOption) error {
	_, err := dbos.Enqueue[int](d.client, dbosQueue, dbosFlow, 1, opts...)
	return err
}

func (d *dbosQueueOf) EnqueueMany(context.Context, int) error { return errors.ErrUnsupported }

func (d *dbosQueueOf) Run(ctx context.Context, ran func()) (err error) {
	c, err := dbos.NewContext(context.WithoutCancel(ctx), dbos.Config{DatabaseURL: d.url, AppName: dbosApp, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dbos.Shutdown(c, time.Minute)) }()
	dbos.RegisterWorkflow(c, func(dbos.Context, int) (int, error) {
		ran()
		return 0, nil
	}, dbos.WithWorkflowName(dbosFlow))
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
	for ; time.Since(now) < lost; time.Sleep(time.Millisecond) {
		var n int
		if err := d.db.QueryRowContext(ctx, query, now.UnixMilli()).Scan(&n); err != nil || n == 0 {
			return err
		}
	}
	return fmt.Errorf("workflows were not recorded as done within %v", lost)
}

func (d *dbosQueueOf) Stage(ctx context.Context, kind Kind, n int) error {
	// Lower numbers come first, and 0 before all.
	opts, status := []dbos.EnqueueOption{dbos.WithEnqueuePriority(2)}, "ENQUEUED"
	if kind == Scheduled {
		opts, status = []dbos.EnqueueOption{dbos.WithEnqueuePriority(1), dbos.WithEnqueueDelay(24 * time.Hour)}, "DELAYED"
	}
	if err := d.enqueue(ctx, opts...); err != nil {
		return err
	}
	if kind == Finished {
		if _, err := drain(ctx, d, 1, 0); err != nil {
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

func (d *dbosQueueOf) Unfinished(ctx context.Context) (n int, err error) {
	err = d.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+d.table+" WHERE status IN ('ENQUEUED', 'DELAYED', 'PENDING')").Scan(&n)
	return n, err
}

func (d *dbosQueueOf) Close() error {
	return errors.Join(dbos.Shutdown(d.client, time.Minute), d.db.Close())
}
