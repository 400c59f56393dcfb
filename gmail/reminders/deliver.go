package reminders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// JobDelivery delivers a reminder.
const JobDelivery queue.Type[Payload] = "reminder_delivery"

// A Payload names the reminder of a [JobDelivery].
type Payload struct {
	ReminderID string `json:"reminder_id"`
	UserID     string `json:"user_id"`
}

// A Result is that of a [JobDelivery].
type Result struct {
	Delivered  bool   `json:"delivered,omitempty"`
	ReminderID string `json:"reminder_id,omitempty"`
	Skipped    bool   `json:"skipped,omitempty"`
	Reason     string `json:"reason,omitempty"` // why it is skipped
}

// Register registers the handler of [JobDelivery].
func (s *Store) Register(d *queue.Dispatcher) error {
	if err := fields.Required("reminders: Register: the dispatcher", d, "what queue.NewDispatcher returns"); err != nil {
		return err
	}
	queue.Handle(d, JobDelivery, s.handle)
	return nil
}

func (s *Store) handle(ctx context.Context, w *queue.Work[Payload]) error {
	result, err := queue.StepTx(ctx, w, "deliver", func(ctx context.Context, tx queue.Tx) (Result, error) {
		return s.deliver(ctx, tx, w)
	})
	if err != nil {
		return fmt.Errorf("reminders: deliver %q: %w", w.Payload.ReminderID, err)
	}
	w.SetResult(result)
	return nil
}

// deliver records that a reminder has come, and tells the user, unless it is not to come any more.
func (s *Store) deliver(ctx context.Context, tx queue.Tx, w *queue.Work[Payload]) (Result, error) {
	id, now := w.Payload.ReminderID, dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	waits, err := read(ctx, tx, id) // when it was to come: what is due is forgotten below
	if errors.Is(err, postroom.ErrNotFound) {
		return Result{Skipped: true, Reason: "Reminder not found"}, nil
	}
	if err != nil {
		return Result{}, err
	}
	at := waits.DueAt.Time
	var r row
	if firing, recurs := w.Job.Firing(); recurs {
		at = firing.At
		err = dbquery.Get(ctx, tx, &r, sqlDeliverFiring, now, id)
	} else {
		err = dbquery.Get(ctx, tx, &r, sqlDeliver, now, id, w.Job.ID)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows) && waits.State == Canceled:
		return Result{Skipped: true, Reason: "it was canceled"}, nil
	case errors.Is(err, sql.ErrNoRows):
		return Result{Skipped: true, Reason: "it comes at another time"}, nil
	case err != nil:
		return Result{}, err
	}
	d := Delivery{Reminder: r.reminder(time.Time{}), Key: r.ID + " " + w.Job.ID, At: at}
	return Result{Delivered: true, ReminderID: r.ID}, s.cfg.Deliver(ctx, tx, d)
}
