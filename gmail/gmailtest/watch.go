package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/gmail/gmailtest/pubsub"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// watchTTL is the life of a watch.
const watchTTL = 7 * 24 * time.Hour

// A watchRow is the topic and the filter for changes of an account.
type watchRow struct {
	Account int64    `db:"account"`
	Email   string   `db:"email"`
	Topic   string   `db:"topic"`
	Labels  textList `db:"labels"`
	Exclude bool     `db:"exclude"` // all but messages with the labels
	Expires int64    `db:"expires_at"`
}

// wants reports whether a change of a message with the labels is published.
func (w *watchRow) wants(labels []string) bool {
	if len(w.Labels) == 0 {
		return true
	}
	has := slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(w.Labels, l) })
	return has != w.Exclude
}

// watch starts publishing the changes of the account, and publishes one at once, like Gmail.
func (s *Server) watch(ctx context.Context, r *request) (any, error) {
	var request gmail.WatchRequest
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	if !pubsub.IsTopic(request.TopicName) {
		return nil, wire.InvalidArgument("Invalid topicName does not match projects/*/topics/*")
	}
	behavior := strings.ToLower(request.LabelFilterBehavior + request.LabelFilterAction) // one of them is empty
	if !slices.Contains([]string{"", "include", "exclude"}, behavior) {
		return nil, wire.InvalidArgument("Invalid value at 'label_filter_behavior': %q", request.LabelFilterBehavior+
			request.LabelFilterAction)
	}
	now := s.now()
	row := watchRow{Account: r.account.id, Topic: request.TopicName, Labels: request.LabelIds,
		Exclude: behavior == "exclude", Expires: now.Add(watchTTL).UnixMilli()}
	var bounds historyBounds
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := checkLabels(ctx, tx, row.Account, request.LabelIds); err != nil {
			return err
		}
		if err := checkOtherWatch(ctx, tx, &row, now); err != nil {
			return err
		}
		if err := dbquery.Get(ctx, tx, &bounds, selectHistoryBounds, row.Account); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, upsertWatch, row.Account, row.Topic, row.Labels, row.Exclude,
			row.Expires); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, insertFirstNotification, bounds.Newest, row.Labels, row.Account)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &gmail.WatchResponse{HistoryId: bounds.Newest, Expiration: row.Expires}, nil
}

func checkOtherWatch(ctx context.Context, tx queue.Tx, row *watchRow, now time.Time) error {
	var other watchRow
	err := dbquery.Get(ctx, tx, &other, selectWatch, row.Account)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case other.Topic != row.Topic && other.Expires > now.UnixMilli():
		return &wire.Error{
			Status: http.StatusBadRequest, Reason: "failedPrecondition",
			Message: "Only one user push notification client allowed per developer (call /stop then try again)",
		}
	}
	return nil
}

// stop ends publishing. Without a watch it does nothing.
func (s *Server) stop(ctx context.Context, r *request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, deleteWatch, r.account.id)
		return err
	})
}

// For tests that import this package alone; package pubsub describes them.
type (
	// PushTarget is [pubsub.Target].
	PushTarget = pubsub.Target
	// PushFault is [pubsub.Fault].
	PushFault = pubsub.Fault
	// Push is [pubsub.Push].
	Push = pubsub.Push
)

// PushTo adds a target for notifications that are published to its topic from now on. [Server.Issuer] and
// [Server.KeysURL] verify their tokens.
func (s *Server) PushTo(target PushTarget) error { return s.publisher.PushTo(target) }

// FaultPushes adds faults of notifications. If several select one, the first that is due applies.
func (s *Server) FaultPushes(faults ...PushFault) { s.publisher.Fault(faults...) }

// ClearPushFaults removes all faults of notifications, and opens their gates.
func (s *Server) ClearPushFaults() { s.publisher.ClearFaults() }

// Pushes returns the last deliveries of notifications, including attempts, in the order in which they ended: at least
// 5,000, if there were as many.
func (s *Server) Pushes() []Push { return s.publisher.Pushes() }

// A notificationRow is a change that has not been published.
type notificationRow struct {
	ID        int64    `db:"id"`
	Account   int64    `db:"account"`
	HistoryID uint64   `db:"history_id"`
	Labels    textList `db:"labels"`
}

// takeNotifications takes the changes that were not published: for each account, only the newest change that its
// watch wants, since Gmail does not report each one.
func (s *Server) takeNotifications(ctx context.Context) ([]pubsub.Notification, error) {
	var rows []notificationRow
	var watches []watchRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := dbquery.Select(ctx, tx, &watches, selectWatches, s.now().UnixMilli()); err != nil {
			return err
		}
		return dbquery.Select(ctx, tx, &rows, takeNotifications)
	})
	if err != nil {
		return nil, err
	}
	var pending []pubsub.Notification
	for i := range watches {
		w := &watches[i]
		var newest uint64
		for _, row := range rows {
			if row.Account == w.Account && w.wants(row.Labels) {
				newest = max(newest, row.HistoryID)
			}
		}
		if newest > 0 {
			pending = append(pending, pubsub.Notification{Topic: w.Topic, Email: w.Email, HistoryID: newest})
		}
	}
	return pending, nil
}
