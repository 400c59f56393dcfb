package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A handler that fails is heard of without a Config.Logger; only slog.DiscardHandler is silent.
func TestWithoutALoggerFailuresGoToTheDefaultLogger(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	for silent, cfg := range map[bool]*queue.Config{
		false: nil,
		true:  {Logger: slog.New(slog.DiscardHandler)},
	} {
		log.Reset()
		q := on(t, queuetest.New(t).DB().Driver(), cfg)
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		work(t, q, func(context.Context, *queue.Work[int]) error { return errBroken })
		require.Equal(t, queue.StateFailed, job(t, q, id).State)
		if silent {
			require.Empty(t, log.String())
		} else {
			require.Contains(t, log.String(), errBroken.Error())
			require.Contains(t, log.String(), id)
		}
	}
}
