package reminders

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the table of this package, reminders, or brings it up to date. Call it at every start; several
// processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("reminders: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/reminders", migrations)
}

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the reminders. Required; [Migrate] must have prepared it. It must be that of the queue.
	DB queue.DB
	// Queue has the jobs and the schedules. Required.
	Queue *queue.Queue
	// Deliver tells the user, in the transaction that records the delivery: it writes and enqueues with the transaction,
	// and calls nobody. Required.
	Deliver func(ctx context.Context, tx queue.Tx, d Delivery) error
}

// A Store keeps reminders. It is safe for concurrent use. [New] makes one.
type Store struct{ cfg Config }

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	for _, err := range []error{
		fields.Required("reminders: Config.DB", cfg.DB, giveDB),
		fields.Required("reminders: Config.Queue", cfg.Queue, "one made by queue.New"),
		fields.Required("reminders: Config.Deliver", cfg.Deliver, "what tells the user"),
	} {
		if err != nil {
			return nil, err
		}
	}
	return &Store{cfg}, nil
}

// The conditions that a caller can act on. An unknown id is [postroom.ErrNotFound].
var (
	// ErrInvalid: the values are not those of a reminder.
	ErrInvalid = errors.New("invalid reminder")
	// ErrCanceled: the reminder was canceled before.
	ErrCanceled = errors.New("the reminder is canceled")
	// ErrTooMany: as many reminders of the user as may are still to come.
	ErrTooMany = fmt.Errorf("%d reminders are open, which is the limit: cancel some", maxOpen)
)

// Reminder returns a reminder.
func (s *Store) Reminder(ctx context.Context, id string) (Reminder, error) {
	r, err := read(ctx, s.cfg.DB.Reader(), id)
	if err != nil {
		return Reminder{}, err
	}
	list, err := s.withNext(ctx, []row{r})
	if err != nil {
		return Reminder{}, err
	}
	return list[0], nil
}

func read(ctx context.Context, q dbquery.Querier, id string) (r row, err error) {
	err = dbquery.Get(ctx, q, &r, sqlReminder, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return r, fmt.Errorf("reminders: read reminder %q: %w", id, err)
	}
	return r, nil
}

// A Filter selects reminders. The zero Filter selects the newest of all users, in all states.
type Filter struct {
	UserID string // empty: of all users
	// Open leaves out those that are canceled, and those that came once before DeliveredSince.
	Open bool
	// DeliveredSince is for Open: one that came once is listed if it came after this. Zero: all.
	DeliveredSince time.Time
	// Before continues a list: the id of the last reminder of the page before. Default: the first page.
	Before string
	// Limit is the most reminders that are listed, from 1 to 1000. Default 50.
	Limit int
}

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// List returns reminders, those that were made last first.
func (s *Store) List(ctx context.Context, f Filter) ([]Reminder, error) {
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if f.Limit < 0 || f.Limit > maxLimit {
		return nil, fmt.Errorf("reminders: list: Filter.Limit is %d; it must be from 1 to %d, or 0 for %d", f.Limit,
			maxLimit, defaultLimit)
	}
	var where maildb.Filter
	where.Add("1 = 1")
	if f.UserID != "" {
		where.Add("user_id = %s", f.UserID)
	}
	if f.Open {
		where.Add("state <> 'canceled'")
	}
	if f.Open && !f.DeliveredSince.IsZero() {
		where.Add("(state <> 'delivered' OR delivered_at > %s)", dbtime.Of(f.DeliveredSince))
	}
	if f.Before != "" {
		where.Add("id < %s", f.Before)
	}
	query := "SELECT " + columns + "\nFROM reminders" + where.Where() + "\nORDER BY id DESC\nLIMIT " + where.Arg(f.Limit)
	var rows []row
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, query, where.Args...); err != nil {
		return nil, fmt.Errorf("reminders: list: %w", err)
	}
	return s.withNext(ctx, rows)
}

// withNext adds the instants of the schedules, which the queue keeps.
func (s *Store) withNext(ctx context.Context, rows []row) ([]Reminder, error) {
	next := map[string]time.Time{}
	for i := range rows {
		if rows[i].Cron == "" || rows[i].State != Scheduled {
			continue
		}
		schedules, err := s.cfg.Queue.Schedules(ctx)
		if err != nil {
			return nil, fmt.Errorf("reminders: read the schedules: %w", err)
		}
		for _, s := range schedules {
			if id, ours := strings.CutPrefix(s.Name, schedulePrefix); ours {
				next[id] = s.NextAt
			}
		}
		break
	}
	list := make([]Reminder, len(rows))
	for i := range rows {
		var fires time.Time
		if rows[i].State == Scheduled {
			fires = next[rows[i].ID]
		}
		list[i] = rows[i].reminder(fires)
	}
	return list, nil
}
