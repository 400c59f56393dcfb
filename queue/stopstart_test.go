package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A starting driver stops its dispatcher at its first call of a kind.
type starting struct {
	driver.Driver
	onBeat, onWorkers, afterBeat func()
}

func (s *starting) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	s.onBeat()
	alive, err := s.Driver.Heartbeat(ctx, req)
	s.afterBeat()
	return alive, err
}

func (s *starting) Workers(ctx context.Context) ([]driver.Worker, error) {
	s.onWorkers()
	return s.Driver.Workers(ctx)
}

// A dispatcher that is stopped while it starts has stopped as any other has.
func TestADispatcherThatIsStoppedWhileItStarts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		for name, at := range map[string]func(s *starting, stop func()){
			"before it starts":            func(_ *starting, stop func()) { stop() },
			"before it registers":         func(s *starting, stop func()) { s.onBeat = stop },
			"once it has registered":      func(s *starting, stop func()) { s.afterBeat = stop },
			"while it looks for the dead": func(s *starting, stop func()) { s.onWorkers = stop },
		} {
			for _, untilIdle := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					ctx, stop := context.WithCancel(t.Context())
					defer stop()
					nothing := func() {}
					s := &starting{Driver: db.Driver(), onBeat: nothing, onWorkers: nothing, afterBeat: nothing}
					at(s, stop)
					d, err := queue.NewDispatcher(on(t, s, nil), &queue.DispatcherConfig{Exclusive: true})
					require.NoError(t, err)
					queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
					run := d.Run
					if untilIdle {
						run = d.RunUntilIdle
					}
					require.NoError(t, run(ctx))
					workers, err := s.Driver.Workers(t.Context())
					require.NoError(t, err)
					require.Empty(t, workers)
				})
			}
		}
	})
}
