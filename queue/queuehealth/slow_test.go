package queuehealth_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queuehealth"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A hanging driver does not answer, and does not heed contexts, like one whose disk has gone.
type hanging struct {
	driver.Driver
	gone  atomic.Bool
	asked atomic.Int64
	back  chan struct{}
}

func (h *hanging) Unwrap() driver.Driver { return h.Driver }

func (h *hanging) wait() {
	if h.gone.Load() {
		h.asked.Add(1)
		<-h.back
	}
}

func (h *hanging) CheckTables(ctx context.Context) error {
	h.wait()
	checker, _ := driver.As[driver.TableChecker](h.Driver)
	return checker.CheckTables(ctx)
}

func (h *hanging) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	h.wait()
	return h.Driver.Stats(ctx, query)
}

func (h *hanging) Workers(ctx context.Context) ([]driver.Worker, error) {
	h.wait()
	return h.Driver.Workers(ctx)
}

func TestAnswersComeInTimeWhenTheDatabaseHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		d := &hanging{Driver: q.DB().Driver(), back: make(chan struct{})}
		q, err := queue.New(queue.NewDB(d), nil)
		require.NoError(t, err)
		h, err := queuehealth.Handler(q, nil)
		require.NoError(t, err)
		reader := sdk.NewManualReader()
		_, err = queuehealth.Measure(q, &queuehealth.Config{MeterProvider: sdk.NewMeterProvider(sdk.WithReader(reader))})
		require.NoError(t, err)

		d.gone.Store(true)
		begun := time.Now()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				a := get(t, h, "/ready")
				require.Equal(t, http.StatusServiceUnavailable, a.code)
				require.Contains(t, a.Error, "the database has not answered within 2s")
			})
		}
		all.Wait()
		require.Equal(t, 2*time.Second, time.Since(begun))
		require.Equal(t, int64(1), d.asked.Load(), "the others wait for the same answer")
		require.Equal(t, http.StatusOK, get(t, h, "/live").code)

		begun = time.Now()
		for range 3 {
			all.Go(func() { require.Equal(t, http.StatusServiceUnavailable, get(t, h, "/doctor").code) })
		}
		all.Wait()
		require.Equal(t, 10*time.Second, time.Since(begun))
		begun = time.Now()
		require.Equal(t, map[string]float64{"": 0}, collect(t, reader)["postroom_queue_up"])
		require.Equal(t, 4*time.Second, time.Since(begun))
		require.Equal(t, int64(3), d.asked.Load())

		d.gone.Store(false)
		close(d.back)
		synctest.Wait()
		require.Equal(t, http.StatusOK, get(t, h, "/ready").code)
		require.Equal(t, http.StatusOK, get(t, h, "/doctor").code, "Doctor has gone on")
		require.Equal(t, map[string]float64{"": 1}, collect(t, reader)["postroom_queue_up"])
	})
}

// The program itself may hang, too.
func TestAProgramThatIsNotReadyInTimeIsNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := queuehealth.Handler(queuetest.New(t), &queuehealth.Config{Ready: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		require.NoError(t, err)
		begun := time.Now()
		require.Equal(t, http.StatusServiceUnavailable, get(t, h, "/ready").code)
		require.Equal(t, 2*time.Second, time.Since(begun))
	})
}

func TestOnlyGetAndHeadAreAnswered(t *testing.T) {
	h, err := queuehealth.Handler(queuetest.New(t), nil)
	require.NoError(t, err)
	for method, want := range map[string]int{
		http.MethodHead: http.StatusOK, http.MethodPost: http.StatusMethodNotAllowed,
		http.MethodDelete: http.StatusMethodNotAllowed,
	} {
		for _, path := range []string{"/live", "/ready", "/doctor"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
			require.Equal(t, want, w.Code, "%s %s", method, path)
		}
	}
}
