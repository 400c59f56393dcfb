package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

// ownedOfPool is the number of connections of a pool that [OpenDB] takes: the writer's, the checkpointer's, and one to
// look for jobs.
const ownedOfPool = 3

// OpenDB is [Open] on a pool that the program has opened with [DriverName], and closes after [DB.Close]; cfg may be
// nil. The pool's DSN is the path of the file with
//
//	_journal_mode=WAL    as the queue needs the file to be
//	_txlock=immediate    so that a transaction of the program does not fail half way for want of the lock
//	_busy_timeout=10000  so that it waits for the lock, which others have for moments
//	_foreign_keys=1      so that what belongs to a job goes with it
//
// OpenDB returns an error that names what is missing. It cannot see a shared cache: do not set cache=shared. See also
// the package documentation about a second SQLite library in the process.
//
// OpenDB keeps three of the pool's connections, configures them, and closes them with the DB. At least one must be
// left. [DB.Reader] is the pool itself: it does not refuse to write, and it binds $2 before $1 as
// SQLite does, in the order in which they first appear. [Config].Durability applies to the queue's own
// writes; a transaction of the program is as durable as the pool's _synchronous makes it. [Config].Readers must not be
// set. A database in memory is refused: it has no log, and each connection of a pool may have a separate one.
func OpenDB(ctx context.Context, pool *sql.DB, cfg *Config) (*DB, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if pool == nil {
		return nil, errors.New("sqlite: the pool is nil: give one of sql.Open, or use sqlite.Open")
	}
	if cfg != nil && cfg.Readers != 0 {
		return nil, errors.New("sqlite: Config.Readers is set, but the pool is the program's: use its SetMaxOpenConns")
	}
	if most := pool.Stats().MaxOpenConnections; most > 0 && most <= ownedOfPool {
		return nil,
			fmt.Errorf(
				"sqlite: the pool may open %d connections, and the queue takes %d for itself: set SetMaxOpenConns to %d or more",
				most, ownedOfPool, ownedOfPool+1)
	}
	from := &poolConnections{pool: sqlx.NewDb(pool, "sqlite3"), cfg: c}
	if err := from.identify(ctx); err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	file, err := newFile(from.file)
	if err != nil {
		return nil, fmt.Errorf("sqlite: open database: %w", err)
	}
	return opened(open(ctx, from, file, c))
}

// poolConnections are those of a pool of the program's.
type poolConnections struct {
	pool *sqlx.DB
	cfg  Config
	file string
}

func (p *poolConnections) name() string { return p.file }

func (p *poolConnections) readers() (*sqlx.DB, func() error, error) { return p.pool, nil, nil }

func (p *poolConnections) writer(ctx context.Context) (*connection, error) {
	conn, err := p.take(ctx, fmt.Sprint("PRAGMA busy_timeout = ", writerPatience))
	if err != nil {
		return nil, err
	}
	if err := p.takesLock(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.release())
	}
	return conn, nil
}

func (p *poolConnections) beside(ctx context.Context) (*connection, error) {
	return p.take(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d; PRAGMA query_only = 1", p.cfg.BusyTimeout.Milliseconds()))
}

// take takes a connection for good.
func (p *poolConnections) take(ctx context.Context, pragmas string) (*connection, error) {
	conn, err := connect(ctx, p.pool, p.cfg.BusyTimeout)
	if err != nil {
		return nil, err
	}
	if err := p.fits(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	taken := newConnection(conn, func() error { return discard(conn) })
	if _, err := conn.ExecContext(ctx, pragmas+"; PRAGMA synchronous = "+string(p.cfg.Durability)); err != nil {
		return nil, errors.Join(err, taken.release())
	}
	return taken, nil
}

// discard closes a connection that is not as its pool has made it any more. The pool opens another in its place.
func discard(conn *sqlx.Conn) error {
	err := conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	if errors.Is(err, sqldriver.ErrBadConn) {
		return nil
	}
	return err
}

// identify finds out which file the pool is of.
func (p *poolConnections) identify(ctx context.Context) error {
	conn, err := connect(ctx, p.pool, p.cfg.BusyTimeout)
	if err != nil {
		return err
	}
	return errors.Join(p.fits(ctx, conn), conn.Close())
}

const selectSetting = `
SELECT (SELECT journal_mode FROM pragma_journal_mode),
  (SELECT timeout FROM pragma_busy_timeout),
  (SELECT locking_mode FROM pragma_locking_mode)`

// wanted ends the errors about a DSN, so that one look at one of them mends all.
const wanted = "it needs all of ?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1"

// fits refuses a connection that is not as [OpenDB] asks for it, and notes its file.
func (p *poolConnections) fits(ctx context.Context, conn *sqlx.Conn) error {
	err := conn.Raw(func(dc any) error {
		if _, ok := libsqlite.ConnOf(dc); !ok {
			return fmt.Errorf("the pool's connections are a %T: open it with the driver of %s itself", dc, libsqlite.Path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	library, err := readLibrary(ctx, conn)
	if err != nil {
		return err
	}
	if info, err := os.Stat(library.file); err != nil || !info.Mode().IsRegular() {
		return errors.New("the pool's database is in memory, and not in a file: use sqlite.OpenMemory, or give a file")
	}
	if p.file != "" && !sameFile(p.file, library.file) {
		return fmt.Errorf("the pool's connections are of more than one file: %s and %s", p.file, library.file)
	}
	p.file = library.file
	var journal, locking string
	var patience int
	if err := conn.QueryRowContext(ctx, selectSetting).Scan(&journal, &patience, &locking); err != nil {
		return err
	}
	switch {
	case library.reads:
		return errors.New("the pool may only read: leave _query_only out of its DSN")
	case journal != "wal":
		return fmt.Errorf("the journal mode of %s is %s: add _journal_mode=WAL to the pool's DSN (%s)", p.file, journal,
			wanted)
	case locking != "normal":
		return fmt.Errorf("the pool's connections keep others out: leave _locking_mode=%s out of its DSN", locking)
	case !library.foreignKeys:
		return errors.New(
			"foreign keys are off in the pool, so that rows which belong to a job would outlive it: add _foreign_keys=1 to its DSN (" + wanted + ")")
	case patience == 0:
		return errors.New(
			"the pool's connections do not wait for the lock, which others have for moments: add _busy_timeout=10000 to its DSN (" + wanted + ")")
	}
	return nil
}

// takesLock begins a transaction of the pool and refuses one that has not taken the lock. Where another process has it,
// that cannot be seen.
func (p *poolConnections) takesLock(ctx context.Context, conn *connection) error {
	tx, err := p.pool.BeginTx(ctx, nil)
	if busy(err) {
		return nil // which shows that it takes it
	}
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	switch {
	case err == nil:
		_, err = conn.ExecContext(ctx, "ROLLBACK")
		err = errors.Join(
			errors.New("the pool's transactions do not take the lock when they begin, and would fail half way: "+
				"add _txlock=immediate to its DSN ("+wanted+")"), err)
	case busy(err):
		err = nil
	}
	return errors.Join(err, tx.Rollback())
}
