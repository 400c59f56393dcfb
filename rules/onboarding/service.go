package onboarding

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the table of this package, onboarding_reports, or brings it up to date. Call it at every start;
// several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("onboarding: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "rules/onboarding", migrations)
}

// Job looks at the mailbox of an account.
const Job queue.Type[Payload] = "email_processing"

// A Payload names the account of a [Job].
type Payload struct {
	ConnectionID string `json:"connection_id"` // the id of the account
}

// A Result is that of a [Job]: the beginning of the report as text, at most 500 characters. [Service.Report] returns
// all of it.
type Result struct {
	OutputPreview string `json:"output_preview"`
}

// Config configures a [Service]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the reports. Required; [Migrate] must have prepared it. It must be that of the queue.
	DB queue.DB
	// Queue has the jobs. Required.
	Queue *queue.Queue
	// Messages yields the messages of an account, newest first; bodies are not needed. An account that is gone is
	// [postroom.ErrNotFound], and ends the job. Required.
	Messages func(ctx context.Context, accountID string) iter.Seq2[*postroom.Message, error]
	// Options returns what is known of an account besides its messages. Default nil: nothing.
	Options func(ctx context.Context, accountID string) (Options, error)
}

// A Service looks at mailboxes. It is safe for concurrent use. [New] makes one.
type Service struct{ cfg Config }

// New makes a service; a missing field is an error that names it.
func New(cfg Config) (*Service, error) {
	for _, err := range []error{
		fields.Required("onboarding: Config.DB", cfg.DB, giveDB),
		fields.Required("onboarding: Config.Queue", cfg.Queue, "one made by queue.New"),
		fields.Required("onboarding: Config.Messages", cfg.Messages, "what yields the messages of an account"),
	} {
		if err != nil {
			return nil, err
		}
	}
	if cfg.Options == nil {
		cfg.Options = func(context.Context, string) (Options, error) { return Options{}, nil }
	}
	return &Service{cfg}, nil
}

// Register registers the handler of [Job].
func (s *Service) Register(d *queue.Dispatcher) error {
	if err := fields.Required("onboarding: Register: the dispatcher", d, "what queue.NewDispatcher returns"); err != nil {
		return err
	}
	queue.Handle(d, Job, s.handle)
	return nil
}

// Start enqueues the job of an account in the caller's transaction, and returns its id; that of the one that waits or
// runs, if there is one.
func (s *Service) Start(ctx context.Context, tx queue.Tx, accountID string) (jobID string, err error) {
	job := Job.New(Payload{accountID}, &queue.Options{UserID: accountID, MaxAttempts: attempts.Unattended,
		Key: queue.WhileUnfinished(string(Job) + ":" + accountID)})
	enqueued, err := s.cfg.Queue.EnqueueTx(ctx, tx, job)
	return enqueued.ID, err
}

func (s *Service) handle(ctx context.Context, w *queue.Work[Payload]) error {
	account := w.Payload.ConnectionID
	report, err := s.look(ctx, account)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(fmt.Errorf("onboarding: the account %q is gone: %w", account, err))
	}
	if err != nil {
		return fmt.Errorf("onboarding: look at account %q: %w", account, err)
	}
	w.SetResult(Result{cut(report.String(), maxPreview)})
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		encoded, err := json.Marshal(report)
		if err == nil {
			_, err = dbquery.Exec(ctx, tx, sqlSave, account, dbtime.Of(dbtime.Truncate(queue.Now(tx))),
				dbvalue.Clean(string(encoded)))
		}
		return err
	})
}

func (s *Service) look(ctx context.Context, account string) (Report, error) {
	options, err := s.cfg.Options(ctx, account)
	if err != nil {
		return Report{}, err
	}
	return Look(s.cfg.Messages(ctx, account), options)
}

const (
	sqlSave = `
INSERT INTO onboarding_reports (account_id, made_at, report)
VALUES ($1, $2, $3)
ON CONFLICT (account_id) DO UPDATE
SET made_at = $2, report = $3`

	sqlReport = `
SELECT made_at, report
FROM onboarding_reports
WHERE account_id = $1`

	sqlForget = `DELETE FROM onboarding_reports WHERE account_id = $1`
)

// Report returns the latest report about an account. Without one the error is [postroom.ErrNotFound].
func (s *Service) Report(ctx context.Context, accountID string) (r Report, err error) {
	var row struct {
		MadeAt dbtime.Time `db:"made_at"`
		Report string      `db:"report"`
	}
	err = dbquery.Get(ctx, s.cfg.DB.Reader(), &row, sqlReport, accountID)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Report), &r)
	}
	if err != nil {
		return r, fmt.Errorf("onboarding: read the report about account %q: %w", accountID, err)
	}
	r.MadeAt = row.MadeAt.Time
	return r, nil
}

// Forget removes the report about an account in the caller's transaction.
func (s *Service) Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := dbquery.Exec(ctx, tx, sqlForget, accountID); err != nil {
		return fmt.Errorf("onboarding: forget account %q: %w", accountID, err)
	}
	return nil
}

// maxPreview bounds the result of the job, in characters.
const maxPreview = 500

// String is the report as text, for people.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages", r.Messages)
	if r.Messages > 0 {
		fmt.Fprintf(&b, " from %s to %s", r.Since.Format("2006-01-02"), r.Until.Format("2006-01-02"))
	}
	for _, c := range r.Kinds {
		fmt.Fprintf(&b, "\n%s: %d, %d of them unread", c.Kind, c.Messages, c.Unread)
	}
	fmt.Fprintf(&b, "\n%d rules are suggested", len(r.Rules))
	for i := range r.Rules {
		fmt.Fprintf(&b, "\n%s: label %s; %s", r.Rules[i].Condition.Value, r.Rules[i].Label, r.Rules[i].Why)
	}
	return b.String()
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// Suggested returns the suggested rules, such as for a file of rules.
func (r Report) Suggested() []rules.Rule {
	list := make([]rules.Rule, len(r.Rules))
	for i := range r.Rules {
		list[i] = r.Rules[i].Rule()
	}
	return list
}
