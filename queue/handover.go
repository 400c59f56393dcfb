package queue

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
)

// If one job waits for the end of another, as under a limit of one at a time, most of the cost is a transaction for each claim
// and the way from the completer to the claimer. A handover is a claim that the completer makes in the transaction that ends
// jobs. The claimer makes none meanwhile.
type handover struct {
	driver  driver.FinishClaimer
	claimer *claimer
	request driver.ClaimRequest
	claimed func() driver.ClaimResult
}

// handover returns nil if the completer must not claim: no job of the batch has a limit key, the engine cannot, or the claimer
// claims itself or wants nothing. The result must be closed.
func (c *claimer) handover(batch []*ending) *handover {
	if c.turns == nil || c.asking.Load() || !slices.ContainsFunc(batch, func(e *ending) bool { return e.attempt.job.LimitKey != "" }) {
		return nil
	}
	c.mu.Lock()
	if demand := c.demand(); !c.stopped && len(demand.capacities) > 0 && demand.limit > 0 {
		return &handover{driver: c.turns, claimer: c, request: c.request(demand)}
	}
	c.mu.Unlock()
	return nil
}

// finish writes the outcomes, by the driver alone where there is no handover.
func (h *handover) finish(ctx context.Context, d driver.Finisher, tx *driver.WriteTx, outcomes []driver.Outcome) (answers []error, err error) {
	if h == nil {
		return d.Finish(ctx, tx, outcomes)
	}
	answers, h.claimed, err = h.driver.FinishAndClaim(ctx, tx, outcomes, h.request)
	return answers, err
}

// start starts the claimed jobs, once the transaction has committed.
func (h *handover) start(ctx context.Context) {
	if h == nil {
		return
	}
	c, result := h.claimer, h.claimed()
	next := result.NextDue
	c.start(ctx, h.request.WorkerID, result.Jobs)
	sooner := !next.IsZero() && (c.due.IsZero() || next.Before(c.due))
	if sooner {
		c.due = next
	}
	if sooner || result.More {
		c.wake()
	}
}

func (h *handover) close() {
	if h != nil {
		h.claimer.mu.Unlock()
	}
}
