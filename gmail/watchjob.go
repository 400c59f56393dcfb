package gmail

import (
	"context"
	"regexp"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
)

// topicName is the form of the names of Pub/Sub's topics.
var topicName = regexp.MustCompile(`^projects/[^/]+/topics/[^/]+$`)

// watch renews the watch. The history id of Gmail's answer is of no use: a sync starts from the cursor.
func (j *jobs) watch(ctx context.Context, w *queue.Work[WatchPayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	expires, err := client.Watch(ctx, j.Topic)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		return j.Store.Progress().SetWatch(ctx, tx, account.ID, expires)
	})
}
