package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/adopted"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

// shared has the methods that are the same on every engine.
type shared = jobsql.Store

// An engine is the driver of a [DB]: one writer and a pool of readers.
type engine struct {
	shared

	reader       *sqlx.DB
	closeReader  func() error // nil where the pool is the program's
	writer       *writer
	candidates   candidateReader
	checkpointer *checkpointer // nil in memory
	wakers       wakers
	clock        joblimit.Clock
	steady       *steadyClock
	file         *file // nil in memory
	watched      bool
	own          library
	seen         adopted.Seen
	counts       atomic.Bool // the triggers that count ends are there
	names        *naming.Filler
}

var (
	_ driver.Driver = (*engine)(nil)
	_ driver.Namer  = (*engine)(nil)
)

func open(ctx context.Context, from connections, file *file, cfg Config) (_ *engine, err error) {
	db := &engine{file: file, watched: file != nil && !cfg.SingleProcess, steady: newSteadyClock(thisMachine()),
		names: naming.New(driver.Names{Prefix: cfg.TablePrefix})}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("sqlite: open %s: %w", from.name(), err), db.close())
		}
	}()
	if db.writer, err = openWriter(ctx, from, file, cfg.BusyTimeout, db.names, db.Now, db.wakers.wake); err != nil {
		return nil, err
	}
	db.candidates.names = db.names
	if err := db.openReaders(ctx, from); err != nil {
		return nil, err
	}
	db.shared = shared{Engine: driver.SQLite, Query: db.query, MarkKeys: markKeys, OpenKeys: openKeys,
		CancelJobs: db.CancelJobs, RetryJob: db.Retry, CountEnds: db.countEnds, KeyIsOpen: keyIsOpen,
		SelectUnfound: selectUnfound}
	return db, db.check(ctx)
}

// openReaders makes the connections besides the writer's. In memory there is no log to copy, and nothing can be read
// while the writer writes.
func (db *engine) openReaders(ctx context.Context, from connections) (err error) {
	if db.reader, db.closeReader, err = from.readers(); err != nil || db.file == nil {
		return err
	}
	if db.candidates.conn, err = from.beside(ctx); err != nil {
		return err
	}
	conn, err := from.beside(ctx)
	if err == nil {
		db.checkpointer = startCheckpointer(conn, db.writer)
	}
	return err
}

// oldest is the first version of SQLite in which a write-ahead log that is reset while another process writes cannot be
// corrupted.
var oldest = [3]int{3, 51, 3}

func (db *engine) check(ctx context.Context) error {
	var version string
	if err := db.reader.GetContext(ctx, &version, "SELECT sqlite_version()"); err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	var err error
	db.own, err = readLibrary(ctx, db.reader)
	return err
}

func checkVersion(version string) error {
	var v [3]int
	for i, part := range strings.SplitN(version, ".", 3) {
		v[i], _ = strconv.Atoi(part)
	}
	for i := range v {
		if v[i] > oldest[i] {
			return nil
		}
		if v[i] < oldest[i] {
			return fmt.Errorf(
				"SQLite %s can corrupt a write-ahead log; 3.51.3 or newer is needed (build without the tag libsqlite3)", version)
		}
	}
	return nil
}

func (db *engine) close() error {
	var err error
	if db.checkpointer != nil {
		err = db.checkpointer.close()
	}
	if db.writer != nil {
		err = errors.Join(err, db.writer.close())
	}
	err = errors.Join(err, db.candidates.close())
	if db.closeReader != nil {
		err = errors.Join(err, db.closeReader())
	}
	return err
}

// Dialect implements [driver.DB].
func (db *engine) Dialect() driver.Dialect { return driver.SQLite }

// Names implements [driver.Namer].
func (db *engine) Names() driver.Names { return db.names.Names() }

// Reader implements [driver.DB].
func (db *engine) Reader() *sqlx.DB { return db.reader }

// Write implements [driver.DB]. It groups the writes of concurrent callers into one commit.
func (db *engine) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	if fn == nil {
		return driver.ErrNilFunc
	}
	return db.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return fn(ctx, tx) })
}

func (db *engine) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	return db.writer.write(ctx, fn)
}

// errReadInside: in memory a reader would deadlock with the write.
var errReadInside = fmt.Errorf("%w: a database in memory cannot be read inside one either, except by the transaction",
	driver.ErrNestedWrite)

// query runs a statement on the readers.
func (db *engine) query(ctx context.Context, query string, args ...any) (jobsql.Rows, error) {
	if ctx == nil {
		return nil, driver.ErrNilContext
	}
	if db.file == nil && db.InWrite(ctx) {
		return nil, errReadInside
	}
	query = db.names.Fill(query)
	if db.closeReader == nil { // the engine's own readers do it
		query = numbered(query)
	}
	return db.reader.QueryContext(ctx, query, args...)
}
