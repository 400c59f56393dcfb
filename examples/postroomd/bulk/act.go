package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// inTransaction is how many messages are recorded in one transaction.
const inTransaction = 50

// ErrChanged is the error of [Act] about what is not as it was shown. Nothing was done.
var ErrChanged = errors.New("what the search finds is not what was shown: look at it again")

// Done is what [Act] has recorded. Jobs carry it out.
type Done struct {
	Batch    string `json:"batch"`    // 'postroomd undo --batch' takes it back
	Recorded int    `json:"recorded"` // how many actions are to be carried out
	// NotDone are those that are not, by why.
	NotDone map[string]int `json:"not_done,omitempty"`
	More    bool           `json:"more"` // whether the search finds more
}

// Act does what a preview has shown with this digest, as one batch, and calls progress after each transaction. If it
// fails in between, Done counts what is recorded, which the undo of the batch takes back.
func Act(ctx context.Context, h *app.App, r Request, digest string, progress func(done, of int)) (Done, error) {
	if h.Env.Config.Safety.DryRun {
		return Done{}, usage.Errorf("This is a dry run, which does nothing: set safety.dry_run to false first.")
	}
	p, err := Plan(ctx, h, r)
	switch {
	case err != nil:
		return Done{}, err
	case p.Digest != digest:
		return Done{}, ErrChanged
	}
	done := Done{NotDone: map[string]int{}, More: p.More}
	if p.Count == 0 {
		return done, nil
	}
	if done.Batch, err = uuid7.New(); err != nil {
		return done, err
	}
	d := p.decision
	d.Key = rules.BatchKey(done.Batch) + "1"
	d.Rationale += ", as batch " + done.Batch
	at := 0
	for some := range slices.Chunk(p.messages, inTransaction) {
		if err := done.record(ctx, h, some, d, r.By); err != nil {
			return done, fmt.Errorf("batch %s is recorded in part, for %d of %d messages: %w", done.Batch, at, p.Count, err)
		}
		at += len(some)
		progress(at, p.Count)
	}
	return done, nil
}

// record records the decision about some messages in one transaction. What asks for approval has it: it is the person
// who has decided.
func (done *Done) record(ctx context.Context, h *app.App, some []*postroom.Message, d postroom.Decision,
	by string) error {
	recorded, notDone := 0, []string(nil)
	err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		recorded, notDone = 0, nil
		for _, m := range some {
			action, err := h.Ledger.Record(ctx, m, d)(ctx, tx)
			if err == nil && action.State == postroom.ActionPendingApproval {
				action, err = h.Ledger.Approve(ctx, tx, action.ID, by)
			}
			switch {
			case errors.Is(err, safety.ErrNotApprover):
				return usage.Wrap(err)
			case err != nil:
				return err
			case action.State != postroom.ActionQueued && action.State != postroom.ActionCompleted:
				notDone = append(notDone, action.Error)
			default:
				recorded++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	done.Recorded += recorded
	for _, why := range notDone {
		done.NotDone[why]++
	}
	return nil
}
