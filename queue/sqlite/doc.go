// Package sqlite opens a SQLite database for the queue and other stores, in a file or in memory.
//
// # One writer, many readers
//
// SQLite lets one connection write at a time. A [DB] therefore has exactly one writing connection, and one goroutine at
// a time groups the writes of concurrent callers: it begins a transaction, runs each caller's function in a savepoint
// of its own, and commits once. A caller whose function fails loses only its own writes. All others return
// when the shared commit has reached the disk. Sixteen goroutines that enqueue one job each pay for one fsync and not
// for sixteen.
//
// Reading goes through [DB.Reader], a pool of connections that refuse to write, unless it is the program's own. In a
// file, readers and the writer never wait for each other (write-ahead log).
//
// Every transaction begins IMMEDIATE, so that it cannot fail half way because of the lock. Once begun it is not
// interrupted by a context: a caller's deadline applies while it waits, not while it writes.
//
// A function that has returned waits for those that share its commit: one that takes a mutex must not wait for a caller
// that holds the mutex while its own Write is under way. Take the mutex first, then call Write, everywhere.
//
// Jobs that are enqueued singly, without a key or a limit key, share one INSERT with those of all callers that wait at
// that moment. While nobody writes, the caller itself is that goroutine.
//
// A process may have many small files open, such as one for each tenant, each with a queue and a dispatcher:
// docs/benchmarks.md says what they cost. [Config].Readers may be 1 then, and SingleProcess saves the watch of each.
//
// # Write-ahead log
//
// The log is copied back into the file when it has 16 MB, on a separate connection and concurrently with the writer.
// The writer copies only the last pages, in a few milliseconds, and begins the log anew.
//
// A reader that never ends, such as a transaction that nobody closes, keeps the log from being copied back: it grows,
// and writing continues. A health check reports a log that has become large. When the reader has ended, the log is
// copied back while writing continues, and its file is cut by 128 MB at a time until it has 64 MB.
//
// # Damaged files
//
// If a database file or log is removed, truncated or replaced while it is open, writes return [ErrFileReplaced], and a
// health check reports it. A file that is overwritten in place, page by page, is not recognized by that; a health check
// finds the damage.
//
// If a disk is full or read-only, writes fail with an error that names the cause; nothing of such a transaction is
// written. Dispatchers retry, and continue when there is room.
//
// # Clock
//
// The clock of the machine decides which jobs are due. If it is set by ten minutes or more while the database is open,
// the queue continues by the monotonic clock for five minutes, and accepts the change if it persists: a mistake that is
// corrected within that time fires no schedule and expires no job. Dispatchers log it. On Linux the queue knows how
// long the machine has slept, and accepts that at once. Leases do not depend on a clock that can be set.
//
// # Transactions of the program's own
//
// A program may begin transactions on its own pool to the same file and pass them to methods such as
// queue.Queue.EnqueueTx. While such a transaction has written, nobody else can write, including the queue's own
// writer: keep it short. The pool must be opened with [DriverName] and the options that [OpenDB] lists.
// OpenDB uses the pool for everything that the queue does:
//
//	pool, err := sql.Open(sqlite.DriverName, path+"?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1")
//	…
//	db, err := sqlite.OpenDB(ctx, pool, nil)
//
// A pool used together with a database of [Open] needs the same options. A transaction of another file, of another
// SQLite library, without foreign keys, or a read-only one is refused. Whether transactions begin IMMEDIATE and wait
// for the lock cannot be seen from within a transaction; only OpenDB checks it. Do not open the file with a second
// SQLite library in the same process: closing a file releases the locks of both, and removes the log's shared memory
// while the other uses it.
//
// The dispatchers find jobs of such a transaction within milliseconds by watching the log, or, with
// [Config].SingleProcess, by polling.
//
// # With and without cgo
//
// With cgo, SQLite is compiled in as C (github.com/mattn/go-sqlite3). With CGO_ENABLED=0 it is the same C code
// translated to Go (modernc.org/sqlite), which needs no C compiler, for any system that Go builds for, and takes about
// half as much processor time again for each statement, a fifth more for a job. All promises hold with both, and a file
// is the same to both. A program that imports github.com/mattn/go-sqlite3 itself needs cgo.
//
// # Durability
//
// When a write returns with [Full], the default, it is on the disk. With [Normal] it survives a crash of the process,
// but not a power failure. See [Durability].
//
// # Several processes
//
// Any number of processes on one machine may open the same file. Each has its own writer; SQLite's lock arbitrates, and
// [Config.BusyTimeout] bounds the wait. New jobs wake the dispatchers of the process that enqueued them at once, those
// of others within milliseconds.
package sqlite
