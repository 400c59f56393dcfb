// Package postgres opens a PostgreSQL database for the queue and its neighbours, so that any number of machines share it.
//
// Each write is a transaction of its own at READ COMMITTED. Claims skip what other transactions hold (FOR UPDATE SKIP
// LOCKED), so that two machines never get the same job and never wait for each other; jobs are enqueued and ended by one
// statement for all of a batch; new jobs wake dispatchers on all machines by LISTEN and NOTIFY, with polling as the net.
//
// The tables are found by the connection's search_path.
package postgres
