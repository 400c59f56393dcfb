package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A change is something that a transaction does, and what the model has to say to it.
type change struct {
	in func(m *model) (any, error)
	on func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error)
}

var errUndone = errors.New("undone")

// write makes the changes in one transaction. The first that fails undoes all.
func (f *follower) write(t *rapid.T, undone bool, changes ...change) {
	all := func(do func(change) (any, error)) (answers []any, err error) {
		for _, c := range changes {
			answer, err := do(c)
			if err != nil {
				return nil, err
			}
			answers = append(answers, answer)
		}
		if undone {
			return nil, errUndone
		}
		return answers, nil
	}
	next := f.model.clone()
	want, wantErr := all(func(c change) (any, error) { return c.in(next) })
	if wantErr == nil {
		f.model = next
	} else {
		f.model.ids = next.ids
	}
	f.each(t, want, wantErr, func(q *queue.Queue) (answers any, err error) {
		err = q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			answers, err = all(func(c change) (any, error) { return c.on(ctx, q, tx) })
			return err
		})
		return answers, err
	})
}

// changes are how each change is drawn.
func (f *follower) changes() map[string]func(*rapid.T) change {
	return map[string]func(*rapid.T) change{
		"enqueue": f.enqueue, "enqueue many": f.enqueueMany, "complete": f.complete, "fail": f.fail, "end": f.end,
		"cancel": f.cancel,
		"retry":  f.retry, "step": f.step, "limit": f.limit, "pause": f.pause, "prune": f.prune,
	}
}

func (f *follower) transaction(t *rapid.T) {
	draw := f.changes()
	names := rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(draw))), 2, 4).Draw(t, "changes")
	var changes []change
	for _, name := range names {
		changes = append(changes, draw[name](t))
	}
	f.write(t, rapid.IntRange(0, 3).Draw(t, "undone") == 3, changes...)
}

var (
	modelKeys = map[string]queue.Key{
		"a": queue.Coalesce("a"), "b": queue.WhileUnfinished("b"), "c": queue.ForPeriod("c", time.Hour),
		"d": queue.Forever("d"), "e": queue.Forever("e"), "f": queue.Forever("f"),
	}
	modelLimitKeys = []string{"k1", "k2", "m"}
	modelRate      = queue.Limit{Rate: 2, Per: 10 * time.Second, Burst: 2}
)

func (f *follower) enqueue(t *rapid.T) change { return changeEnqueued(f.newJob(t)) }

func (f *follower) enqueueMany(t *rapid.T) change {
	// From 50 on PostgreSQL copies, and SQLite needs several statements.
	batch := make([]queue.NewJob, rapid.SampledFrom([]int{2, 3, 4, 12, 55}).Draw(t, "jobs"))
	for i := range batch {
		batch[i] = f.newJob(t)
	}
	return changeEnqueued(batch...)
}

func changeEnqueued(batch ...queue.NewJob) change {
	return change{
		func(m *model) (any, error) { return m.enqueue(batch) },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			results, err := q.EnqueueManyTx(ctx, tx, batch)
			for i := range results {
				if results[i].Difference != "" {
					results[i].Difference = "some"
				}
			}
			return results, err
		},
	}
}

func (f *follower) newJob(t *rapid.T) queue.NewJob {
	job := queue.NewJob{Type: rapid.SampledFrom([]string{"ping", "ping", "ping", "pong"}).Draw(t, "type"),
		Payload: 1}
	job.Priority = rapid.IntRange(0, 2).Draw(t, "priority")
	job.MaxAttempts = rapid.SampledFrom([]int{2, 0, 1}).Draw(t, "max attempts")
	if in := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, time.Hour, -time.Minute}).Draw(t,
		"due in"); in != 0 {
		job.NotBefore = f.model.now.Add(in)
	}
	if in := rapid.SampledFrom([]time.Duration{0, 0, 0, 0, 90 * time.Minute, time.Hour, time.Minute,
		-time.Second}).Draw(t, "expires in"); in != 0 {
		if job.ExpiresAt = f.model.now.Add(in); job.ExpiresAt.Before(job.NotBefore) {
			job.ExpiresAt = job.NotBefore
		}
	}
	names := append(slices.Sorted(maps.Keys(modelKeys)), "a", "a") // which are free most of the time
	switch rapid.SampledFrom([]string{"limit key", "key", "none", "both", "key", "mixed"}).Draw(t, "keys") {
	case "limit key":
		job.LimitKey = rapid.SampledFrom(modelLimitKeys).Draw(t, "limit key")
	case "both":
		job.Key = queue.WhileUnfinished("b")
		job.LimitKey = rapid.SampledFrom(modelLimitKeys).Draw(t, "limit key")
	case "key":
		job.Key = modelKeys[rapid.SampledFrom(names).Draw(t, "key")]
	case "mixed":
		// Some use one name with several scopes.
		job.Key = modelKeys[rapid.SampledFrom(names).Draw(t, "key")]
		job.Key.Name = rapid.SampledFrom(names).Draw(t, "name")
	}
	switch unlike := rapid.IntRange(0, 19).Draw(t, "unlike"); {
	case unlike == 19:
		job.Payload = 2
	case unlike == 18, unlike > 9 && job.Key.Name == "":
		job.Type = "pong"
	}
	if rapid.IntRange(0, 3).Draw(t, "owned") == 3 {
		job.UserID, job.Tags = "ada", []string{"a", "b"}
	}
	return job
}

