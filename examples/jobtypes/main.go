// Jobtypes is a service with users, and three types of jobs of its own: one looks at the mail of a user who has just
// connected a mailbox, one has a model tell a user something at a time, and one reminds. The payloads and results are
// what the service has promised to others; the handlers are packages of Postroom, or short. Copy what you need.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/openai"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules/onboarding"
)

// An Invocation has a model tell a user something.
type Invocation struct {
	ID        string          `json:"id"` // of the schedule
	UserID    string          `json:"user_id"`
	AgentName string          `json:"agent_name"`
	Prompt    string          `json:"prompt"`
	Config    json.RawMessage `json:"config"`
}

// Told is the result of an [Invocation].
type Told struct {
	Output         string `json:"output"`
	DurationMS     int64  `json:"duration_ms"`
	PendingActions int    `json:"pending_actions"` // always 0: it only tells
}

// jobTell is the service's own type; those of the packages are email_processing and reminder_delivery.
const jobTell queue.Type[Invocation] = "agent_invocation"

// inbox is where users are told things. A real service pushes them to a phone.
const inbox = `CREATE TABLE IF NOT EXISTS inbox (user_id TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL)`

// A service has one of each part, all on one database.
type service struct {
	db         queue.DB
	queue      *queue.Queue
	reminders  *reminders.Store
	onboarding *onboarding.Service
	model      llm.Client
	mail       func(ctx context.Context, userID string) iter.Seq2[*postroom.Message, error] // newest first
}

func newService(ctx context.Context, db queue.DB, model llm.Client,
	mail func(context.Context, string) iter.Seq2[*postroom.Message, error]) (*service, error) {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, reminders.Migrate, onboarding.Migrate} {
		if err := migrate(ctx, db); err != nil {
			return nil, err
		}
	}
	s := &service{db: db, model: model, mail: mail}
	var err error
	if s.queue, err = queue.New(db, nil); err != nil {
		return nil, err
	}
	if s.reminders, err = reminders.New(reminders.Config{DB: db, Queue: s.queue,
		Deliver: func(ctx context.Context, tx queue.Tx, d reminders.Delivery) error {
			return notify(ctx, tx, d.Reminder.UserID, "Reminder: "+d.Reminder.Title, d.Reminder.Body)
		}}); err != nil {
		return nil, err
	}
	if s.onboarding, err = onboarding.New(onboarding.Config{DB: db, Queue: s.queue, Messages: mail}); err != nil {
		return nil, err
	}
	return s, db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, inbox)
		return err
	})
}

// notify tells a user something, in the transaction of what happened: it is told once, or not at all.
func notify(ctx context.Context, tx queue.Tx, userID, title, body string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO inbox (user_id, title, body) VALUES ($1, $2, $3)", userID, title, body)
	return err
}

// register registers all handlers: each is called by the type of its jobs.
func (s *service) register(d *queue.Dispatcher) error {
	queue.Handle(d, jobTell, s.tell)
	return errors.Join(s.reminders.Register(d), s.onboarding.Register(d))
}

// tell asks the model once, whatever happens to the process: its answer is a step of the job.
func (s *service) tell(ctx context.Context, w *queue.Work[Invocation]) error {
	report, err := onboarding.Look(s.mail(ctx, w.Payload.UserID), onboarding.Options{})
	if err != nil {
		return err
	}
	told, err := queue.Step(ctx, w, "ask", func(ctx context.Context) (Told, error) {
		begun := time.Now()
		// What others have written is data between marks, and the model can do nothing but answer. Package llm/agent has
		// more bounds: limits of a day, of tokens and of cost, and a log of each run.
		resp, err := llm.Complete(ctx, s.model, &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser,
			Text: w.Payload.Prompt + "\n<<<mail\n" + report.String() + "\n<<<mail"}}})
		if err != nil {
			return Told{}, llm.HandlerError(err)
		}
		return Told{Output: cut(resp.Text, 5000), DurationMS: time.Since(begun).Milliseconds()}, nil
	})
	if err != nil {
		return err
	}
	w.SetResult(told)
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		return notify(ctx, tx, w.Payload.UserID, w.Payload.AgentName, told.Output)
	})
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}
	return text
}

// connect begins with a user who has connected a mailbox: the first look now, and a summary every weekday.
func (s *service) connect(ctx context.Context, userID, zone string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := s.onboarding.Start(ctx, tx, userID); err != nil {
			return err
		}
		id := "morning:" + userID
		return s.queue.SetScheduleTx(ctx, tx, queue.Schedule{Name: id, Cron: "30 7 * * MON-FRI", Zone: zone,
			Job: jobTell.New(Invocation{ID: id, UserID: userID, AgentName: "morning", Prompt: "Summarise what came.",
				Config: json.RawMessage("{}")}, &queue.Options{UserID: userID, Key: queue.WhileUnfinished(id)})})
	})
}

// remind has a user reminded of something, in words such as "tomorrow 9:30" in the user's zone.
func (s *service) remind(ctx context.Context, userID, title, when string, zone *time.Location) error {
	at, err := reminders.ParseTime(when, time.Now().In(zone))
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := s.reminders.Add(ctx, tx, reminders.NewReminder{UserID: userID, Title: title, At: at})
		return err
	})
}

// remove deletes a user: jobs, schedules, reminders, the report, and what the user was told.
func (s *service) remove(ctx context.Context, userID string) error {
	if _, err := queueadmin.DeleteUser(ctx, s.queue, userID, nil); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM inbox WHERE user_id = $1", userID)
		return errors.Join(err, s.reminders.Forget(ctx, tx, userID), s.onboarding.Forget(ctx, tx, userID))
	})
}

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	db, err := sqlite.Open(ctx, "jobtypes.db", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	model, err := openai.New(openai.Config{Model: "gpt-4o-mini", Key: llm.Secret(os.Getenv("OPENAI_API_KEY"))})
	if err != nil {
		return err
	}
	noMail := func(context.Context, string) iter.Seq2[*postroom.Message, error] { // your store of mail
		return func(func(*postroom.Message, error) bool) {}
	}
	s, err := newService(ctx, db, model, noMail)
	if err != nil {
		return err
	}
	d, err := queue.NewDispatcher(s.queue, nil)
	if err != nil {
		return err
	}
	if err := cmp.Or(s.register(d), s.connect(ctx, "ada", "Europe/Berlin"),
		s.remind(ctx, "ada", "Call Ben", "in 1 hour", time.Local)); err != nil {
		return err
	}
	return d.Run(ctx)
}
