package reminders

import (
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// A State is the state of a reminder.
type State string

// The states.
const (
	Scheduled State = "scheduled" // it is to come
	Delivered State = "delivered" // it comes once, and has come
	Canceled  State = "canceled"
)

// A Reminder is something that a user is told at a time.
type Reminder struct {
	ID     string
	UserID string
	Title  string
	Body   string // empty: the title says it all
	// Cron and Zone are those of a reminder that recurs; empty for one that comes once.
	Cron, Zone string
	State      State
	// Next is when it comes next; zero if it does not.
	Next        time.Time
	Deliveries  int       // how often it has come
	DeliveredAt time.Time // the last time; zero before
	CreatedAt   time.Time
}

// Recurs reports whether it comes again and again.
func (r *Reminder) Recurs() bool { return r.Cron != "" }

// A Delivery is one time that a reminder comes.
type Delivery struct {
	Reminder Reminder
	// Key names the delivery: no two have the same.
	Key string
	// At is when it was to come.
	At time.Time
}

const columns = `id, user_id, title, body, cron, zone, state, due_at, job_id, deliveries, delivered_at, created_at`

type row struct {
	ID          string      `db:"id"`
	UserID      string      `db:"user_id"`
	Title       string      `db:"title"`
	Body        string      `db:"body"`
	Cron        string      `db:"cron"`
	Zone        string      `db:"zone"`
	State       State       `db:"state"`
	DueAt       dbtime.Time `db:"due_at"`
	JobID       string      `db:"job_id"` // empty: no job waits
	Deliveries  int         `db:"deliveries"`
	DeliveredAt dbtime.Time `db:"delivered_at"`
	CreatedAt   dbtime.Time `db:"created_at"`
}

// reminder returns the reminder whose schedule fires next at an instant; zero if it has none.
func (r *row) reminder(fires time.Time) Reminder {
	next := r.DueAt.Time
	if next.IsZero() || !fires.IsZero() && fires.Before(next) {
		next = fires
	}
	return Reminder{ID: r.ID, UserID: r.UserID, Title: r.Title, Body: r.Body, Cron: r.Cron, Zone: r.Zone, State: r.State,
		Next: next, Deliveries: r.Deliveries, DeliveredAt: r.DeliveredAt.Time, CreatedAt: r.CreatedAt.Time}
}
