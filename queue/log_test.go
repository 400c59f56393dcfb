package queue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func logs(t *testing.T, q *queue.Queue, id string) []queue.LogLine {
	t.Helper()
	lines, err := q.Logs(t.Context(), id)
	require.NoError(t, err)
	return lines
}

func messages(lines []queue.LogLine) (out []string) {
	for _, l := range lines {
		out = append(out, l.Message)
	}
	return out
}

// token is a secret that says so.
type token string

func (token) LogValue() slog.Value { return slog.StringValue("[secret]") }

func TestLogIsKeptWithEachAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		var began time.Time
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			began = time.Now()
			log := w.Logger().With("of", "all").WithGroup("page").With("n", w.Job.Attempt)
			log.Info("reads", "token", token("hunter2"), slog.Group("from", "host", "example.org"))
			time.Sleep(time.Second)
			w.Logger().Warn("plain \x00 and \xff")
			if w.Job.Attempt == 1 {
				return errBroken
			}
			return nil
		})
		lines := logs(t, q, id)
		require.Len(t, lines, 4)
		require.Equal(t, queue.LogLine{
			JobID: id, Attempt: 2, Line: 1, At: began.UTC().Truncate(time.Microsecond), Level: slog.LevelInfo,
			Message: "reads",
			Attrs:   json.RawMessage(`{"of":"all","page":{"n":2,"token":"[secret]","from":{"host":"example.org"}}}`),
		}, lines[2])
		require.Equal(t, []int{1, 1, 2, 2}, []int{lines[0].Attempt, lines[1].Attempt, lines[2].Attempt,
			lines[3].Attempt})
		require.Equal(t, "plain \uFFFD and \uFFFD", lines[3].Message)
		require.Equal(t, slog.LevelWarn, lines[3].Level)
		require.Equal(t, 2, lines[3].Line)
		require.Nil(t, lines[3].Attrs)
		require.Equal(t, time.Second, lines[3].At.Sub(lines[2].At))
	})
}

func TestLogGoesToTheDispatchersLoggerToo(t *testing.T) {
	for level, kept := range map[slog.Level][]string{
		slog.LevelDebug: {"debug", "info", "warn"},
		slog.LevelWarn:  {"info", "warn"},
	} {
		t.Run(level.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				var out bytes.Buffer
				d, err := queue.NewDispatcher(q,
					&queue.DispatcherConfig{Logger: slog.New(slog.NewTextHandler(&out,
						&slog.HandlerOptions{Level: level}))})
				require.NoError(t, err)
				queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
					w.Logger().Debug("debug")
					w.Logger().Info("info")
					w.Logger().Warn("warn", "n", 1)
					return nil
				})
				require.NoError(t, d.RunUntilIdle(t.Context()))
				require.Contains(t, out.String(), "level=WARN msg=warn job_id="+id+" job_type=ping attempt=1 n=1\n")
				require.Equal(t, level == slog.LevelDebug, strings.Contains(out.String(), "msg=info"))
				require.Equal(t, kept, messages(logs(t, q, id)))
			})
		})
	}
}

func TestLogKeepsTheLastLines(t *testing.T) {
	for name, c := range map[string]struct {
		count, size        int
		first, kept, bytes int
	}{
		"by their number": {count: 250, size: 10, first: 51, kept: 200, bytes: 2000},
		"by their length": {count: 20, size: 5 << 10, first: 15, kept: 6, bytes: 30 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				id := enqueue(t, q, nil)
				work(t, q, func(_ context.Context, w *queue.Work[int]) error {
					for range c.count {
						w.Logger().Info(strings.Repeat("x", c.size))
					}
					return nil
				})
				lines := logs(t, q, id)
				require.Len(t, lines, c.kept)
				require.Equal(t, c.first, lines[0].Line, "the numbers tell what is missing")
				require.Equal(t, c.count, lines[len(lines)-1].Line)
				require.Len(t, strings.Join(messages(lines), ""), c.bytes)
			})
		})
	}
}

func TestLogCutsLongLinesAndSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info(strings.Repeat("é", 5<<10), "text", strings.Repeat(`"`, 10<<10), "n", 1)
			return nil
		})
		line := logs(t, q, id)[0]
		require.Equal(t, strings.Repeat("é", 4<<10)+"…", line.Message)
		var attrs map[string]string
		require.NoError(t, json.Unmarshal(line.Attrs, &attrs))
		require.Contains(t, attrs["!CUT"], `{"text":"\"\"`)
		require.True(t, strings.HasSuffix(attrs["!CUT"], "…"))
		require.Less(t, len(line.Attrs), 10<<10)
	})
}

func TestLogCutsWhatWouldBeEscaped(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			for _, text := range []string{"<", "\u2028", "\x01", `\`} {
				w.Logger().Info("long", "text", strings.Repeat(text, 9000))
			}
			return nil
		})
		for _, line := range logs(t, q, id) {
			require.Less(t, len(line.Attrs), 10<<10, "%.30s", line.Attrs)
		}
	})
}

func TestLogOfComplete(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			w.Logger().Info("before")
			err := w.Complete(ctx, func(context.Context, queue.Tx) error {
				w.Logger().Info("within")
				if w.Job.Attempt == 1 {
					return errBroken
				}
				return nil
			})
			w.Logger().Info("after")
			return err
		})
		require.Equal(t, []string{"before", "within", "after", "before", "within"}, messages(logs(t, q, id)),
			"what the first attempt undid it has logged all the same; the second ended before its last line")
	})
}

func TestLogOfALostLeaseIsDropped(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			w.Logger().Info("too late")
			return q.Cancel(context.WithoutCancel(ctx), id)
		})
		require.Equal(t, queue.StateCanceled, job(t, q, id).State)
		require.Empty(t, logs(t, q, id))
	})
}

func TestLogOfAHandlerThatIsGivenUpIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		release := make(chan struct{})
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info("hangs")
			<-release
			w.Logger().Info("goes on")
			return nil
		}, queue.WithTimeout(time.Second))
		require.Error(t, d.RunUntilIdle(t.Context()))
		close(release)
		synctest.Wait()
		require.Equal(t, []string{"hangs"}, messages(logs(t, q, id)))
	})
}

// A rude value panics, logs itself, or writes what is no text.
type rude struct{ log *slog.Logger }

func (r rude) LogValue() slog.Value {
	r.log.Info("from inside")
	panic("rude")
}

func TestLogTakesWhatItIsGiven(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info("rude", "value", rude{w.Logger()})
			w.Logger().Info("raw", "value", json.RawMessage("\"\xff\""), "msg", "its own", "chan", make(chan int))
			require.NoError(t, w.Logger().Handler().Handle(t.Context(), slog.Record{Message: "no time"}))
			return nil
		})
		lines := logs(t, q, id)
		require.Contains(t, messages(lines), "from inside")
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		last := lines[len(lines)-2:]
		require.Equal(t, []string{"raw", "no time"}, messages(last))
		require.True(t, json.Valid(last[0].Attrs), "%s", last[0].Attrs)
		require.Contains(t, string(last[0].Attrs), `"msg":"its own"`)
		require.NotZero(t, last[1].At)
	})
}

// counted counts the statements about logs.
type counted struct {
	driver.Driver
	calls atomic.Int64
}

func (c *counted) AddLogs(ctx context.Context, tx *driver.WriteTx, lines []driver.LogLine) error {
	c.calls.Add(1)
	return c.Driver.AddLogs(ctx, tx, lines)
}

func TestJobsThatDoNotLogCostNothing(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		driver := &counted{Driver: q.DB().Driver()}
		for range 100 {
			enqueue(t, q, nil)
		}
		work(t, on(t, driver, nil), func(ctx context.Context, w *queue.Work[int]) error {
			w.Logger() // asked for, and not used
			return w.Complete(ctx, nil)
		})
		require.Zero(t, driver.calls.Load())
	})
}

func TestLogIsSafeForManyGoroutines(t *testing.T) {
	q := queuetest.New(t)
	id := enqueue(t, q, nil)
	work(t, q, func(_ context.Context, w *queue.Work[int]) error {
		done := make(chan struct{})
		for i := range 4 {
			go func() {
				for j := range 25 {
					w.Logger().Info(fmt.Sprint(i, j))
				}
				done <- struct{}{}
			}()
		}
		for range 4 {
			<-done
		}
		return nil
	})
	require.Len(t, logs(t, q, id), 100)
}

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
