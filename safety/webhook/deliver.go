package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/publichttp"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/reasons"
)

// The types of events.
const (
	EventRequested = "approval.requested"
	EventApproved  = "approval.approved"
	EventRejected  = "approval.rejected"
	EventWithdrawn = "approval.withdrawn"
	EventExpired   = "approval.expired"
)

// JobDeliver sends one event.
const JobDeliver queue.Type[Event] = "approval.webhook"

// An Event names what a [JobDeliver] sends. Nothing signs it: what is sent is what the ledger has on record about the
// request.
type Event struct {
	Type       string    `json:"type"`
	ApprovalID string    `json:"approval_id"`
	At         time.Time `json:"at"`
}

// Jobs returns the jobs for a request for approval that was made, answered or withdrawn, according to its Outcome. A
// new request also gets a job for its expiry. Enqueue them in the transactions of Ask and OnAnswer of
// [safety.Config].
//
// A group of requests is one event, of its first request. When that expires, a [JobDeliver] goes on with the next.
func Jobs(request safety.Approval) []queue.NewJob {
	switch {
	case request.Others > 0:
		return nil
	case request.Outcome == safety.OutcomeWaiting:
		expiry := newJob(EventExpired, request.ID, request.ExpiresAt)
		expiry.NotBefore = request.ExpiresAt
		return []queue.NewJob{newJob(EventRequested, request.ID, request.RequestedAt), expiry}
	default:
		return []queue.NewJob{newJob(eventOf(request.Outcome), request.ID, request.DecidedAt)}
	}
}

// eventOf is the event that is told of a request with the outcome.
func eventOf(o safety.Outcome) string {
	switch o {
	case safety.OutcomeWaiting:
		return EventRequested
	case safety.OutcomeApproved:
		return EventApproved
	case safety.OutcomeRejected:
		return EventRejected
	default:
		return EventWithdrawn
	}
}

func newJob(event, approvalID string, at time.Time) queue.NewJob {
	return JobDeliver.New(Event{Type: event, ApprovalID: approvalID, At: at.UTC()}, &queue.Options{
		Key: queue.WhileUnfinished(string(JobDeliver) + ":" + event + ":" + approvalID), MaxAttempts: attempts.Unattended,
	})
}

// A message is the body.
type message struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	ApprovalID  string              `json:"approval_id"`
	ActionID    string              `json:"action_id"`
	AccountID   string              `json:"account_id"`
	MessageID   string              `json:"message_id"`
	Action      postroom.ActionType `json:"action"`
	Source      postroom.Source     `json:"source"`
	Rule        string              `json:"rule"`
	Model       string              `json:"model"`
	Reasons     []string            `json:"reasons"`
	RequestedAt time.Time           `json:"requested_at"`
	ExpiresAt   time.Time           `json:"expires_at"`
	Outcome     string              `json:"outcome"`
	DecidedAt   time.Time           `json:"decided_at,omitzero"`
	Approver    string              `json:"approver,omitempty"`
	Why         string              `json:"why,omitempty"`
}

// deliver is the handler of [JobDeliver].
func (s *Sender) deliver(ctx context.Context, w *queue.Work[Event]) error {
	told, err := s.cfg.Ledger.Request(ctx, w.Payload.ApprovalID)
	event, request := w.Payload.Type, &told.Approval
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return queue.Fatal(err)
	case err != nil:
		return err
	case errors.Is(told.Fault, checkpoint.ErrRestored):
		return told.Fault
	case told.Fault != nil:
		return queue.Fatal(told.Fault)
	case event == EventExpired && request.Outcome != safety.OutcomeWaiting:
		return nil // it was answered before
	case event == EventExpired && time.Now().Before(request.ExpiresAt):
		return queue.Defer(errors.New("webhook: the request has not expired yet"), time.Until(request.ExpiresAt))
	case event != EventExpired && event != EventRequested && event != eventOf(request.Outcome):
		return queue.Fatal(fmt.Errorf("webhook: request %s is %s, and %s is not to be told of it", request.ID,
			request.Outcome, event))
	}
	body, err := bodyOf(event, &told)
	if err != nil {
		return queue.Fatal(err)
	}
	if err := s.send(ctx, "msg_"+w.Job.ID, time.Now(), body); err != nil || event != EventExpired {
		return err
	}
	return s.tellNext(ctx, w.Attempt, request.Group)
}

// tellNext completes a job with those about the next request of a group whose first has expired.
func (s *Sender) tellNext(ctx context.Context, a *queue.Attempt, group string) error {
	waiting, err := s.cfg.Ledger.Group(ctx, group)
	if err != nil || len(waiting) == 0 {
		return err
	}
	return a.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := a.Queue().EnqueueManyTx(ctx, tx, Jobs(waiting[0].Approval))
		return err
	})
}

// bodyOf says of a request what the event is about: a request that was answered since was waiting when it was made.
func bodyOf(event string, told *safety.Waiting) ([]byte, error) {
	request, action, decision := &told.Approval, &told.Action, &told.Decision
	m := message{Type: event, Data: data{
		ApprovalID: request.ID, ActionID: action.ID, AccountID: action.AccountID, MessageID: action.MessageID,
		Action: action.Type,
		Source: decision.Decision.Source, Rule: decision.Decision.RuleName, Model: decision.Decision.Model,
		Reasons:     reasons.Plain(request.Reasons),
		RequestedAt: request.RequestedAt.UTC(), ExpiresAt: request.ExpiresAt.UTC(), Outcome: string(safety.OutcomeWaiting),
	}}
	switch event {
	case EventRequested:
		m.Timestamp = m.Data.RequestedAt
	case EventExpired:
		m.Timestamp, m.Data.Outcome = m.Data.ExpiresAt, "expired"
	default:
		m.Timestamp = request.DecidedAt.UTC()
		m.Data.Outcome, m.Data.DecidedAt = string(request.Outcome), request.DecidedAt.UTC()
		m.Data.Approver, m.Data.Why = request.Approver, request.Why
	}
	return json.Marshal(m)
}

// sign returns the signature of Standard Webhooks.
func sign(key []byte, id, timestamp string, body []byte) string {
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.%s", id, timestamp, body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// maxAnswer bounds the part of a response that is read so that the connection can be reused.
const maxAnswer = 64 << 10

func (s *Sender) send(ctx context.Context, id string, now time.Time, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return queue.Fatal(errors.New("webhook: the address cannot be used"))
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "postroom-webhook", "Webhook-Id": id, "Webhook-Timestamp": timestamp,
		"Webhook-Signature": sign(s.key, id, timestamp, body),
	} {
		r.Header.Set(name, value)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		// The address may have a token in its path, and is left out.
		if failed := (*url.Error)(nil); errors.As(err, &failed) {
			err = failed.Err
		}
		return fmt.Errorf("webhook: deliver to %s: %w", r.URL.Host, err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	return s.judge(r.URL.Host, answer, now)
}

// judge decides the outcome of a delivery by its response.
func (s *Sender) judge(host string, answer *http.Response, now time.Time) error {
	if answer.StatusCode >= 200 && answer.StatusCode < 300 {
		return nil
	}
	err := fmt.Errorf("webhook: deliver to %s: the answer is %s", host, answer.Status)
	switch {
	case answer.StatusCode == http.StatusGone:
		return queue.Fatal(err)
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return fmt.Errorf("%w, and redirects are not followed", err)
	}
	return queue.RetryAfter(err, publichttp.RetryAfter(answer.Header.Get("Retry-After"), now, maxRetryAfter))
}

// maxRetryAfter bounds the delay that a receiver can request.
const maxRetryAfter = 6 * time.Hour
