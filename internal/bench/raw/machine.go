package raw

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

// machine is the raw statements with workers: a batch is claimed while another one runs, and ended jobs are
// completed together.
type machine struct {
	*postgresQueue
	workers int
}

func (m *machine) Run(ctx context.Context, ran func(n int64)) error {
	jobs := make(chan claimedJob)
	ended := make(chan string, 10*m.batch)
	var workers, completer errgroup.Group
	for range m.workers {
		workers.Go(func() error {
			for job := range jobs {
				ran(job.n)
				ended <- job.id
			}
			return nil
		})
	}
	completer.Go(func() error { return m.completeAll(context.WithoutCancel(ctx), ended) })
	err := m.work(ctx, jobs)
	close(jobs)
	err = errors.Join(err, workers.Wait())
	close(ended)
	return errors.Join(err, completer.Wait())
}

// work claims until ctx is done. Another process fills the table, so that an empty one is looked at again.
func (m *machine) work(ctx context.Context, jobs chan<- claimedJob) error {
	statements := context.WithoutCancel(ctx)
	next := make(chan []claimedJob, 1)
	var claimer errgroup.Group
	claimer.Go(func() error {
		defer close(next)
		for ctx.Err() == nil {
			claimed, err := m.claim(statements)
			if err != nil {
				return err
			}
			if len(claimed) == 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			next <- claimed
		}
		return nil
	})
	for claimed := range next {
		for _, job := range claimed {
			jobs <- job
		}
	}
	return claimer.Wait()
}

// completeAll completes the jobs that have ended since its last call.
func (m *machine) completeAll(ctx context.Context, ended <-chan string) error {
	var failed error
	for id := range ended {
		ids := []string{id}
		for more := true; more && len(ids) < m.batch; {
			select {
			case id, ok := <-ended:
				if more = ok; ok {
					ids = append(ids, id)
				}
			default:
				more = false
			}
		}
		failed = errors.Join(failed, m.complete(ctx, ids))
	}
	return failed
}
