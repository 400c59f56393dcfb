package aging

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// Job asks the rules of an account again about messages that have become old enough.
const Job queue.Type[Payload] = "rules.age"

// A Payload names the account of a [Job].
type Payload struct {
	AccountID string `json:"account_id"`
}

// NewJob makes the job for an account. Its key allows one unfinished job of an account.
func NewJob(accountID string) queue.NewJob {
	return Job.New(Payload{accountID}, &queue.Options{
		MaxAttempts: attempts.Unattended,
		LimitKey:    mailstore.LimitKey(accountID),
		Key:         queue.WhileUnfinished(string(Job) + ":" + accountID),
	})
}

// Config configures the handler of [Job]. It is copied and checked once, by [Register].
type Config struct {
	// Store holds the mail. Required.
	Store *mailstore.Store
	// Engine decides by the stored rules. Required.
	Engine *rules.Engine
	// Ledger records the decisions. Required; *safety.Ledger implements it.
	Ledger rules.Ledger
	// People are those of [rules.ApplyConfig].
	People rules.People
	// Decided is that of [rules.ApplyConfig].
	Decided func(ctx context.Context, msg *postroom.Message, ruleID, version string) (bool, error)
	// SkipLabels are those of the configuration of package gmail: a message with one of them is not asked about. Default
	// nil: SENT, DRAFT, SPAM and TRASH.
	SkipLabels []string
	// Now returns the present time. Default [time.Now].
	Now func() time.Time
	// Logger logs what was decided. Default [slog.Default].
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.SkipLabels == nil {
		c.SkipLabels = []string{postroom.LabelSent, postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, errors.Join(
		fields.Required("aging: Config.Store", c.Store, "the store of mail, made by mailstore.New"),
		fields.Required("aging: Config.Engine", c.Engine, "one made by rules.NewEngine"),
		fields.Required("aging: Config.Ledger", c.Ledger, "the ledger of decisions, such as a *safety.Ledger"),
		fields.Optional("aging: Config.People", c.People),
	)
}

// Register registers the handler of [Job], with the options. A missing field of the configuration is an error that
// names it, and nothing is registered then.
func Register(d *queue.Dispatcher, cfg Config, opts ...queue.HandlerOption) error {
	cfg, err := cfg.withDefaults()
	if err := errors.Join(fields.Required("aging: Register: the Dispatcher", d, "one made by queue.NewDispatcher"),
		err); err != nil {
		return err
	}
	queue.Handle(d, Job, (&job{cfg, pageSize}).run, opts...)
	return nil
}

type job struct {
	Config
	pageSize int
}

// pageSize is how many messages are asked about before the cursor is moved.
const pageSize = 500

// settled is how long a message has been old enough when it is asked about: one that was decided about as it arrived,
// just before it was, is stored by then.
const settled = time.Minute

func (j *job) run(ctx context.Context, w *queue.Work[Payload]) error {
	account, err := j.Store.Account(ctx, w.Payload.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(err)
	}
	if err != nil {
		return err
	}
	aging, err := j.Engine.Aging(ctx, account.ID)
	if err != nil {
		return err
	}
	if len(aging) > 0 && account.LastSyncAt.Before(w.Job.CreatedAt) {
		return j.awaitSync(ctx, w)
	}
	cursors, err := j.cursors(ctx, account.ID)
	if err != nil {
		return err
	}
	if err := j.forget(ctx, w, cursors, aging); err != nil {
		return err
	}
	for i := range aging {
		for n := range aging[i].Ages {
			if err := j.ask(ctx, w, account, &aging[i], cursors.of(&aging[i], n, j.Now())); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitSync gives the job back until the changes that people have made by now are known.
func (j *job) awaitSync(ctx context.Context, w *queue.Work[Payload]) error {
	if _, err := w.Queue().Enqueue(ctx, gmail.NewHistorySyncJob(w.Payload.AccountID, 0)); err != nil {
		return err
	}
	return queue.Defer(errNotSynced, attempts.Held(w.Job.Interruptions, time.Time{}, time.Time{}))
}

var errNotSynced = errors.New("the mailbox has not been synchronized since this job was enqueued; it waits for that")

// ask asks a rule about the messages that have passed one of its ages since the last run.
func (j *job) ask(ctx context.Context, w *queue.Work[Payload], account mailstore.Account, rule *rules.Aging,
	c *cursor) error {
	until := j.Now().Add(-rule.Ages[c.ordinal] - settled)
	since := c.asked
	if since.Before(account.DecideSince) {
		since = account.DecideSince
	}
	if !since.Before(until) {
		return j.save(ctx, w, c)
	}
	within := mailstore.MessageRange{Since: since, Until: until, SkipLabels: j.SkipLabels}
	if rule.Threads { // what was sent becomes old as well, and what it answers is asked about
		within.SkipLabels = nil
	}
	next, stop := iter.Pull2(j.Store.AllMessages(ctx, account.ID, within))
	defer stop()
	for p := (&pages{next: next, size: j.pageSize}); !p.ended; {
		messages := iter.Seq2[*postroom.Message, error](p.page)
		if rule.Threads {
			messages = j.threadsOf(ctx, account, p.page)
		}
		done, err := rules.Apply(ctx, rules.ApplyConfig{Engine: j.Engine, Aged: rule, Messages: messages,
			Labels: j.Store, Ledger: j.Ledger, People: j.People, Decided: j.Decided, Now: j.Now})
		if err != nil {
			return err
		}
		c.asked = p.reached
		if p.ended {
			c.asked = until
		}
		c.count(done)
		if err := j.save(ctx, w, c); err != nil {
			return err
		}
	}
	if c.decided+c.leftAlone > 0 {
		j.Logger.InfoContext(ctx, "a rule was asked again about mail that has become old enough", "account", account.Email,
			"rule", rule.RuleName, "messages", c.messages, "actions", c.decided, "left_alone", c.leftAlone)
	}
	return nil
}

// threadsOf yields the messages of the threads of messages, each once, but for old mail and what is not asked about.
func (j *job) threadsOf(ctx context.Context, account mailstore.Account,
	messages iter.Seq2[*postroom.Message, error]) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		asked := map[string]bool{}
		for msg, err := range messages {
			if err != nil {
				yield(nil, err)
				return
			}
			if asked[msg.ThreadID] {
				continue
			}
			asked[msg.ThreadID] = true
			thread, err := j.Store.ThreadMessages(ctx, account.ID, msg.ThreadID)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, m := range thread {
				if m.ReceivedAt.Before(account.DecideSince) || slices.ContainsFunc(j.SkipLabels, m.HasLabel) {
					continue
				}
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// pages are the messages of a range, in pages.
type pages struct {
	next    func() (*postroom.Message, error, bool)
	size    int
	ended   bool
	reached time.Time // when the last message was received
}

// page yields the next messages.
func (p *pages) page(yield func(*postroom.Message, error) bool) {
	for range p.size {
		msg, err, ok := p.next()
		if !ok {
			p.ended = true
			return
		}
		if err == nil {
			p.reached = cmp.Or(msg.ReceivedAt, p.reached)
		}
		if !yield(msg, err) {
			return
		}
	}
}
