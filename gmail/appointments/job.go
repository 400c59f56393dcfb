package appointments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// Job keeps the appointments of one message; [Keeper.Follow] enqueues it.
const Job queue.Type[Payload] = "appointments"

// A Payload names the message of a [Job], by its UUID.
type Payload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"`
}

// Follow has what is kept of a message follow what is known of it, in the transaction that changes that.
func (k *Keeper) Follow(ctx context.Context, tx queue.Tx, accountID, messageID string) error {
	_, err := k.cfg.Queue.EnqueueTx(ctx, tx, Job.New(Payload{accountID, messageID}, &queue.Options{
		Key: queue.Coalesce(accountID + ":" + messageID), MaxAttempts: attempts.Unattended}))
	return err
}

// Register registers the handler of [Job], with the options.
func (k *Keeper) Register(d *queue.Dispatcher, opts ...queue.HandlerOption) error {
	err := fields.Required("appointments: Register: the Dispatcher", d, "one made by queue.NewDispatcher")
	if err == nil {
		queue.Handle(d, Job, k.keep, opts...)
	}
	return err
}

func (k *Keeper) keep(ctx context.Context, w *queue.Work[Payload]) error {
	if k.cfg.Held != nil {
		err := k.cfg.Held(ctx)
		if errors.Is(err, postroom.ErrHeld) {
			return wait(w.Attempt, err)
		}
		if err != nil {
			return err
		}
	}
	if k.cfg.Drafts != nil {
		return k.draft(ctx, w)
	}
	return k.files(ctx, w)
}

// wait gives a job back for a while.
func wait(w *queue.Attempt, why error) error {
	return queue.Defer(why, attempts.Held(w.Job.Interruptions, time.Time{}, time.Time{}))
}

// find returns what the message of a job names. The job of one that is gone is canceled.
func (k *Keeper) find(ctx context.Context, p Payload) (Found, error) {
	found, err := k.cfg.Find(ctx, p.AccountID, p.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return found, queue.Cancel(fmt.Errorf("appointments: message %s is no longer known: %w", p.MessageID, err))
	}
	if err != nil {
		return found, gmailapi.Verdict(fmt.Errorf("appointments: find those of message %s: %w", p.MessageID, err))
	}
	return found, nil
}

// name is the name of a file of an appointment, without its ending.
func (a *Appointment) name() string { return cleanName(a.Day + " " + cmp.Or(a.Title, "Appointment")) }

// names reports whether a file that was written at the path has the name of the appointment.
func (a *Appointment) names(at string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(at, ending), a.name())
	return ok && (rest == "" || strings.HasPrefix(rest, " "+a.digits()))
}

// digits are added to a name that is taken.
func (a *Appointment) digits() string { return hashOf([]byte(a.ID))[:6] }
