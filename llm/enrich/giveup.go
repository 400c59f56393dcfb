package enrich

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// hasGivenUp begins the faults of stages whose job has ended in an error. Such a job can be retried.
const hasGivenUp = "the job has given up: "

// gaveUp reports whether a stage has such a fault.
func (e *Enrichment) gaveUp() bool {
	for _, fault := range e.Faults {
		if strings.HasPrefix(fault, hasGivenUp) {
			return true
		}
	}
	return false
}

// tryAgain opens the stages whose job has given up.
func (e *Enrichment) tryAgain() {
	maps.DeleteFunc(e.Faults, func(_ Stage, fault string) bool { return strings.HasPrefix(fault, hasGivenUp) })
}

// giveUp puts the error that ends the job into the stages that are open, and ends the enrichment, with what follows.
// The end is written first: the error may be that of what follows.
func (r *run) giveUp(ctx context.Context, cause error) error {
	ctx = context.WithoutCancel(ctx) // the error may be that the time of the attempt is up
	var e *Enrichment
	err := r.w.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		e, err = change(ctx, tx, r.w.Payload.AccountID, r.w.Payload.MessageID, func(e *Enrichment) error {
			for _, s := range e.open(r.stages()) {
				r.put(e, s, nil, bounded(hasGivenUp+cause.Error(), maxReasoning))
			}
			r.count(e)
			e.answer = ""
			e.settle(r.cfg.Stages, r.cfg.SureFrom)
			if len(e.open(r.cfg.Stages)) == 0 { // no other is still at work on it
				e.end(queue.Now(tx))
			}
			return nil
		})
		return err
	})
	if errors.Is(err, postroom.ErrNotFound) { // it was removed
		return nil
	}
	if err == nil && r.msg != nil && r.cfg.OnEnded != nil {
		err = r.follow(ctx, e)
	}
	if err != nil {
		return fmt.Errorf("enrich message %s: end it: %w", r.w.Payload.MessageID, err)
	}
	return nil
}

// followsFor bounds what follows after the job has given up.
const followsFor = time.Minute

// follow does what follows on the end of the enrichment.
func (r *run) follow(ctx context.Context, e *Enrichment) error {
	ctx, stop := context.WithTimeout(ctx, followsFor)
	defer stop()
	record, err := r.cfg.OnEnded(ctx, r.msg, e)
	if err != nil || record == nil {
		return err
	}
	return r.w.Write(ctx, record)
}
