package notify

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// The jobs of digests.
const (
	// JobDigest makes the digest of all mailboxes, and enqueues the jobs that bring it.
	JobDigest queue.Type[DigestPayload] = "notify.digest"
	// JobInsert puts a digest into its mailbox.
	JobInsert queue.Type[InsertPayload] = "notify.insert"
)

// A DigestPayload says which digest it is. Empty: that of the firing of the schedule.
type DigestPayload struct {
	Subject string `json:"subject,omitempty"`
}

// An InsertPayload names a digest for a mailbox, which is composed when it is put there: jobs hold no words of mail.
type InsertPayload struct {
	AccountID string    `json:"account_id"`
	MessageID string    `json:"message_id"` // without angle brackets; on record
	Since     time.Time `json:"since"`
	At        time.Time `json:"at"` // until then

	// Jobs of earlier versions hold the digest.
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// NewDigestJob makes the job of a digest; the subject is empty for that of a schedule.
func NewDigestJob(subject string) queue.NewJob {
	return JobDigest.New(DigestPayload{subject}, &queue.Options{
		Key: queue.WhileUnfinished(string(JobDigest) + ":" + subject), MaxAttempts: attempts.Unattended})
}

// DigestConfig configures the digests of a [Notifier].
type DigestConfig struct {
	// Compose makes the digest of mailboxes since an instant. Required.
	Compose func(ctx context.Context, accounts []mailstore.Account, since, until time.Time) (*Digest, error)
	// Period is how far the first digest goes back. Required.
	Period time.Duration
	// Zone is that of the reader. Required.
	Zone *time.Location
	// Mailbox has each mailbox get its own digest, as a message that is put there.
	Mailbox bool
	// Doors get the digest of all mailboxes.
	Doors []Door

	Mail    *mailstore.Store // required
	Clients gmailapi.Clients // required
}

type digests struct {
	*Notifier
	cfg DigestConfig
}

// RegisterDigests registers the handlers of [JobDigest] and [JobInsert].
func (n *Notifier) RegisterDigests(d *queue.Dispatcher, cfg DigestConfig) {
	h := &digests{n, cfg}
	queue.Handle(d, JobDigest, h.digest)
	queue.Handle(d, JobInsert, h.insert, queue.WithRetry(queue.SlowRetry))
}

// maxSpan bounds the time of a digest, after a time without any.
const maxSpan = 31 * 24 * time.Hour

// LastDigest returns when the last digest until now was made; zero if none was. One that a clock which was wrong has
// put into the future does not count: the next one would begin there, and say nothing.
func LastDigest(ctx context.Context, q dbquery.Querier, now time.Time) (time.Time, error) {
	var at dbtime.Time
	err := dbquery.Get(ctx, q, &at, `
SELECT told_at
FROM notices
WHERE kind = 'digest' AND told_at <= $1
ORDER BY told_at DESC
LIMIT 1`, dbtime.Of(now))
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("notify: read the last digest: %w", err)
	}
	return at.Time, nil
}

// Digest composes a digest of all mailboxes that is on record, by its subject: a job of a door names it.
func (c DigestConfig) Digest(ctx context.Context, subject string) (*Digest, error) {
	db := c.Mail.DB().Reader()
	var at dbtime.Time
	err := dbquery.Get(ctx, db, &at, `
SELECT told_at
FROM notices
WHERE kind = 'digest' AND subject = $1`, subject)
	if err != nil {
		return nil, fmt.Errorf("notify: read the digest %q: %w", subject, err)
	}
	last, err := LastDigest(ctx, db, at.Add(-time.Nanosecond))
	if err != nil {
		return nil, err
	}
	accounts, err := c.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	return c.Compose(ctx, accounts, Since(last, at.Time, c.Period).In(c.Zone), at.In(c.Zone))
}

// Since returns where a digest begins that is made now: where the last one ended, or a period ago without one.
func Since(last, now time.Time, period time.Duration) time.Time {
	if last.IsZero() {
		last = now.Add(-period)
	}
	if earliest := now.Add(-maxSpan); last.Before(earliest) {
		return earliest
	}
	return last
}

// A bound is a digest with the mailbox it is for.
type bound struct {
	account mailstore.Account
	digest  *Digest
}

