// Package sqlite opens a SQLite database for the queue and its neighbours, in a file or in memory.
//
// # One writer, many readers
//
// SQLite lets one connection write at a time. A [DB] therefore has exactly one that does, owned by one goroutine, and
// takes what concurrent callers want to write together: it begins a transaction, runs each caller's function in a
// savepoint of its own, and commits once. A caller whose function fails loses its own writes and nobody else's; all others
// are told when the commit, which they share, has reached the disk. Sixteen goroutines that enqueue one job each pay for
// one fsync and not for sixteen.
//
// Reading goes through [DB.Reader], a pool of connections that refuse to write. In a file, readers and the writer never
// wait for each other (write-ahead log).
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
