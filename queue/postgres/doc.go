// Package postgres opens a PostgreSQL database for the queue and other stores, so that any number of machines can share
// it.
//
// # Transactions
//
// Each write is a transaction of its own at READ COMMITTED. A statement of the driver whose result is not needed at
// once is delayed, and sent with the next one, at the latest with the commit: a job is enqueued in one round trip, many
// by COPY, and a batch of jobs is ended in two. A program's own statements see all earlier writes. The error of a
// delayed statement is returned by the next one. A handler's transaction sends the check of its lease with its first
// statement, or with the commit: a row and the end of the job are two round trips, the end alone is one.
//
// A write uses a connection of the pool until it ends. If writes use all of them and none ends for 30 s, other waiting
// writes, and reads of the queue or of [DB.Reader], fail with [ErrWriteBlocked].
//
// # Claims
//
// Claims do not wait for each other: each takes the first jobs that no other transaction holds (FOR UPDATE SKIP
// LOCKED), in one round trip. Where many machines claim at once, a claim also passes over the jobs that others have
// claimed since it began, without touching their rows, so that no completion waits for a claim. The driver's statements
// are planned without statistics, for the indexes they were written for: a plan that was made while the tables were
// empty stays good.
//
// If limits are set, a claim takes two round trips, and locks the shared rows: the limit keys that it examines, which
// other claims skip meanwhile, and the limited types, for which others wait. Running jobs are counted under these
// locks; the count is never stored. All claims share an advisory lock, so that a limit is set when current claims have
// ended and applies to all later ones. The transaction that ends jobs with limit keys also claims jobs that wait for
// these keys, and no others: together they take two round trips.
//
// Every other claim passes over the dead versions of the rows that have been claimed since the table was vacuumed last:
// some millions make it slow. The tables ask for vacuums early, so that autovacuum, which must be on, comes about once
// a minute. After deleting very many jobs directly with SQL, run VACUUM jobs instead of waiting for autovacuum. Claims
// that find jobs of limit keys meanwhile look for others up to a second later. VACUUM cannot clean up anything younger
// than the oldest open transaction of the database: do not leave one open for long. Doctor of package queueadmin warns
// of both.
//
// If a machine stops during a claim, the server ends the claim after 5 s. The same holds for a dispatcher's writes
// about the ends of jobs, dead workers and schedules. The program's own transactions are not ended, and only writes
// about their rows wait for them: the end of a handler that hangs within one, or the rescue of its job after its
// machine has silently disappeared, which the server notices after tcp_keepalives_idle (2 h by default).
//
// A program's own transaction may be one of any driver of database/sql, and with [Tx] one of pgx; [OpenPool] takes its
// pool. The tables are found by the search_path of its connection, unless [Config].Schema names them. NOTIFY in the
// transaction wakes the dispatchers when it commits. A transaction that waits for locks may be ended by PostgreSQL
// in favour of another, with an error that is [driver.ErrDeadlock] if the queue has begun it; the queue itself then
// retries.
//
// # Notifications
//
// New jobs wake the dispatchers of the same process when the transaction has committed, and those of others by NOTIFY
// after it, at most every 5 ms. Dispatchers also poll. Behind a pooler that gives each transaction another connection,
// set [Config].Pooled.
//
// # Roles
//
// Migrate needs a role that may create tables, and only reads where there is nothing to do. A program whose role may
// not create any, here app in the schema public, works after another role has run Migrate and, once more after a
// Migrate that has made new tables:
//
//	GRANT USAGE ON SCHEMA public TO app;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
//
// The tables are found by the connection's search_path, or in the schema of [Config]. The folder grants has what less
// than this is enough for, role by role, in files for psql: who migrates, works, only enqueues, and only reads.
package postgres