func (h *digests) digest(ctx context.Context, w *queue.Work[DigestPayload]) error {
	subject := w.Payload.Subject
	if firing, ok := w.Job.Firing(); ok {
		subject = firing.At.UTC().Format(time.RFC3339)
	}
	accounts, err := h.cfg.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	until := h.Notifier.cfg.Now()
	last, err := LastDigest(ctx, h.cfg.Mail.DB().Reader(), until)
	if err != nil {
		return err
	}
	since := Since(last, until, h.cfg.Period)
	own, all, err := h.compose(ctx, accounts, since.In(h.cfg.Zone), until.In(h.cfg.Zone))
	if err != nil {
		return err
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		isNew, err := claim(ctx, tx, OfDigest, subject, until) // where the next one begins
		if err != nil || !isNew {
			return err
		}
		return h.tell(ctx, tx, subject, own, all)
	})
}

// compose makes the digests: of each mailbox, and of all together.
func (h *digests) compose(ctx context.Context, accounts []mailstore.Account, since, until time.Time) (own []bound,
	all *Digest, err error) {
	for _, a := range accounts {
		if !h.cfg.Mailbox || a.State != mailstore.AccountActive {
			continue
		}
		d, err := h.cfg.Compose(ctx, []mailstore.Account{a}, since, until)
		if err != nil {
			return nil, nil, err
		}
		if !d.IsEmpty() {
			own = append(own, bound{a, d})
		}
	}
	if len(h.cfg.Doors) > 0 {
		all, err = h.cfg.Compose(ctx, accounts, since, until)
	}
	return own, all, err
}

func (h *digests) tell(ctx context.Context, tx queue.Tx, subject string, own []bound, all *Digest) error {
	for _, b := range own {
		// Nobody can guess it, so that no mail of a stranger counts as ours.
		id := "digest." + strings.ToLower(rand.Text()) + "@" + mailstore.InsertedDomain
		if err := h.cfg.Mail.Inserted().Record(ctx, tx, b.account.ID, id); err != nil {
			return err
		}
		job := JobInsert.New(InsertPayload{AccountID: b.account.ID, MessageID: id, Since: b.digest.From,
			At: b.digest.Until}, &queue.Options{MaxAttempts: attempts.Unattended})
		if _, err := h.Notifier.cfg.Queue.EnqueueTx(ctx, tx, job); err != nil {
			return err
		}
	}
	if all == nil || all.IsEmpty() {
		return nil
	}
	return h.enqueue(ctx, tx, Notice{Kind: OfDigest, Subject: subject}, h.cfg.Doors)
}

// insert puts the digest into the mailbox. An attempt after the first looks whether an earlier one has.
func (h *digests) insert(ctx context.Context, w *queue.Work[InsertPayload]) error {
	p := w.Payload
	account, err := h.cfg.Mail.Account(ctx, p.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(fmt.Errorf("notify: the mailbox of the digest was removed: %w", err))
	}
	if err != nil {
		return err
	}
	client, err := gmailapi.FindClient(ctx, h.cfg.Clients, account.ID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	since, err := queue.Step(ctx, w, "history", func(ctx context.Context) (uint64, error) {
		profile, err := client.Profile(ctx)
		return profile.HistoryID, err
	})
	if err != nil {
		return gmailapi.Verdict(err)
	}
	if p.Text == "" {
		d, err := h.cfg.Compose(ctx, []mailstore.Account{account}, p.Since.In(h.cfg.Zone), p.At.In(h.cfg.Zone))
		if err != nil {
			return err
		}
		p.Title, p.Text = d.Title(), d.Text()
	}
	raw, err := p.message(account.Email)
	if err != nil {
		return queue.Fatal(err)
	}
	_, err = queue.Step(ctx, w, "insert", func(ctx context.Context) (string, error) {
		if w.Job.Attempt > 1 {
			if there, ok, err := client.FindInserted(ctx, p.MessageID, since); err != nil || ok {
				return there.ID, err
			}
		}
		made, err := client.Insert(ctx, raw, postroom.LabelInbox, postroom.LabelUnread)
		return made.ID, err
	})
	return gmailapi.Verdict(err)
}

// message is the digest in the form of RFC 5322.
func (p *InsertPayload) message(to string) ([]byte, error) {
	m := mime.Outgoing{
		From:    []mime.Address{{Name: "Postroom", Email: "digest@" + mailstore.InsertedDomain}},
		To:      []mime.Address{{Email: to}},
		Subject: p.Title, Date: p.At, MessageID: p.MessageID, Text: p.Text,
		Header: []mime.Field{{Name: mailstore.InsertedHeader, Value: "1"}, {Name: "Auto-Submitted", Value: "auto-generated"}},
	}
	return m.Build()
}
