package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
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
// fails in between, Done counts what is recorded, which the undo of the batch takes back. What a request with a batch
// has done is not done again by another with the same: Done is then that of the first.
func Act(ctx context.Context, h *app.App, r Request, digest string, progress func(done, of int)) (Done, error) {
	if h.Env.Config.Safety.DryRun {
		return Done{}, usage.Errorf("This is a dry run, which does nothing: set safety.dry_run to false first.")
	}
	if before, err := doneBefore(ctx, h, r); err != nil || before.any() {
		return before, err
	}
	p, err := Plan(ctx, h, r)
	switch {
	case err != nil:
		return Done{}, err
	case p.Digest != digest:
		if before, err := doneBefore(ctx, h, r); err != nil || before.any() {
			return before, err // another has been faster
		}
		return Done{}, ErrChanged
	}
	done := Done{NotDone: map[string]int{}, More: p.More}
	if p.Count == 0 {
		return done, nil
	}
	done.Batch = p.Batch
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
			case !isDone(action):
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

// isDone reports whether an action is carried out, or is to be.
func isDone(a postroom.Action) bool {
	return a.State == postroom.ActionQueued || a.State == postroom.ActionExecuting || a.State == postroom.ActionCompleted
}

// any reports whether anything was recorded.
func (done *Done) any() bool { return done.Recorded > 0 || len(done.NotDone) > 0 }

// doneBefore returns what the batch of a request has recorded before.
func doneBefore(ctx context.Context, h *app.App, r Request) (Done, error) {
	done := Done{Batch: r.Batch, NotDone: map[string]int{}}
	if r.Batch == "" {
		return done, nil
	}
	if err := r.check(h); err != nil {
		return done, err
	}
	f := safety.Filter{AccountID: r.Account.ID, KeyPrefix: rules.BatchKey(r.Batch), Types: []postroom.ActionType{r.Kind},
		Limit: 100}
	for {
		page, err := h.Ledger.Actions(ctx, f)
		if err != nil {
			return done, err
		}
		for _, e := range page {
			if isDone(e.Action) {
				done.Recorded++
			} else {
				done.NotDone[e.Action.Error]++
			}
		}
		if len(page) < f.Limit {
			return done, nil
		}
		f.Before = page[len(page)-1].Action.ID
	}
}
