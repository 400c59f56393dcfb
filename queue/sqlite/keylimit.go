package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// keyLimits are the limit keys that a claim examines: the marked ones, and those whose jobs it may take.
type keyLimits struct {
	*joblimit.Usages

	marked marks
	lanes  []*lane // that it has read, and all of keys that were marked
	shut   int     // how many of them have no capacity
}

func newKeyLimits(now time.Time) *keyLimits {
	return &keyLimits{Usages: joblimit.NewUsages(driver.TargetKey, now), marked: newMarks()}
}

// admit examines marked keys, and reports whether some may remain. The more jobs are requested, the more keys it examines; the
// next claim examines the rest. Of a key with capacity, every waiting type becomes a lane.
func (k *keyLimits) admit(ctx context.Context, tx *driver.WriteTx, wanted int) (more bool, err error) {
	for n := 4 + wanted/4; k.Len()+len(k.lanes) < 40+4*wanted; {
		taken, err := takeMarks(ctx, tx, k.Now(), n)
		if err != nil {
			return false, err
		}
		if err := k.admitSome(ctx, tx, taken); err != nil || len(taken) < n {
			return false, err
		}
	}
	return true, nil
}

func (k *keyLimits) admitSome(ctx context.Context, tx *driver.WriteTx, taken marks) error {
	if err := k.read(ctx, tx, taken); err != nil {
		return err
	}
	var open []string
	for key := range taken {
		k.marked.add(key)
		if k.Of(key).Left() > 0 {
			open = append(open, key)
		}
	}
	if len(open) == 0 {
		return nil
	}
	rows, err := tx.QueryContext(ctx, selectWaitingTypes, list(open))
	lanes, err := jobsql.Collect(rows, err, func(row jobsql.Scanner) (*lane, error) {
		l := &lane{kind: laneWaiting}
		err := row.Scan(&l.limitKey, &l.typeName)
		l.bounds.Key = &k.Of(l.limitKey).Capacity
		return l, err
	})
	k.lanes = append(k.lanes, lanes...)
	return err
}

// read reads the state of keys that have not been examined.
func (k *keyLimits) read(ctx context.Context, tx *driver.WriteTx, keys marks) error {
	var names []string
	for key := range keys {
		if k.Of(key) == nil {
			names = append(names, key)
		}
	}
	if len(names) == 0 {
		return nil
	}
	usages, err := readUsages(ctx, tx, selectKeys, list(names))
	if err != nil {
		return err
	}
	for _, s := range usages {
		if k.Add(s).Left() == 0 {
			k.shut++
		}
	}
	for _, key := range names {
		if k.Of(key) == nil {
			return fmt.Errorf("sqlite: the limit key %q is not found again", key)
		}
	}
	return nil
}

// enter examines the keys of waiting lanes that are about to be read.
func (k *keyLimits) enter(ctx context.Context, tx *driver.WriteTx, lanes []*lane) error {
	keys := newMarks()
	for _, l := range lanes {
		keys.add(l.limitKey)
	}
	if err := k.read(ctx, tx, keys); err != nil {
		return err
	}
	for _, l := range lanes {
		if l.bounds.Key == nil {
			l.bounds.Key = &k.Of(l.limitKey).Capacity
			k.lanes = append(k.lanes, l)
		}
	}
	return nil
}

// spend subtracts the claimed jobs from the limits, and ensures that keys that wait for a rate are examined in time. Keys that
// wait for the end of a job are examined then.
func (k *keyLimits) spend(ctx context.Context, tx *driver.WriteTx, jobs []driver.Job) error {
	for i := range jobs {
		k.Start(jobs[i].LimitKey, 1)
	}
	if err := writeArrivals(ctx, tx, k.Usages); err != nil {
		return err
	}
	var later jsonRows
	for s := range k.All {
		if again := k.Again(s); !again.IsZero() {
			later.begin()
			later.time(again)
			later.text(s.Name)
		}
	}
	if later.empty() {
		return nil
	}
	_, err := tx.ExecContext(ctx, markLater, later.end())
	return err
}

// keys returns the examined keys.
func (k *keyLimits) keys() marks {
	keys := newMarks()
	for s := range k.All {
		keys.add(s.Name)
	}
	return keys
}
