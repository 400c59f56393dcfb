package gmailapi

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The statements of a sharedBudget, for PostgreSQL only. The clock is that of the server, read after the account's
// row is locked.
const (
	sqlLockQuota = `
INSERT INTO quota_accounts (account_id, arrival, closed_until)
VALUES ($1, clock_timestamp(), clock_timestamp())
ON CONFLICT (account_id) DO UPDATE SET arrival = quota_accounts.arrival`

	sqlQuotaAccount = `
SELECT (EXTRACT(EPOCH FROM arrival - clock_timestamp()) * 1000000)::BIGINT AS ahead,
  (EXTRACT(EPOCH FROM closed_until - clock_timestamp()) * 1000000)::BIGINT AS closed
FROM quota_accounts
WHERE account_id = $1`

	sqlForgetQuota = `DELETE FROM quota_leases WHERE account_id = $1 AND free_at <= clock_timestamp()`

	sqlQuotaLeases = `
SELECT units, holder, (EXTRACT(EPOCH FROM free_at - clock_timestamp()) * 1000000)::BIGINT AS remaining,
  (EXTRACT(EPOCH FROM clock_timestamp() - taken_at) * 1000000)::BIGINT AS age
FROM quota_leases
WHERE account_id = $1
ORDER BY free_at`

	sqlLowerQuota = `UPDATE quota_leases SET units = $1 WHERE id = $2`

	sqlSettleQuota = `
UPDATE quota_leases
SET units = $1, free_at = LEAST(free_at, clock_timestamp() + $2 * INTERVAL '1 microsecond')
WHERE id = $3`

	sqlTakeQuota = `
INSERT INTO quota_leases (id, account_id, holder, units, taken_at, free_at)
VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp() + $5 * INTERVAL '1 microsecond')`

	sqlMoveArrival = `
UPDATE quota_accounts
SET arrival = GREATEST(arrival, clock_timestamp()) + $1 * INTERVAL '1 microsecond'
WHERE account_id = $2`

	sqlCloseQuota = `
UPDATE quota_accounts
SET closed_until = GREATEST(closed_until, clock_timestamp() + $1 * INTERVAL '1 microsecond')
WHERE account_id = $2`
)

// A quotaState is the state that a process reads before it leases.
type quotaState struct {
	ahead   time.Duration // how far the pace is ahead of now
	closed  time.Duration // how long Gmail still wants no calls
	holders int
	leases  []leaseRow // those that count, by when they end to
}

type leaseRow struct {
	Units     int    `db:"units"`
	Holder    string `db:"holder"`
	Remaining int64  `db:"remaining"` // microseconds
	Age       int64  `db:"age"`       // microseconds
}

func (r leaseRow) left() time.Duration { return time.Duration(r.Remaining) * time.Microsecond }

// counted is the sum of the units.
func (s quotaState) counted() (units int) {
	for _, l := range s.leases {
		units += l.Units
	}
	return units
}

// lock locks the account's row until the transaction ends.
func (s *sharedBudget) lock(ctx context.Context, tx queue.Tx) error {
	err := execQuota(ctx, tx, "quota of account "+s.account, sqlLockQuota, s.account)
	return err
}

// read settles this process's leases and reads the state.
func (s *sharedBudget) read(ctx context.Context, tx queue.Tx, settled []settlement) (state quotaState, err error) {
	if err := s.lock(ctx, tx); err != nil {
		return state, err
	}
	for _, l := range settled {
		if l.over {
			err = execQuota(ctx, tx, "settle quota", sqlSettleQuota, l.spent, l.counts.Microseconds(), l.id)
		} else {
			err = execQuota(ctx, tx, "settle quota", sqlLowerQuota, l.spent, l.id)
		}
		if err != nil {
			return state, err
		}
	}
	if err := execQuota(ctx, tx, "forget quota", sqlForgetQuota, s.account); err != nil {
		return state, err
	}
	var row struct {
		Ahead  int64 `db:"ahead"`
		Closed int64 `db:"closed"`
	}
	if err := dbquery.Get(ctx, tx, &row, sqlQuotaAccount, s.account); err != nil {
		return state, fmt.Errorf("gmail: quota of account %s: %w", s.account, err)
	}
	if err := dbquery.Select(ctx, tx, &state.leases, sqlQuotaLeases, s.account); err != nil {
		return state, fmt.Errorf("gmail: quota leases: %w", err)
	}
	state.ahead = max(0, time.Duration(row.Ahead)*time.Microsecond)
	state.closed = max(0, time.Duration(row.Closed)*time.Microsecond)
	state.holders = s.count(state.leases)
	return state, nil
}

// count is how many processes lease at present, this one included.
func (s *sharedBudget) count(leases []leaseRow) int {
	holders := map[string]bool{s.holder: true}
	for _, l := range leases {
		if time.Duration(l.Age)*time.Microsecond < 5*s.leaseTime() {
			holders[l.Holder] = true
		}
	}
	return len(holders)
}

// insert records a lease. Until it is settled it counts for as long as its calls may take, and a minute more.
func (s *sharedBudget) insert(ctx context.Context, tx queue.Tx, id string, units int) error {
	counts := s.leaseTime() + s.timeout + s.minute
	if err := execQuota(ctx, tx, "lease quota", sqlTakeQuota, id, s.account, s.holder, units,
		counts.Microseconds()); err != nil {
		return err
	}
	ahead := s.minute / time.Duration(s.limit) * time.Duration(units)
	err := execQuota(ctx, tx, "lease quota", sqlMoveArrival, ahead.Microseconds(), s.account)
	return err
}

// execQuota runs a statement; what is its name in errors.
func execQuota(ctx context.Context, tx queue.Tx, what, statement string, args ...any) error {
	if _, err := dbquery.Exec(ctx, tx, statement, args...); err != nil {
		return fmt.Errorf("gmail: %s: %w", what, err)
	}
	return nil
}
