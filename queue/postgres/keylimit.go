package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// A place is where a job is that a claim may take and has locked, and its limit key; empty without one.
type place struct{ ctid, limitKey string }

func scanPlace(row jobrow.Scanner) (p place, err error) {
	var key sql.NullString
	err = row.Scan(&p.ctid, &key)
	p.limitKey = key.String
	return p, err
}

// keyLimits are the limits of the keys of which a claim is about to take jobs.
type keyLimits struct {
	now       time.Time
	standings []standing
	rates     *arrivals
	dropped   map[string]bool // keys of which more stood ready than may run
}

// within returns the places that their keys have room for. The others are put back to wait, so that the next claim does
// not find them again.
func (k *keyLimits) within(ctx context.Context, tx *queue.Tx, places []place) (ctids []string, err error) {
	var keys marks
	for i := range places {
		keys.add(places[i].limitKey, k.now)
	}
	if len(keys.keys) > 0 {
		scan := func(row jobrow.Scanner) (standing, error) { return scanStanding(row) }
		if k.standings, err = query(ctx, tx, scan, selectStandings, keys.keys); err != nil {
			return nil, err
		}
	}
	rooms := make(map[string]int, len(k.standings))
	k.rates = newArrivals(queue.TargetKey)
	for i := range k.standings {
		s := &k.standings[i]
		k.rates.settle(s, k.now)
		rooms[s.name], _ = s.limit.Room(s.running, s.arrival, k.now)
	}
	k.dropped = make(map[string]bool)
	var excess []string
	for _, p := range places {
		if p.limitKey != "" && rooms[p.limitKey] == 0 {
			excess = append(excess, p.ctid)
			k.dropped[p.limitKey] = true
			continue
		}
		rooms[p.limitKey]--
		ctids = append(ctids, p.ctid)
	}
	if len(excess) > 0 {
		err = later(ctx, tx, putBackJobs, excess)
	}
	return ctids, err
}

// spend takes what has been claimed off the rates, and sees to it that what waits for a rate is looked at in time. What
// waits for a running job to end is looked at then.
func (k *keyLimits) spend(ctx context.Context, tx *queue.Tx, claimed []queue.Job) error {
	started := make(map[string]int)
	for i := range claimed {
		started[claimed[i].LimitKey]++
	}
	var again marks
	for i := range k.standings {
		s := &k.standings[i]
		k.rates.spend(s, started[s.name], k.now)
		if _, at := s.limit.Room(s.running, s.arrival, k.now); !at.IsZero() && (s.waiting || k.dropped[s.name]) {
			again.add(s.name, at)
		}
	}
	if err := k.rates.write(ctx, tx); err != nil {
		return err
	}
	return again.writeOnce(ctx, tx)
}
