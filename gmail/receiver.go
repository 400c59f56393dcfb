package gmail

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// A Notification is the message that Gmail publishes when a mailbox has changed.
type Notification struct {
	Email     string
	HistoryID uint64 // of the latest change; 0 if Gmail names none
}

// ParseNotification reads the data of a Pub/Sub message from Gmail: JSON, in which the history id is a number or a
// string.
func ParseNotification(data []byte) (Notification, error) {
	var body struct {
		Email     string          `json:"emailAddress"`
		HistoryID json.RawMessage `json:"historyId"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return Notification{}, fmt.Errorf("gmail: notification: %w", err)
	}
	if !strings.Contains(body.Email, "@") {
		return Notification{}, fmt.Errorf("gmail: notification: emailAddress is %.100q", body.Email)
	}
	text := string(bytes.Trim(body.HistoryID, `"`))
	if text == "" || text == "null" {
		return Notification{Email: body.Email}, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return Notification{}, fmt.Errorf("gmail: notification: historyId is %.100q", text)
	}
	return Notification{Email: body.Email, HistoryID: id}, nil
}

// A ReceiverConfig configures a [Receiver]. It is copied and checked once, by [NewReceiver].
type ReceiverConfig struct {
	// Queue gets the history syncs. Required.
	Queue *queue.Queue
	// Store has the accounts. Required.
	Store *mailstore.Store
	// Logger logs notifications that cannot be read or are about no account. Default [slog.Default].
	Logger *slog.Logger
}

// A Receiver turns notifications into jobs. It is safe for concurrent use.
type Receiver struct{ cfg ReceiverConfig }

// NewReceiver makes a receiver; a missing field is an error that names it.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	err := errors.Join(
		fields.Required("gmail: ReceiverConfig.Queue", cfg.Queue, "a queue made by queue.New"),
		fields.Required("gmail: ReceiverConfig.Store", cfg.Store, giveStore),
	)
	if err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	return &Receiver{cfg}, nil
}

// Receive handles the data of one Pub/Sub message from Gmail, and enqueues a history sync for the account. At most
// one sync of an account waits, for all notifications until it begins. When Receive returns nil, the job is durable,
// or there is nothing to do: a notification that cannot be parsed, or is about an unknown mailbox, is logged.
// Acknowledge the message then, and not after an error, so that it is delivered again.
func (r *Receiver) Receive(ctx context.Context, data []byte) error {
	n, err := ParseNotification(data)
	if err != nil {
		r.cfg.Logger.WarnContext(ctx, "a notification cannot be read and is dropped", "error", err)
		return nil
	}
	account, err := r.cfg.Store.AccountByEmail(ctx, n.Email)
	if errors.Is(err, postroom.ErrNotFound) {
		r.cfg.Logger.WarnContext(ctx, "a notification is about no account and is dropped", "email", n.Email)
		return nil
	}
	if err != nil {
		return err
	}
	if n.HistoryID != 0 && n.HistoryID <= account.HistoryID {
		return nil // its change has been queued
	}
	return r.enqueue(ctx, account.ID)
}

// enqueue enqueues a sync, unless one has yet to begin: however long an account is paused, one waits. A running sync
// may have read the history already, so another one follows it.
func (r *Receiver) enqueue(ctx context.Context, accountID string) error {
	for again := 0; ; again++ {
		enqueued, err := r.cfg.Queue.Enqueue(ctx, HistorySyncPayload{AccountID: accountID}.job(again))
		if err != nil || !enqueued.Duplicate {
			return err
		}
		waiting, err := r.cfg.Queue.Job(ctx, enqueued.ID)
		if err == nil && waiting.State == queue.StateQueued {
			return nil
		}
		if err != nil && !errors.Is(err, queue.ErrJobNotFound) {
			return err
		}
	}
}
