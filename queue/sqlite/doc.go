// Package sqlite opens a SQLite database for the queue and its neighbours, in a file or in memory.
//
// # One writer, many readers
//
// SQLite lets one connection write at a time. A [DB] therefore has exactly one that does, owned by one goroutine, and
// takes what concurrent callers want to write together: it begins a transaction, runs each caller's function in a
// savepoint of its own, and commits once. A caller whose function fails loses its own writes and nobody else's; all others
// return when the commit, which they share, has reached the disk. Sixteen goroutines that enqueue one job each pay for
// one fsync and not for sixteen.
//
// Reading goes through [DB.Reader], a pool of connections that refuse to write, unless it is the program's own. In a file,
// readers and the writer never wait for each other (write-ahead log).
//
// Every transaction begins IMMEDIATE, so that it cannot fail half way for want of the lock. Once begun it is not
// interrupted by a context: a caller's deadline is honoured while it waits, not while it writes.
//
// A job that is enqueued by itself, without a key or a limit key, is a row of a statement that inserts the jobs of all
// callers that wait at that moment.
//
// # The write-ahead log
//
// The log is copied back into the file when it has 16 MB, on a connection of its own and beside the writer. The writer copies
// only the last pages, in a few milliseconds, and begins the log anew.
//
// A reader that never ends, such as a transaction that nobody closes, keeps the log from being copied back: it grows, and
// writing goes on. A health check reports a log that has become large. When the reader has ended, the log is copied back
// while writing goes on, and its file is cut by 128 MB at a time until it has 64 MB.
//
// # When something is wrong with the file
//
// A database file or log that is removed, truncated or replaced while it is open takes no more jobs: writes return
// [ErrFileReplaced], and a health check reports it. A file that is overwritten in place, page by page, is not recognized by
// that; a health check finds the damage.
//
// A disk that is full, or may only be read, fails writes with an error that says so; nothing of such a transaction is
// written. Dispatchers try again and go on when there is room.
//
// # The clock
//
// The clock of the machine decides what is due. When it is set by ten minutes or more while the database is open, the queue goes
// on by the monotonic clock for five minutes, and believes it if it still stands then: a slip that is put right within that time
// has fired no schedule and expired no job. Dispatchers log it. The time for which a machine has slept is known on Linux, and
// believed at once. Leases depend on no clock that can be set.
//
// # Transactions of the program's own
//
// A program may begin transactions on a pool of its own to the same file and give them to [queue.Queue.EnqueueTx] and its like.
// While one has written, nobody else writes, the queue's own writer included: keep it short. Its pool is opened with
// github.com/mattn/go-sqlite3 and the options that [OpenDB] lists, which takes the pool for all that the queue does:
//
//	pool, err := sql.Open("sqlite3", path+"?_journal_mode=WAL&_txlock=immediate&_busy_timeout=10000&_foreign_keys=1")
//	…
//	db, err := sqlite.OpenDB(ctx, pool, nil)
//
// A pool beside a database of [Open] needs the same options. A transaction of another file, of another SQLite library, without
// foreign keys, or one that may only read is refused. That the transaction begins IMMEDIATE and waits cannot be seen from
// within; only OpenDB finds it out. Do not open the file with a second SQLite library in the same process, such as
// modernc.org/sqlite: closing a file gives up the locks of both, and the shared memory of the log goes away under one of them.
//
// The dispatchers find jobs of such a transaction within milliseconds, by the watch of the log; with
// [Config].SingleProcess they find them by polling.
//
// # What is promised when a write returns
//
// With [Full], the default, it is on the disk. With [Normal] it survives the death of the process, not the loss of power.
// See [Durability].
//
// # Several processes
//
// Any number of processes on one machine may open the same file. Each has its own writer; SQLite's lock arbitrates, and
// [Config.BusyTimeout] bounds the wait. New jobs wake the dispatchers of the process that enqueued them at once, those of
// others within milliseconds.
package sqlite