func (f *follower) complete(t *rapid.T) change {
	claimed := f.lease(t)
	lease := claimed.Lease()
	var result any
	if rapid.Bool().Draw(t, "with a result") {
		result = map[string]int{"n": lease.Attempt}
	}
	return change{
		func(m *model) (any, error) {
			out := driver.Outcome{Lease: lease, State: queue.StateCompleted, Kind: queue.KindCompleted}
			if result != nil {
				out.Result = json.RawMessage(`{"n":` + strconv.Itoa(lease.Attempt) + `}`)
			}
			return nil, m.finish(out)
		},
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			a := queue.AttemptOf(q, claimed)
			if result != nil {
				a.SetResult(result)
			}
			return nil, a.CompleteTx(ctx, tx)
		},
	}
}

func (f *follower) fail(t *rapid.T) change {
	claimed := f.lease(t)
	kind := rapid.SampledFrom(slices.Sorted(maps.Keys(failures))).Draw(t, "kind")
	return change{
		func(m *model) (any, error) { return nil, m.fail(&claimed, kind) },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			return nil, queue.AttemptOf(q, claimed).FailTx(ctx, tx, failures[kind])
		},
	}
}

// end writes several ends of attempts at once, as dispatchers do. Each is answered for itself.
func (f *follower) end(t *rapid.T) change {
	var ends []driver.Outcome
	for range rapid.IntRange(1, 4).Draw(t, "ends") {
		job := f.lease(t)
		if slices.ContainsFunc(ends, func(out driver.Outcome) bool { return out.Lease == job.Lease() }) {
			continue
		}
		out := driver.Outcome{Lease: job.Lease(), Kind: rapid.SampledFrom([]string{
			queue.KindCompleted, queue.KindFailed, driver.KindReleased, queue.KindInterrupted, queue.KindCrashed,
		}).Draw(t, "kind")}
		switch out.State = queue.StateQueued; out.Kind {
		case queue.KindCompleted:
			out.State = queue.StateCompleted
			out.Plain = job.LimitKey == "" && job.Key.Scope != driver.KeyUnfinished &&
				job.Key.Scope != driver.KeyCoalesce
		case driver.KindReleased:
		default:
			out.Error, out.NotBefore = "ended",
				f.model.now.Add(rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "again in"))
		}
		ends = append(ends, out)
	}
	return changeEnds(ends)
}

func changeEnds(ends []driver.Outcome) change {
	return change{
		func(m *model) (any, error) { return m.finishAll(ends), nil },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			for i := range ends {
				ends[i].At = queue.Now(tx)
			}
			return q.DB().Driver().Finish(ctx, tx.(*driver.WriteTx), ends)
		},
	}
}

func (f *follower) cancel(t *rapid.T) change {
	id := f.id(t)
	return change{
		func(m *model) (any, error) { return nil, m.cancel(id) },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			return nil, q.CancelTx(ctx, tx, id)
		},
	}
}

func (f *follower) retry(t *rapid.T) change {
	id := f.id(t)
	return change{
		func(m *model) (any, error) { return nil, m.retry(id) },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			return nil, q.RetryTx(ctx, tx, id)
		},
	}
}

