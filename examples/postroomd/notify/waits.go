package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// JobWaits tells of the requests for approval that nobody was told of yet.
const JobWaits queue.Type[struct{}] = "notify.waits"

// gather is how long other requests are waited for, to be told of together.
const gather = time.Minute

// WaitsJobs returns the job that tells of a request for approval, for the Notify of package pipeline's Config: none if
// it was answered.
func (n *Notifier) WaitsJobs(request safety.Approval) []queue.NewJob {
	if request.Outcome != safety.OutcomeWaiting {
		return nil
	}
	at := n.cfg.Now().Add(gather)
	if until := n.quietUntil(at); !until.IsZero() {
		at = until
	}
	return []queue.NewJob{JobWaits.New(struct{}{}, &queue.Options{Key: queue.Coalesce(string(JobWaits)), NotBefore: at,
		MaxAttempts: attempts.Unattended})}
}

// RegisterWaits registers the handler of [JobWaits], which lists the requests of a ledger.
func (n *Notifier) RegisterWaits(d *queue.Dispatcher, ledger *safety.Ledger) {
	queue.Handle(d, JobWaits, func(ctx context.Context, w *queue.Work[struct{}]) error {
		waiting, err := allWaiting(ctx, ledger)
		if err != nil {
			return err
		}
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error { return n.tellWaiting(ctx, tx, waiting) })
	})
}

// tellWaiting tells of those requests that nobody was told of.
func (n *Notifier) tellWaiting(ctx context.Context, tx queue.Tx, waiting []safety.Waiting) error {
	count, last := 0, ""
	for i := range waiting {
		id := waiting[i].Approval.ID
		isNew, err := claim(ctx, tx, Waits, id, queue.Now(tx))
		if err != nil {
			return err
		}
		if isNew {
			count, last = count+1, id
		}
	}
	if count == 0 {
		return nil
	}
	title := printer.Count(count, "request waits for you", "requests wait for you")
	text := title + "; the page shows what would happen, and so does 'postroomd approvals list'"
	if all := len(waiting); all > count {
		text += fmt.Sprintf(". With those from before it is %d.", all)
	}
	return n.enqueue(ctx, tx, Notice{Kind: Waits, Subject: last, Title: title, Text: text}, n.cfg.Doors)
}

// mostWaiting bounds the requests that one notice is about; those beyond are old, and told of before.
const mostWaiting = 1000

func allWaiting(ctx context.Context, ledger *safety.Ledger) (list []safety.Waiting, err error) {
	f := safety.Filter{Limit: 100}
	for len(list) < mostWaiting {
		page, err := ledger.Approvals(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if page[i].Fault == nil {
				list = append(list, page[i])
			}
		}
		if len(page) < f.Limit {
			break
		}
		f.Before = page[len(page)-1].Action.ID
	}
	return list, nil
}
