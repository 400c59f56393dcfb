package tasks

import (
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
)

// A Task is something to be done about a message.
type Task struct {
	ID        string // the id of the action that made it
	AccountID string
	MessageID string // the id of the stored message
	Title     string
	Notes     string    // empty if there are none
	Due       time.Time // zero if it is due at no time
	CreatedAt time.Time
	ClosedAt  time.Time // zero while it is open
	ClosedBy  string    // who closed it
}

// Open reports whether the task is yet to be done.
func (t *Task) Open() bool { return t.ClosedAt.IsZero() }

type taskRow struct {
	ID        string      `db:"id"`
	AccountID string      `db:"account_id"`
	MessageID string      `db:"message_id"`
	Title     string      `db:"title"`
	Notes     string      `db:"notes"`
	Due       dbtime.Time `db:"due_at"`
	CreatedAt dbtime.Time `db:"created_at"`
	ClosedAt  dbtime.Time `db:"closed_at"`
	ClosedBy  string      `db:"closed_by"`
}

func (r *taskRow) task() Task {
	return Task{
		ID: r.ID, AccountID: r.AccountID, MessageID: r.MessageID, Title: r.Title, Notes: r.Notes, Due: r.Due.Time,
		CreatedAt: r.CreatedAt.Time, ClosedAt: r.ClosedAt.Time, ClosedBy: r.ClosedBy,
	}
}
