package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postroom-go/postroom/queue/driver"
)

var _ driver.HealthChecker = (*engine)(nil)

const selectHealth = `
SELECT current_setting('server_version'),
  current_setting('autovacuum') = 'on',
  pg_total_relation_size(/*q.*/'jobs'),
  COALESCE((SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = /*q.*/'jobs'::regclass), 0),
  COALESCE((SELECT n_dead_tup FROM pg_stat_user_tables WHERE relid = /*q.*/'jobs'::regclass), 0),
  COALESCE((SELECT EXTRACT(EPOCH FROM now() - MIN(xact_start)) FROM pg_stat_activity
    WHERE datname = current_database() AND state <> 'idle' AND backend_type = 'client backend' AND pid <> pg_backend_pid()), 0)::float8,
  (SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  current_setting('max_connections')::bigint`

// longTransaction is the age of a transaction that is reported: it keeps rows that were deleted since it began from
// being cleaned up.
const longTransaction = 10 * time.Minute

// CheckHealth implements [driver.HealthChecker].
func (db *engine) CheckHealth(ctx context.Context) ([]driver.Finding, error) {
	var version string
	var size, live, dead, connections, allowed int64
	var oldest float64
	var vacuums bool
	conn, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	row := conn.QueryRow(ctx, db.names.Fill(selectHealth))
	if err := row.Scan(&version, &vacuums, &size, &live, &dead, &oldest, &connections, &allowed); err != nil {
		return nil, err
	}
	jobs := db.Names().Table("jobs")
	findings := []driver.Finding{{
		Severity: driver.SeverityOK, Text: fmt.Sprintf(
			"PostgreSQL %s, jobs with its indexes %d MB, %d of %d connections in use", version, size>>20, connections, allowed),
	}}
	if !vacuums {
		findings = append(findings, driver.Finding{
			Severity: driver.SeverityWarning, Text: "autovacuum is off on this server",
			Hint: "turn it on: every claim passes over what has been claimed since the last VACUUM jobs, and takes the longer for it",
		})
	}
	if dead > 100_000 && dead > live/2 {
		findings = append(findings, driver.Finding{
			Severity: driver.SeverityWarning, Text: fmt.Sprintf("the table %s has %d dead rows beside %d live ones",
				jobs, dead, live),
			Hint: "autovacuum does not keep up, or a long transaction keeps it from it; VACUUM " + jobs,
		})
	}
	if age := time.Duration(oldest * float64(time.Second)); age > longTransaction {
		findings = append(findings, driver.Finding{
			Severity: driver.SeverityWarning, Text: fmt.Sprintf("a transaction has been open for %v",
				age.Round(time.Second)),
			Hint: "find it in pg_stat_activity and end it: dead rows cannot be cleaned up while it lasts",
		})
	}
	if connections*10 > allowed*9 {
		findings = append(findings, driver.Finding{
			Severity: driver.SeverityWarning, Text: "more than nine tenths of the connections are in use",
			Hint: "lower pool_max_conns of the programs, or put a pooler before the server",
		})
	}
	full, err := checkDisk(ctx, conn)
	return append(findings, full...), err
}

// takeSpace extends a file of the server's, which its ROLLBACK removes.
const takeSpace = `CREATE TEMPORARY TABLE postroom_space ON COMMIT DROP AS SELECT generate_series(1, 10000)`

// checkDisk finds that the server's disk is full, which it does not say until something is written.
func checkDisk(ctx context.Context, conn *pgxpool.Conn) ([]driver.Finding, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, takeSpace)
	if err := tx.Rollback(ctx); err != nil {
		return nil, err
	}
	// Not every role may make temporary tables.
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == diskFull {
		return []driver.Finding{{Severity: driver.SeverityProblem,
			Text: "the disk of the server is full: " + refused.Message, Hint: "make room on it"}}, nil
	}
	return nil, nil
}

const diskFull = "53100"
