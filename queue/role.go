package queue

import (
	"context"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
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

const (
	// patience is how long a running dispatcher waits for one answer of the database. A server that vanishes would block it until
	// TCP gives up, which takes a quarter of an hour, or for ever if a proxy between them still answers.
	patience = time.Minute
	// stopPatience is the same for one that stops.
	stopPatience = 5 * time.Second
)

// answered returns a copy of ctx for one call of the database, which is interrupted when patience is over, and stopPatience
// after ctx is done, also when it is a write that has begun.
func answered(ctx context.Context) (context.Context, context.CancelFunc) {
	return answeredIn(ctx, patience)
}

// answeredIn is answered with a patience of its own.
func answeredIn(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	out, interrupt := driver.WithPatience(ctx, patience)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(stopPatience, interrupt) })
	return out, func() {
		stop()
		interrupt()
	}
}

// tell sends to a channel with a buffer of one, and never blocks: several sends before a receive are one.
func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
