package notify

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/limits"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the table of the notices, or brings it up to date.
func Migrate(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "postroomd_notify", migrations)
}

// A Kind is what a notice is about.
type Kind string

// The kinds of notices.
const (
	GrantDied    Kind = "grant_died"    // somebody has to sign in again
	Waits        Kind = "waits"         // requests for approval wait
	RuleDisabled Kind = "rule_disabled" // by the program, not by a person
	Stopped      Kind = "stopped"       // by a person, or by a breaker
	Drifted      Kind = "drift"         // a rule or the models, that a person has corrected too often
	NotAsked     Kind = "not_asked"     // models have caused so many requests that the rest of the day's are not made
	Escalated    Kind = "escalated"     // somebody has to look at a message
	AgentRefused Kind = "agent_refused" // a limit is reached, or it is paused
	AgentPaused  Kind = "agent_paused"  // by the program
	AgentTold    Kind = "agent_told"    // what a schedule of an agent tells; its words are read then, see [Read]
	Reminded     Kind = "reminder"      // of what its owner wanted, at the time that was asked for
	OfDigest     Kind = "digest"
)

// mayWait reports whether notices of the kind wait until quiet hours end. A dead grant and a stop do not: meanwhile
// nothing is done with the mail. A reminder has the time that a person has chosen.
func (k Kind) mayWait() bool { return k != GrantDied && k != Stopped && k != Reminded }

// A Notice is what people are told. Jobs hold it: it has the program's own words, with names of mailboxes, rules and
// senders' domains, and no words of mail. The words of a digest are read when it is told, see [Read].
type Notice struct {
	Kind    Kind   `json:"kind"`
	Subject string `json:"subject"`         // what it is about, such as an id: a kind tells of each subject once
	Title   string `json:"title,omitempty"` // one line
	Text    string `json:"text,omitempty"`  // plain text
}

// A Read returns a notice with its title and text, if it has none.
type Read func(ctx context.Context, n Notice) (Notice, error)

// A Door is a way to people: it returns the jobs that bring them the notice; none if it does not tell of its kind.
type Door func(n Notice) []queue.NewJob

// Config configures a [Notifier].
type Config struct {
	// Queue has the jobs of the doors. Required.
	Queue *queue.Queue
	// Doors are told of each notice. Default none: it is only recorded.
	Doors []Door
	// Quiet are the hours in which people are not told of what can wait. Its May does not matter. Default none.
	Quiet limits.Quiet
	// Now returns the time by which hours are quiet. Default [time.Now].
	Now func() time.Time
}

// A Notifier tells people, once of each thing. It is safe for concurrent use. [New] makes one.
type Notifier struct{ cfg Config }

// New makes a notifier.
func New(cfg Config) (*Notifier, error) {
	if err := fields.Required("notify: Config.Queue", cfg.Queue, "one made by queue.New"); err != nil {
		return nil, err
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Quiet.May = nil
	return &Notifier{cfg}, nil
}

// Tell tells of a notice by all doors, and by the jobs given besides, unless its subject was told of before. Call it in
// the transaction of what happened: rolled back, nobody is told.
func (n *Notifier) Tell(ctx context.Context, tx queue.Tx, notice Notice, besides ...queue.NewJob) error {
	isNew, err := claim(ctx, tx, notice.Kind, notice.Subject, queue.Now(tx))
	if err != nil || !isNew {
		return err
	}
	return n.enqueue(ctx, tx, notice, n.cfg.Doors, besides...)
}

// enqueue enqueues the jobs of doors, due when the notice may be told.
func (n *Notifier) enqueue(ctx context.Context, tx queue.Tx, notice Notice, doors []Door,
	besides ...queue.NewJob) error {
	jobs := besides
	for _, door := range doors {
		jobs = append(jobs, door(notice)...)
	}
	if len(jobs) == 0 {
		return nil
	}
	if notice.Kind.mayWait() {
		until := n.quietUntil(n.cfg.Now())
		for i := range jobs {
			jobs[i].NotBefore = until
			jobs[i].Tags = append(slices.Clip(jobs[i].Tags), tagMayWait)
		}
	}
	_, err := n.cfg.Queue.EnqueueManyTx(ctx, tx, jobs)
	return err
}

// tagMayWait marks the jobs of notices that wait until quiet hours end, however often they are tried.
const tagMayWait = "may-wait"

var errQuiet = errors.New("notify: in quiet hours nobody is told of what can wait")

// WaitForQuiet is the middleware that puts off the jobs of a notice that can wait while hours are quiet: one that was
// due by day may be tried again at night.
func (n *Notifier) WaitForQuiet(next queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, a *queue.Attempt) error {
		if slices.Contains(a.Job.Tags, tagMayWait) {
			now := n.cfg.Now()
			if until := n.quietUntil(now); !until.IsZero() {
				return queue.Defer(errQuiet, until.Sub(now))
			}
		}
		return next(ctx, a)
	}
}

// quietUntil returns when the quiet hours that contain an instant end; zero if there are none.
func (n *Notifier) quietUntil(at time.Time) time.Time {
	if held, ok := errors.AsType[*postroom.HeldError](n.cfg.Quiet.Hold("", at)); ok {
		return held.Until
	}
	return time.Time{}
}

const (
	insertNotice = `
INSERT INTO notices (kind, subject, told_at)
VALUES ($1, $2, $3)
ON CONFLICT (kind, subject) DO NOTHING`

	deleteNotices = `
DELETE FROM notices
WHERE told_at < $1
  AND kind <> 'digest'`
)

// claim reports whether nobody was told of the subject before, and records that somebody is.
func claim(ctx context.Context, tx queue.Tx, kind Kind, subject string, at time.Time) (isNew bool, err error) {
	n, err := dbquery.Exec(ctx, tx, insertNotice, string(kind), subject, dbtime.Of(at))
	if err != nil {
		return false, fmt.Errorf("notify: record a notice: %w", err)
	}
	return n > 0, nil
}

// Prune deletes what is recorded of notices before an instant; digests stay on record. A request for approval must not
// wait for longer: it would be told of again.
func Prune(ctx context.Context, db queue.DB, before time.Time) error {
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := dbquery.Exec(ctx, tx, deleteNotices, dbtime.Of(before)); err != nil {
			return fmt.Errorf("notify: delete old notices: %w", err)
		}
		return nil
	})
}
