package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/checkpoint"
)

// The jobs.
const (
	// JobNotify updates the messages about an action to match the ledger.
	JobNotify queue.Type[NotifyPayload] = "approval.notify"
	// JobExpire runs when a request expires.
	JobExpire queue.Type[ExpirePayload] = "approval.expire"
	// JobDigest posts a digest of the waiting requests.
	JobDigest queue.Type[DigestPayload] = "approval.digest"
)

// A NotifyPayload names the action of a [JobNotify].
type NotifyPayload struct {
	ActionID string `json:"action_id"`
}

// An ExpirePayload names the request of a [JobExpire].
type ExpirePayload struct {
	ApprovalID string `json:"approval_id"`
}

// A DigestPayload is empty.
type DigestPayload struct{}

// NewNotifyJob makes the job that posts or updates the messages about an action after a request for approval or its
// answer. Enqueue it in the transactions of Ask and OnAnswer of [safety.Config].
func NewNotifyJob(actionID string) queue.NewJob {
	return JobNotify.New(NotifyPayload{actionID}, &queue.Options{
		Key: queue.Coalesce(string(JobNotify) + ":" + actionID), MaxAttempts: attempts.Unattended,
	})
}

// Jobs returns [NewNotifyJob] for a request for approval that was made, answered or withdrawn.
func Jobs(request safety.Approval) []queue.NewJob {
	return []queue.NewJob{NewNotifyJob(request.ActionID)}
}

func newExpireJob(request safety.Approval) queue.NewJob {
	return JobExpire.New(ExpirePayload{request.ID}, &queue.Options{
		Key: queue.WhileUnfinished(string(JobExpire) + ":" + request.ID), NotBefore: request.ExpiresAt,
		MaxAttempts: attempts.Unattended,
	})
}

// NewDigestJob makes the job that reminds people of waiting requests, for a schedule. A digest lists a request at
// most once within [Config].RemindAfter. If there are no requests to list, nothing is posted.
func NewDigestJob() queue.NewJob {
	return JobDigest.New(DigestPayload{}, &queue.Options{Key: queue.WhileUnfinished(string(JobDigest)),
		MaxAttempts: attempts.Unattended})
}

// Register registers the handlers of the jobs with the options. By default one job of each type runs at a time, since
// Discord limits the calls to a channel.
func Register(d *queue.Dispatcher, b *Bot, opts ...queue.HandlerOption) error {
	err := errors.Join(
		fields.Required("discord: Register: the Dispatcher", d, "one made by queue.NewDispatcher"),
		fields.Required("discord: Register: the Bot", b, "one made by New"),
	)
	if err != nil {
		return err
	}
	opts = append([]queue.HandlerOption{queue.WithConcurrency(1)}, opts...)
	queue.Handle(d, JobNotify, b.notify, opts...)
	queue.Handle(d, JobExpire, b.expire, opts...)
	queue.Handle(d, JobDigest, b.digest, append(slices.Clone(opts), queue.WithSteps(digestStep))...)
	queue.Handle(d, JobNotice, b.notice, opts...)
	return nil
}

// notify is the handler of [JobNotify].
func (b *Bot) notify(ctx context.Context, w *queue.Work[NotifyPayload]) error {
	requests, err := b.requests(ctx, w.Payload.ActionID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Fatal(err)
	}
	if err != nil {
		return err
	}
	for i := range requests {
		if err := b.bring(ctx, w.Attempt, &requests[i]); err != nil {
			return err
		}
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, r := range requests {
			if !r.waits() {
				continue
			}
			if _, err := b.cfg.Queue.EnqueueTx(ctx, tx, newExpireJob(r.approval)); err != nil {
				return err
			}
		}
		return nil
	})
}

// expire is the handler of [JobExpire].
func (b *Bot) expire(ctx context.Context, w *queue.Work[ExpirePayload]) error {
	request, err := b.cfg.Ledger.Approval(ctx, w.Payload.ApprovalID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return queue.Fatal(err)
	case err != nil:
		return err
	case request.Outcome != safety.OutcomeWaiting:
		return nil
	}
	if left := time.Until(request.ExpiresAt); left > 0 { // the clock was set back
		return queue.Defer(fmt.Errorf("discord: request %s expires in %v", request.ID, left), left)
	}
	jobs := []queue.NewJob{NewNotifyJob(request.ActionID)}
	next, err := b.cfg.Ledger.Group(ctx, request.Group)
	if err != nil {
		return err
	}
	if len(next) > 0 { // the message about the group ends with its first request
		jobs = append(jobs, NewNotifyJob(next[0].Action.ID))
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, job := range jobs {
			if _, err := b.cfg.Queue.EnqueueTx(ctx, tx, job); err != nil {
				return err
			}
		}
		return nil
	})
}

