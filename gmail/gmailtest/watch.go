package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// watchTTL is the life of a watch.
const watchTTL = 7 * 24 * time.Hour

var topicName = regexp.MustCompile(`^projects/[a-z][a-z0-9.:-]*/topics/[A-Za-z][A-Za-z0-9._~%+-]{2,254}$`)

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
	if !topicName.MatchString(request.TopicName) {
		return nil, invalidArgument("Invalid topicName does not match projects/*/topics/*")
	}
	behavior := strings.ToLower(request.LabelFilterBehavior + request.LabelFilterAction) // one of them is empty
	if !slices.Contains([]string{"", "include", "exclude"}, behavior) {
		return nil, invalidArgument("Invalid value at 'label_filter_behavior': %q", request.LabelFilterBehavior+request.LabelFilterAction)
	}
	now := s.now()
	row := watchRow{Account: r.account.id, Topic: request.TopicName, Labels: request.LabelIds, Exclude: behavior == "exclude", Expires: now.Add(watchTTL).UnixMilli()}
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
		if _, err := tx.ExecContext(ctx, upsertWatch, row.Account, row.Topic, row.Labels, row.Exclude, row.Expires); err != nil {
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
		return &apiError{
			status: http.StatusBadRequest, reason: "failedPrecondition",
			message: "Only one user push notification client allowed per developer (call /stop then try again)",
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
