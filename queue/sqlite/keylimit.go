package sqlite

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// keyLimits are the limits of the keys of which a claim is about to take jobs.
type keyLimits struct {
	now       time.Time
	standings map[string]*standing
	dropped   marks // keys of which more stood ready than may run
}

// within returns the places that their keys have room for. The others are put back to wait, so that the next claim does
// not find them again.
func (k *keyLimits) within(ctx context.Context, tx *queue.Tx, places []place) (ids []string, err error) {
	keys := newMarks()
	for i := range places {
		keys.add(places[i].limitKey)
	}
	if err := k.read(ctx, tx, keys.list()); err != nil {
		return nil, err
	}
	rooms := make(map[string]int, len(k.standings))
	for key, s := range k.standings {
		rooms[key], _ = s.limit.Room(s.running, s.arrival, k.now)
	}
	k.dropped = newMarks()
	var excess []string
	for i := range places {
		p := &places[i]
		if p.limitKey != "" && rooms[p.limitKey] == 0 {
			excess = append(excess, p.id)
			k.dropped.add(p.limitKey)
			continue
		}
		rooms[p.limitKey]--
		ids = append(ids, p.id)
	}
	if len(excess) > 0 {
		_, err = tx.ExecContext(ctx, putBackJobs, list(excess))
	}
	return ids, err
}

func (k *keyLimits) read(ctx context.Context, tx *queue.Tx, keys []string) error {
	list, err := keyStandings(ctx, tx, keys)
	k.standings = make(map[string]*standing, len(list))
	for _, s := range list {
		k.standings[s.name] = s
		if err == nil {
			err = s.settle(ctx, tx, k.now)
		}
	}
	return err
}

// spend takes what has been claimed off the rates, and sees to it that what waits for a rate is looked at in time. What
// waits for a running job to end is looked at then.
func (k *keyLimits) spend(ctx context.Context, tx *queue.Tx, jobs []queue.Job) error {
	started := make(map[string]int)
	for i := range jobs {
		started[jobs[i].LimitKey]++
	}
	for key, s := range k.standings {
		if err := s.spend(ctx, tx, started[key], k.now); err != nil {
			return err
		}
		_, dropped := k.dropped[key]
		_, again := s.limit.Room(s.running, s.arrival, k.now)
		if again.IsZero() || (!s.waiting && !dropped) {
			continue
		}
		if err := mark(ctx, tx, again, key); err != nil {
			return err
		}
	}
	return nil
}