// requests returns all requests about an action, oldest first. It composes the action's content before, so that the
// digest of a request covers the shown content.
func (b *Bot) requests(ctx context.Context, actionID string) ([]request, error) {
	action, err := b.cfg.Ledger.Action(ctx, actionID)
	if err != nil {
		return nil, err
	}
	var content Content
	if action.State == postroom.ActionPendingApproval {
		if content, err = b.cfg.Compose(ctx, action); err != nil {
			return nil, err
		}
	}
	approvals, err := b.cfg.Ledger.ApprovalsOf(ctx, actionID)
	if err != nil {
		return nil, err
	}
	list := make([]request, len(approvals))
	for i, approval := range approvals {
		if list[i], err = b.request(ctx, action, approval, content); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *Bot) request(ctx context.Context, action postroom.Action, approval safety.Approval,
	content Content) (request, error) {
	r := request{approval: approval, action: action, content: content}
	var err error
	if r.decision, err = b.cfg.Ledger.Decision(ctx, action.DecisionID); err != nil {
		return r, err
	}
	if r.summary, err = b.cfg.Summarize(ctx, action); err != nil {
		return r, err
	}
	if approval.Outcome == safety.OutcomeWaiting {
		w, err := b.cfg.Ledger.Waiting(ctx, action.ID)
		switch {
		case errors.Is(err, safety.ErrState):
			r.altered = true
		case err != nil:
			return r, err
		default: // the shown content is the verified one
			r.action, r.decision, r.approval = w.Action, w.Decision, w.Approval
			r.altered = errors.Is(w.Fault, safety.ErrAltered) || errors.Is(w.Fault, checkpoint.ErrRestored) ||
				errors.Is(w.Fault, safety.ErrState)
			r.void = w.Fault != nil
		}
		if is := r.action.ContentSHA256; content.SHA256 != "" && content.SHA256 != is {
			return r, fmt.Errorf("discord: request %s is about content %s, and %s was composed: it was edited at this moment",
				approval.ID, is, content.SHA256)
		}
	}
	if r.others, err = b.together(ctx, approval); err != nil {
		return r, err
	}
	r.listed = make([]string, min(len(r.others), mostListed))
	for i := range r.listed {
		if r.listed[i], err = b.line(ctx, &r.others[i]); err != nil {
			return r, err
		}
	}
	r.expired = approval.Outcome == safety.OutcomeWaiting && !time.Now().Before(approval.ExpiresAt)
	return r, nil
}

// together returns the requests that wait for the answer to a request besides it, oldest first: those of its group that
// have not expired.
func (b *Bot) together(ctx context.Context, approval safety.Approval) ([]safety.Waiting, error) {
	if approval.Outcome != safety.OutcomeWaiting {
		return nil, nil
	}
	list, err := b.cfg.Ledger.Group(ctx, approval.Group)
	return slices.DeleteFunc(list, func(w safety.Waiting) bool { return w.Approval.ID == approval.ID }), err
}

// bring updates the message about a request to match the request.
func (b *Bot) bring(ctx context.Context, a *queue.Attempt, r *request) error {
	row, begun, err := b.message(ctx, b.cfg.DB.Reader(), r.approval.ID)
	if err != nil {
		return err
	}
	if !begun && !r.waits() {
		return nil // nobody was asked here
	}
	if !begun {
		row = messageRow{ApprovalID: r.approval.ID, ActionID: r.action.ID, ChannelID: b.cfg.Channel}
	}
	body, err := b.body(ctx, r, row.ChannelID)
	if err != nil {
		return err
	}
	shown, err := fingerprint(body)
	switch {
	case err != nil:
		return err
	case row.MessageID == "":
		return b.postRequest(ctx, a, r, row, begun, body, shown)
	case row.Shown == shown || row.Gone != 0:
		return nil
	}
	return b.editRequest(ctx, a, row, body, shown)
}

// begin records that the message is about to be posted.
func (b *Bot) begin(ctx context.Context, a *queue.Attempt, row messageRow) error {
	return a.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, insertMessage, row.ApprovalID, row.ActionID, row.ChannelID, dbtime.Of(queue.Now(tx)))
		return err
	})
}
