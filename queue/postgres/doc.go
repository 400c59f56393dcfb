// Package postgres opens a PostgreSQL database for the queue and its neighbours, so that any number of machines share it.
//
// # Transactions
//
// Each write is a transaction of its own at READ COMMITTED. What the driver wants to write waits where its answer is not
// needed at once, and is sent with what comes next, in the end with the commit: a job is enqueued in one round trip, many
// by COPY, and a batch of jobs is ended in two. A program's own statements find everything that came before them written.
// An error of a statement that waits is that of whatever comes after it.
//
// # Claims
//
// Claims of one queue come one after the other (an advisory lock that ends with the transaction), so that each finds the
// first jobs there are and no two count the same room under a limit. A claim is one round trip. Rows that a program's own
// transaction holds are passed over (FOR UPDATE SKIP LOCKED). The driver's statements are planned without regard to
// statistics, by the indexes they were written for: a plan that was made while the tables were empty holds when they are
// not.
//
// PostgreSQL keeps the dead versions of rows as long as any transaction of the database is older than they are. One that
// stays open for hours makes every claim pass over what has been claimed since.
//
// # News
//
// New jobs wake the dispatchers of the same process when the transaction has committed, those of others by NOTIFY after
// it, at most every 5 ms; polling is the net. Behind a pooler that gives each transaction another connection, set
// [Config].Pooled.
//
// The tables are found by the connection's search_path.
package postgres
