// Package postgres opens a PostgreSQL database for the queue and its neighbours, so that any number of machines share it.
//
// # Transactions
//
// Each write is a transaction of its own at READ COMMITTED. What the driver wants to write waits where its answer is not
// needed at once, and is sent with what comes next, in the end with the commit: a job is enqueued in one round trip, many
// by COPY, and a batch of jobs is ended in two. A program's own statements find everything that came before them written.
// An error of a statement that waits is that of whatever comes after it. A handler's transaction sends the check of its lease
// with its first statement, or with the commit: a row and the end of the job are two round trips, the end alone is one.
//
// A write has a connection of the pool until it ends. When writes have all of them and none ends for 30 s, another write or a
// read of the queue, such as [queue.Queue.Job], that waits for one fails with [ErrWriteBlocked].
//
// # Claims
//
// Claims do not wait for each other: each takes the first jobs that no other transaction holds (FOR UPDATE SKIP LOCKED), in
// one round trip. Where many machines claim at once, a claim also passes over the jobs that others have claimed since it began,
// without touching their rows. The driver's statements are planned without regard to statistics, by the indexes they were
// written for: a plan that was made while the tables were empty holds when they are not.
//
// Where limits are set, a claim takes two round trips, and locks what it shares with others: the limit keys that it looks at,
// which others pass over meanwhile, and the types that are limited, for which others wait. What runs is counted under these
// locks, and never stored. All claims share an advisory lock, so that a limit is set when those under way have ended and is
// seen by all that come later. The transaction that ends jobs with limit keys also claims what waits for these keys, and looks for
// nothing else: together they take two round trips.
//
// Every other claim passes over the dead versions of the rows that have been claimed since the table was vacuumed last: some
// millions make it slow. The tables ask for vacuums early, so that autovacuum, which must be on, comes about once a minute.
// After a DELETE of very many jobs, past the queue, VACUUM jobs rather than wait for it. Claims that find jobs of limit keys
// meanwhile look for others up to a second later.
// It can clean up nothing that is younger than the oldest open transaction of the database: let none stay open for long.
// Doctor of package queueadmin warns of both.
//
// A claim that stands still half way, with its machine, is ended by the server after 5 s, and so is what a dispatcher writes
// about the ends of jobs, dead workers and schedules. The program's own transactions are not, and nothing waits for them but
// what concerns their rows: the end of a handler that hangs within one, or the rescue of its job from a machine that is gone
// without a word, which comes when the server has noticed (tcp_keepalives_idle, 2 h where nobody has set it).
//
// A program's own transaction may be one of any driver of database/sql, and with [Tx] one of pgx; [OpenPool] takes its pool. The
// tables are found by the search_path of its connection. NOTIFY in the transaction wakes the dispatchers when it commits. A
// transaction that waits for locks may be ended by PostgreSQL in favour of another, with an error that is [driver.ErrDeadlock]
// where the queue has begun it; the queue itself tries again then.
//
// # News
//
// New jobs wake the dispatchers of the same process when the transaction has committed, those of others by NOTIFY after
// it, at most every 5 ms; polling is the net. Behind a pooler that gives each transaction another connection, set
// [Config].Pooled.
//
// The tables are found by the connection's search_path.
package postgres
