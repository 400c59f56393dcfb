package view

import (
	"context"
	"io"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/tasks"
)

// A Task is something to be done about a message.
type Task struct {
	ID        string    `json:"id"` // also that of the action that made it
	Mailbox   string    `json:"mailbox"`
	MessageID string    `json:"message_id"`
	Title     string    `json:"title"`
	Notes     string    `json:"notes,omitempty"`
	Due       time.Time `json:"due,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	ClosedAt  time.Time `json:"closed_at,omitzero"`
	ClosedBy  string    `json:"closed_by,omitempty"`
}

// Open reports whether it is yet to be done.
func (t Task) Open() bool { return t.ClosedAt.IsZero() }

// Tasks are a page of tasks, the latest first.
type Tasks struct {
	List []Task `json:"tasks"`
	Next string `json:"next,omitempty"` // the id of the task after which the next page begins; empty on the last one
}

// NewTasks reads a page of tasks; the limit of the filter is that of the page.
func NewTasks(ctx context.Context, h *app.App, f tasks.Filter) (v Tasks, err error) {
	page := f.Limit
	f.Limit++
	list, err := h.Tasks.List(ctx, f)
	if err != nil {
		return v, err
	}
	if len(list) > page {
		list = list[:page]
		v.Next = list[page-1].ID
	}
	mailboxes, err := Mailboxes(ctx, h)
	v.List = printer.List(list, func(t tasks.Task) Task { return newTask(t, mailboxes) })
	return v, err
}

// NewTask views one task.
func NewTask(ctx context.Context, h *app.App, id string) (v Task, err error) {
	t, err := h.Tasks.Task(ctx, id)
	if err != nil {
		return v, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	return newTask(t, mailboxes), err
}

func newTask(t tasks.Task, mailboxes map[string]string) Task {
	return Task{
		ID: t.ID, Mailbox: mailboxes[t.AccountID], MessageID: t.MessageID, Title: t.Title, Notes: t.Notes, Due: t.Due,
		CreatedAt: t.CreatedAt, ClosedAt: t.ClosedAt, ClosedBy: t.ClosedBy,
	}
}

// PrintTask prints a task for people.
func PrintTask(w io.Writer, t Task) error {
	f := printer.NewFields(w)
	f.Add("id", t.ID)
	f.Add("task", t.Title)
	f.Add("notes", t.Notes)
	f.Add("due", printer.Clock(t.Due))
	f.Add("mailbox", t.Mailbox)
	f.Add("message", t.MessageID)
	f.Add("made", printer.Clock(t.CreatedAt))
	f.Add("closed", printer.Clock(t.ClosedAt))
	f.Add("closed by", t.ClosedBy)
	return f.Flush()
}