func (f *follower) step(t *rapid.T) change {
	claimed := f.lease(t)
	lease := claimed.Lease()
	name := rapid.SampledFrom([]string{"first", "first", "second"}).Draw(t, "name")
	does := rapid.SliceOfN(rapid.SampledFrom([]string{"start", "save cursor", "finish"}), 1, 3).Draw(t, "does")
	value := json.RawMessage(strconv.Itoa(rapid.IntRange(1, 9).Draw(t, "value")))
	all := func(step func(does string) error) (any, error) {
		for _, d := range does {
			if err := step(d); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return change{
		func(m *model) (any, error) {
			return all(func(does string) error { return m.step(lease, name, does, value) })
		},
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			return all(func(does string) error {
				switch d := q.DB().Driver(); does {
				case "start":
					return d.StartStep(ctx, tx.(*driver.WriteTx), lease, name)
				case "save cursor":
					return d.SaveCursor(ctx, tx.(*driver.WriteTx), lease, name, value)
				default:
					return d.FinishStep(ctx, tx.(*driver.WriteTx), lease,
						driver.StepRecord{Name: name, StartedAt: queue.Now(tx), Result: value})
				}
			})
		},
	}
}

func (f *follower) limit(t *rapid.T) change {
	of := rapid.SampledFrom([]queue.Target{
		queue.ForType("ping"), queue.ForType("pong"), queue.ForKey("k1"), queue.ForKey("m"), queue.ForKeyPrefix("k"),
		queue.ForKeyPrefix("k1"),
	}).Draw(t, "of")
	var limit queue.Limit
	kind := rapid.SampledFrom([]string{"running", "rate", "both", "lift", "lift"}).Draw(t, "kind")
	if kind == "lift" {
		return change{
			func(m *model) (any, error) { m.setLimit(of, limit); return nil, nil },
			func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
				return nil, q.RemoveLimitTx(ctx, tx, of)
			},
		}
	}
	if kind != "running" {
		limit = modelRate
	}
	if kind != "rate" {
		limit.MaxRunning = rapid.IntRange(1, 2).Draw(t, "running")
	}
	return change{
		func(m *model) (any, error) { m.setLimit(of, limit); return nil, nil },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			return nil, q.SetLimitTx(ctx, tx, of, limit)
		},
	}
}

// pause pauses something, or resumes what is paused: nothing runs meanwhile.
func (f *follower) pause(t *rapid.T) change {
	for _, of := range []queue.Target{queue.ForAll(), queue.ForType("ping"), queue.ForKeyPrefix("k"),
		queue.ForKey("k1")} {
		if f.model.limits[of].Paused || rapid.IntRange(0, 3).Draw(t, of.Name) == 3 {
			return changePaused(of, !f.model.limits[of].Paused)
		}
	}
	return changePaused(queue.ForAll(), false)
}

func changePaused(of queue.Target, paused bool) change {
	return change{
		func(m *model) (any, error) { m.setPaused(of, paused); return nil, nil },
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			if paused {
				return nil, q.PauseTx(ctx, tx, of)
			}
			return nil, q.ResumeTx(ctx, tx, of)
		},
	}
}

// prune deletes finished jobs, keys whose time is over, and rates that have passed.
func (f *follower) prune(t *rapid.T) change {
	req := driver.PruneRequest{
		State: rapid.SampledFrom([]queue.State{queue.StateCompleted, queue.StateFailed, queue.StateCanceled}).Draw(t,
			"state"),
		Type: rapid.SampledFrom(modelTypes).Draw(t, "type"), Limit: 1000,
		FinishedBefore: f.model.now.Add(-rapid.SampledFrom([]time.Duration{time.Minute, time.Hour,
			-time.Second}).Draw(t, "kept for")),
	}
	return change{
		func(m *model) (any, error) {
			return []int{m.prune(req), m.pruneKeys(), m.pruneRates(req.FinishedBefore)}, nil
		},
		func(ctx context.Context, q *queue.Queue, tx queue.Tx) (any, error) {
			jobs, err := q.DB().Driver().Prune(ctx, tx.(*driver.WriteTx), req)
			if err != nil {
				return nil, err
			}
			keys, err := q.DB().Driver().PruneKeys(ctx, tx.(*driver.WriteTx), req.Limit)
			if err != nil {
				return nil, err
			}
			rates, err := q.DB().Driver().PruneRates(ctx, tx.(*driver.WriteTx), req.FinishedBefore, req.Limit)
			return []int{jobs, keys, rates}, err
		},
	}
}
