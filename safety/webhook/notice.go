package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// EventReauthorize is the event of a mailbox whose grant is gone: somebody has to sign in again.
const EventReauthorize = "account.reauthorize"

// JobReauthorize sends an [EventReauthorize] once.
const JobReauthorize queue.Type[Reauthorize] = "approval.webhook.reauthorize"

// A Reauthorize is the data of an [EventReauthorize].
type Reauthorize struct {
	AccountID string `json:"account_id"`
	Email     string `json:"email"`
	Reason    string `json:"reason"`
	Help      string `json:"help,omitempty"` // what to do
}

// NewReauthorizeJob makes the job that sends the event. Enqueue it in OnReauthorize of package gmail's Config.
func NewReauthorizeJob(r Reauthorize) queue.NewJob {
	return JobReauthorize.New(r, &queue.Options{
		Key: queue.WhileUnfinished(string(JobReauthorize) + ":" + r.AccountID), MaxAttempts: attempts.Unattended,
	})
}

// reauthorize is the handler of [JobReauthorize].
func (s *Sender) reauthorize(ctx context.Context, w *queue.Work[Reauthorize]) error {
	return s.notify(ctx, &w.Job, EventReauthorize, w.Payload)
}

// EventNotAsked is the event of requests that people are not asked any more for the rest of a day: models have caused
// too many about the mail of a mailbox.
const EventNotAsked = "approval.not_asked"

// JobNotAsked sends an [EventNotAsked] once.
const JobNotAsked queue.Type[NotAsked] = "approval.webhook.not_asked"

// A NotAsked is the data of an [EventNotAsked].
type NotAsked struct {
	AccountID string `json:"account_id"`
	EventID   string `json:"event_id"` // of the event on record, which says of whose mail; see package events
}

// NewNotAskedJob makes the job that sends the event. Enqueue it in Notify of [safety.Config].
func NewNotAskedJob(n NotAsked) queue.NewJob {
	return JobNotAsked.New(n, &queue.Options{
		Key: queue.WhileUnfinished(string(JobNotAsked) + ":" + n.EventID), MaxAttempts: attempts.Unattended,
	})
}

// notAsked is the handler of [JobNotAsked].
func (s *Sender) notAsked(ctx context.Context, w *queue.Work[NotAsked]) error {
	return s.notify(ctx, &w.Job, EventNotAsked, w.Payload)
}

// EventNotice is the event of something else that people should know.
const EventNotice = "notice"

// JobNotice sends an [EventNotice] once.
const JobNotice queue.Type[Notice] = "approval.webhook.notice"

// A Notice is the data of an [EventNotice]. One without a text is completed by ReadNotice of [Config].
type Notice struct {
	Kind    string `json:"kind"`    // in the host's words
	Subject string `json:"subject"` // what it is about; there is one notice of a kind and subject at a time
	Title   string `json:"title"`
	Text    string `json:"text"`
}

// NewNoticeJob makes the job that sends the event. Enqueue it in the transaction of what it is about.
func NewNoticeJob(n Notice) queue.NewJob {
	return JobNotice.New(n, &queue.Options{
		Key: queue.WhileUnfinished(string(JobNotice) + ":" + n.Kind + ":" + n.Subject), MaxAttempts: attempts.Unattended,
	})
}

// notice is the handler of [JobNotice].
func (s *Sender) notice(ctx context.Context, w *queue.Work[Notice]) error {
	n := w.Payload
	if n.Text == "" && s.cfg.ReadNotice != nil {
		var err error
		if n, err = s.cfg.ReadNotice(ctx, n); err != nil {
			return err
		}
	}
	return s.notify(ctx, &w.Job, EventNotice, n)
}

// notify sends an event that is about no request.
func (s *Sender) notify(ctx context.Context, job *queue.Job, event string, data any) error {
	body, err := json.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{event, job.CreatedAt.UTC(), data})
	if err != nil {
		return queue.Fatal(err)
	}
	return s.send(ctx, "msg_"+job.ID, time.Now(), body)
}
