package gmailapi

import (
	"context"
	"time"

	api "google.golang.org/api/gmail/v1"
)

// Watch asks Gmail to publish changes of the mailbox under a topic of Pub/Sub, and returns when Gmail stops
// publishing. If a watch for another topic is active, Watch stops it and asks again: it makes up to three calls.
func (c *Client) Watch(ctx context.Context, topic string) (expires time.Time, err error) {
	expires, err = c.watch(ctx, topic)
	if ClassOf(err) != ClassConflict {
		return expires, err
	}
	if err := c.StopWatch(ctx); err != nil {
		return time.Time{}, err
	}
	return c.watch(ctx, topic)
}

func (c *Client) watch(ctx context.Context, topic string) (expires time.Time, err error) {
	err = c.do(ctx, MethodWatch, "watch", ClassNotFound, func(ctx context.Context) error {
		answer, err := c.service.Users.Watch(c.user, &api.WatchRequest{TopicName: topic}).Context(ctx).Do()
		if err == nil {
			expires = time.UnixMilli(answer.Expiration).UTC()
		}
		return err
	})
	return expires, err
}

// StopWatch ends the publishing of changes of the mailbox. Without a watch it is no error.
func (c *Client) StopWatch(ctx context.Context) error {
	return c.do(ctx, MethodStop, "stop watch", ClassNotFound, func(ctx context.Context) error {
		return c.service.Users.Stop(c.user).Context(ctx).Do()
	})
}
