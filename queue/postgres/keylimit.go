package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A place is where a job is that a claim may take and has locked.
type place struct {
	ctid, jobType string
	limitKey      string    // empty without one
	key           *standing // of its limit key, beside one job of each
}

func scanPlace(row jobsql.Scanner) (p place, err error) {
	var limitKey sql.NullString
	var r standingRow
	err = row.Scan(append([]any{&p.ctid, &p.jobType, &limitKey}, r.dest()...)...)
	p.limitKey = limitKey.String
	if r.name.Valid {
		s := r.standing()
		p.key = &s
	}
	return p, err
}

// keyLimits are the limits of the keys of which a claim is about to take jobs.
type keyLimits struct {
	now       time.Time
	standings map[string]*standing
	rates     *arrivals
	dropped   map[string]bool // keys of which more stood ready than may run
}

func newKeyLimits(places []place, now time.Time) *keyLimits {
	k := &keyLimits{
		now: now, standings: make(map[string]*standing), rates: newArrivals(driver.TargetKey), dropped: make(map[string]bool),
	}
	for i := range places {
		if s := places[i].key; s != nil {
			k.standings[s.name] = s
			k.rates.settle(s, now)
		}
	}
	return k
}

// within returns the places that their keys have room for. The others are put back to wait, so that the next claim does
// not find them again.
func (k *keyLimits) within(ctx context.Context, tx *driver.WriteTx, places []place) (fitting []place, err error) {
	rooms := make(map[string]int, len(k.standings))
	for name, s := range k.standings {
		rooms[name], _ = s.limit.Room(s.running, s.arrival, k.now)
	}
	var excess []string
	for _, p := range places {
		if p.limitKey != "" && rooms[p.limitKey] == 0 {
			excess = append(excess, p.ctid)
			k.dropped[p.limitKey] = true
			continue
		}
		rooms[p.limitKey]--
		fitting = append(fitting, p)
	}
	if len(excess) > 0 {
		err = later(ctx, tx, putBackJobs, excess)
	}
	return fitting, err
}

// spend takes what is claimed off the rates, and sees to it that what waits for a rate is looked at in time. What waits for
// a running job to end is looked at then.
func (k *keyLimits) spend(ctx context.Context, tx *driver.WriteTx, claimed []place, again *marks) error {
	for i := range claimed {
		if s := k.standings[claimed[i].limitKey]; s != nil {
			k.rates.spend(s, 1, k.now)
		}
	}
	for _, s := range k.standings {
		if _, at := s.limit.Room(s.running, s.arrival, k.now); !at.IsZero() && (s.waiting || k.dropped[s.name]) {
			again.add(s.name, at)
		}
	}
	return k.rates.write(ctx, tx)
}
