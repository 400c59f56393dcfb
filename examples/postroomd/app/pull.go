package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/pubsub"
)

// The delays between attempts to pull, after an error that a person has to resolve.
const (
	firstPullDelay = 15 * time.Second
	lastPullDelay  = 15 * time.Minute
)

// pull pulls Gmail's notifications until ctx is done, if that is configured. Without it, polls still find mail, so an
// error does not stop the daemon: it is logged, and pulling is retried.
func (h *App) pull(ctx context.Context) {
	if !h.Env.Config.Gmail.UsePubsub {
		return
	}
	for delay := firstPullDelay; ; delay = min(2*delay, lastPullDelay) {
		began := time.Now()
		err := h.pullOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > lastPullDelay {
			delay = firstPullDelay
		}
		h.Log.Error("notifications are not pulled; trying again", "error", err, "in", delay)
		again := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			again.Stop()
			return
		case <-again.C:
		}
	}
}

func (h *App) pullOnce(ctx context.Context) error {
	receiver, err := h.NewReceiver()
	if err != nil {
		return err
	}
	g := h.Env.Config.Gmail
	p, err := pubsub.New(ctx, pubsub.Config{
		Receiver: receiver, Project: cmp.Or(g.ProjectID, projectOf(g.Topic)), Subscription: g.Subscription, Logger: h.Log,
	})
	if err != nil {
		return err
	}
	h.Log.Info("notifications are pulled", "subscription", g.Subscription)
	err = p.Run(ctx)
	if late := p.Close(); late != nil {
		h.Log.Warn("the connection to Pub/Sub is not closed", "error", late)
	}
	return err
}

// projectOf returns the project of a topic: projects/PROJECT/topics/TOPIC.
func projectOf(topic string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(topic, "projects/"), "/")
	return name
}
