package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A head is the first of the jobs that wait for a limit key, of one type. It is stored as long as the key has capacity,
// so that claims find in order the jobs that they may take of thousands of keys. It is only a hint: claims read the
// jobs themselves, and count the running jobs for the capacity.

// moving are the lanes whose heads must be stored again: those of marked keys with capacity, or those that do not begin
// at their head.
func (k *keyLimits) moving() (lanes []*lane) {
	for _, l := range k.lanes {
		if _, marked := k.marked[l.limitKey]; l.bounds.Key.Left() > 0 && (marked || l.moved()) {
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// moved reports whether a lane that has been read does not begin at its head.
func (l *lane) moved() bool {
	if l.read == 0 {
		return l.all
	}
	return l.taken > 0 || l.ready[0].id != l.head.id
}

// moveHeads stores the new heads of the lanes after the taken jobs have started. Lanes of keys without capacity, and
// lanes without jobs, have none.
func (m *merge) moveHeads(ctx context.Context) error {
	lanes := m.keys.moving()
	if err := m.readFirst(ctx, lanes); err != nil {
		return err
	}
	var shut, open []string
	for s := range m.keys.All {
		if s.Left() == 0 {
			shut = append(shut, s.Name)
		} else if _, marked := m.keys.marked[s.Name]; marked {
			open = append(open, s.Name)
		}
	}
	var spent, moved jsonRows
	for _, l := range lanes {
		if len(l.ready) == 0 {
			spent.pair(l.limitKey, l.typeName)
			continue
		}
		first := &l.ready[0]
		moved.pair(l.limitKey, l.typeName)
		moved.int(first.priority)
		moved.text(first.notBefore)
		moved.text(first.id)
	}
	m.open = !moved.empty()
	for _, step := range []struct{ statement, rows string }{
		{deleteHeadsOfKeys, list(shut)}, {deleteOldHeads, list(open)}, {deleteHeads, spent.end()},
		{setHeads, moved.end()},
	} {
		if step.rows == "[]" || !m.heads && step.statement != setHeads {
			continue
		}
		if _, err := m.tx.ExecContext(ctx, step.statement, step.rows); err != nil {
			return err
		}
	}
	return nil
}

// addHeads makes jobs that now wait for the keys heads if they come before the stored ones.
func addHeads(ctx context.Context, tx *driver.WriteTx, jobs []*driver.InsertJob, keys marks) error {
	var rows jsonRows
	for _, job := range jobs {
		if _, ok := keys[job.LimitKey]; !ok ||
			jobsql.NewHold(job, tx.Now()) != driver.HoldLimited {
			continue
		}
		rows.pair(job.LimitKey, job.Type)
		rows.int(job.Priority)
		rows.time(tx.Now())
		rows.text(job.ID)
	}
	if rows.empty() {
		return nil
	}
	_, err := tx.ExecContext(ctx, betterHeads, rows.end())
	return err
}

// readFirst reads the first place of the lanes whose first place is unknown.
func (m *merge) readFirst(ctx context.Context, lanes []*lane) error {
	var unknown []*lane
	for _, l := range lanes {
		if len(l.ready) == 0 && !l.all {
			l.taken = 0 // and started: it is there no more
			unknown = append(unknown, l)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return m.readLanes(ctx, laneWaiting, unknown, 1)
}
