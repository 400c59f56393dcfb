package queue

import (
	"context"
	"log/slog"

	"github.com/postroom-go/postroom/queue/driver"
)

// The listener learns from the database when there may be work. Where that fails, polling finds it.
type listener struct {
	driver driver.Notifier
	log    *slog.Logger
	heard  func()
}

func (l *listener) run(ctx context.Context) {
	if err := l.driver.Listen(ctx, l.heard); err != nil && ctx.Err() == nil {
		l.log.WarnContext(ctx, "listening for new jobs failed; polling goes on", logError, err)
	}
}
