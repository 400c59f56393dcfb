package queue

import (
	"context"
	"sync"
)

// Attribute keys of log lines.
const (
	logError    = "error"
	logJobID    = "job_id"
	logJobType  = "job_type"
	logAttempt  = "attempt"
	logWorkerID = "worker_id"
)

// A role is one background task of a dispatcher; it returns when ctx is done, or of itself.
type role interface{ run(ctx context.Context) }

// roles are started and stopped together.
type roles struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func startRoles(ctx context.Context, all ...role) *roles {
	ctx, cancel := context.WithCancel(ctx)
	r := &roles{cancel: cancel}
	for _, one := range all {
		r.wg.Go(func() { one.run(ctx) })
	}
	return r
}

func (r *roles) stop() {
	r.cancel()
	r.wg.Wait()
}

// tell never blocks, on a channel with room for one: what is told before it is heard is one.
func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
