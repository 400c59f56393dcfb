package queue_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func TestBadInputIsRefusedAndNothingIsWritten(t *testing.T) {
	const text queue.Type[string] = "text"
	const raw queue.Type[json.RawMessage] = "raw"
	withKey := func(k queue.Key) *queue.Options { return &queue.Options{Key: k} }
	cases := map[string]struct {
		job queue.NewJob
		err string
	}{
		"no JSON": {raw.New(json.RawMessage(`{"a":`), nil),
			"payload of raw: json: error calling MarshalJSON"},
		"JSON and more": {raw.New(json.RawMessage(`1 2`), nil),
			"payload of raw: json: error calling MarshalJSON"},
		"JSON with a NUL": {raw.New(json.RawMessage("\"a\x00b\""), nil),
			"payload of raw: json: error calling MarshalJSON"},
		"JSON of no text":     {raw.New(json.RawMessage("\"\xff\""), nil), "payload of raw: not valid UTF-8"},
		"a string of no text": {text.New("a\xff", nil), "payload of text: not valid UTF-8"},
		"a name of no text": {queue.NewJob{Type: "raw", Payload: map[string]int{"\\\xff": 1}},
			"payload of raw: not valid UTF-8"},
		"a type nobody knows": {queue.Type[int]("pnig").New(1, nil),
			`unknown job type: Type is "pnig"; this program knows ["ping" "text" "raw" "ttt`},
		"a payload of 10 MB": {text.New(strings.Repeat("x", 10_000_000), nil),
			"payload of text has 10000002 bytes; at most 1048576 are allowed (Config.MaxPayload)"},
		"a payload of a byte too much": {text.New(strings.Repeat("x", 1<<20-1), nil),
			"payload of text has 1048577 bytes; at most 1048576"},
		"a key of 10 kB": {ping.New(1, withKey(queue.Forever(strings.Repeat("k", 10_000)))),
			"Key.Name has 10000 bytes; at most 1000 are allowed"},
		"a key with a NUL": {ping.New(1, withKey(queue.Forever("a\x00"))),
			`Key.Name "a\x00" holds bytes that are no text`},
		"a key of no text": {ping.New(1, withKey(queue.WhileUnfinished("\xff"))),
			`Key.Name "\xff" holds bytes that are no text`},
		"the name of all types": {queue.NewJob{Type: "*"}, `Type is "*", which stands for all types (ForAll)`},
		"a type with a NUL":     {queue.NewJob{Type: "a\x00"}, "holds bytes that are no text"},
		"a user with a NUL": {ping.New(1, &queue.Options{UserID: "\x00"}),
			`UserID "\x00" holds bytes that are no text`},
		"a tag of no text": {ping.New(1, &queue.Options{Tags: []string{"ok", "\xc3"}}),
			`Tags "\xc3" holds bytes that are no text`},
		"21 tags": {ping.New(1, &queue.Options{Tags: make([]string, 21)}),
			"there are 21 Tags; at most 20 are allowed"},
		"a time before the year 1": {ping.New(1, &queue.Options{NotBefore: year(0)}),
			"NotBefore is 0000-01-01 00:00:00 +0000 UTC; it must be within the years 1 and 9999"},
		"an end before the year 1": {ping.New(1, &queue.Options{ExpiresAt: year(-5), NotBefore: year(1)}),
			"ExpiresAt is -0005-01-01 00:00:00 +0000 UTC; it must be within the years 1 and 9999"},
		"an end after the year 9999": {ping.New(1, &queue.Options{ExpiresAt: year(10_000)}),
			"ExpiresAt is 10000-01-01 00:00:00 +0000 UTC; it must be within the years 1 and 9999"},
		"no period": {ping.New(1, withKey(queue.ForPeriod("k", 0))),
			"Key.Period is 0s; it must be at least 1ms"},
		"a negative period": {ping.New(1, withKey(queue.ForPeriod("k", -time.Hour))),
			"Key.Period is -1h0m0s; it must be at least 1ms"},
		"a period for ever": {ping.New(1,
			withKey(queue.Key{Name: "k", Scope: driver.KeyForever, Period: time.Hour})),
			"Key.Period is 1h0m0s; a key of scope forever has none"},
		"coalescing with a limit key": {ping.New(1, &queue.Options{Key: queue.Coalesce("k"), LimitKey: "l"}),
			`a job with a Key of scope coalesce has no LimitKey of its own ("l")`},
		"the queue's own limit key": {ping.New(1, &queue.Options{LimitKey: "coalesce:k"}),
			`LimitKey "coalesce:k" begins with "coalesce:", which is the queue's own`},
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), &queue.Config{Types: []string{"ping", "text", "raw", strings.Repeat("t", 200)}})
		for name, c := range cases {
			_, err := q.EnqueueMany(t.Context(), []queue.NewJob{ping.New(1, &queue.Options{Key: queue.Forever("good")}),
				c.job})
			require.ErrorIs(t, err, queue.ErrInvalidJob, name)
			require.ErrorContains(t, err, c.err, name)
			require.Less(t, len(err.Error()), 11_000, "an error does not repeat all of it: %s", name)
		}
		_, err := q.EnqueueIn(t.Context(), ping.New(1, nil), -time.Second)
		require.ErrorIs(t, err, queue.ErrInvalidJob)
		require.EqualError(t, err, "queue: enqueue: invalid job: the delay is -1s; it must not be negative")
		for _, table := range []string{"jobs", "job_keys"} {
			var n int
			require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM "+table))
			require.Zero(t, n, table)
		}
	})
}

func year(n int) time.Time { return time.Date(n, time.January, 1, 0, 0, 0, 0, time.UTC) }

func TestFiltersWithTimesThatAreNotStoredAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		for text, filter := range map[string]queue.Filter{
			"CreatedFrom is 10000-01-01 00:00:00 +0000 UTC":   {CreatedFrom: year(10_000)},
			"CreatedBefore is -0001-01-01 00:00:00 +0000 UTC": {CreatedBefore: year(-1)},
		} {
			refusesFilter(t, q, filter, "invalid filter: "+text+"; it must be within the years 1 and 9999")
		}
	})
}

// What selects something else than was meant is told, before anything is done about it.
func TestFiltersThatAreASlipAreRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id := enqueue(t, q, nil)
		const states = `invalid filter: States has "qeued"; the states are ["queued" "running" "completed" "failed" "canceled"]`
		slip := queue.Filter{States: []queue.State{"qeued"}}
		_, err := q.Jobs(t.Context(), slip)
		require.EqualError(t, err, "queue: jobs: "+states)
		_, err = q.Counts(t.Context(), slip)
		require.EqualError(t, err, "queue: counts: "+states)
		_, err = q.CancelAll(t.Context(), slip)
		require.EqualError(t, err, "queue: cancel all: "+states)

		const limit = "invalid filter: Limit is -1; it must be at least 0, which means all"
		_, err = q.CancelAll(t.Context(), queue.Filter{Limit: -1, All: true})
		require.EqualError(t, err, "queue: cancel all: "+limit)
		_, err = q.Redrive(t.Context(), queue.Filter{Limit: -1, All: true})
		require.EqualError(t, err, "queue: redrive: "+limit)
		require.Equal(t, queue.StateQueued, job(t, q, id).State)

		const nothing = "invalid filter: nothing in it chooses among the jobs; set Filter.All if all are meant"
		for _, empty := range []queue.Filter{{}, {Limit: 5}, {States: []queue.State{queue.StateQueued}}} {
			_, err = q.CancelAll(t.Context(), empty)
			require.EqualError(t, err, "queue: cancel all: "+nothing)
		}
		_, err = q.Redrive(t.Context(), queue.Filter{})
		require.EqualError(t, err, "queue: redrive: "+nothing)
		require.Equal(t, queue.StateQueued, job(t, q, id).State)

		counts, err := q.Counts(t.Context(), queue.Filter{States: []queue.State{queue.StateQueued, queue.StateQueued}})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts, "it is named twice, and there once")
	})
}

func refusesFilter(t *testing.T, q *queue.Queue, filter queue.Filter, text string) {
	t.Helper()
	_, err := q.Jobs(t.Context(), filter)
	require.EqualError(t, err, "queue: jobs: "+text)
	_, err = q.Counts(t.Context(), filter)
	require.EqualError(t, err, "queue: counts: "+text)
	_, err = q.Redrive(t.Context(), filter)
	require.EqualError(t, err, "queue: redrive: "+text)
	_, err = q.CancelAll(t.Context(), filter)
	require.EqualError(t, err, "queue: cancel all: "+text)
}

func TestOddInputIsKeptAsItIs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		for name, payload := range map[string]any{
			"an escaped NUL":   "a\x00b",
			"as much as may":   strings.Repeat("x", 1<<20-2),
			"nothing":          nil,
			"a surrogate":      json.RawMessage(`"\ud800"`),
			"quotes and kanji": `'"\ 漢字 💌`,
			"the replacement":  "\ufffd and \\ufffd",
			"U+FFFD escaped":   json.RawMessage(`"\ufffd"`),
		} {
			want, err := json.Marshal(payload)
			require.NoError(t, err)
			enqueued, err := q.Enqueue(t.Context(), queue.NewJob{Type: "nobody handles this", Payload: payload,
				Options: queue.Options{
					Key: queue.Forever(strings.Repeat("k", 990) + name[:7]),
				}})
			require.NoError(t, err, name)
			got := job(t, q, enqueued.ID)
			require.Equal(t, string(want), string(got.Payload), name)
		}
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		counts, err := q.Counts(t.Context(), queue.Filter{Types: []string{"nobody handles this"}})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 7}, counts, "a type without a handler stays queued")
	})
}

func TestEnqueueInIsDueAfterTheDelay(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueued, err := q.EnqueueIn(t.Context(), ping.New(1, nil), time.Minute)
		require.NoError(t, err)
		require.True(t, time.Now().Add(time.Minute).Equal(job(t, q, enqueued.ID).NotBefore))
		_, err = queue.New(q.DB(), &queue.Config{MaxPayload: -1})
		require.EqualError(t, err, "queue: Config: MaxPayload is -1; it must be within 1 and 67108864")
		_, err = queue.New(q.DB(), &queue.Config{MaxPayload: 1 << 30})
		require.EqualError(t, err, "queue: Config: MaxPayload is 1073741824; it must be within 1 and 67108864")
	})
}

// A text that its JSON makes as long as may be stored, and one that is a byte too long.
var (
	longest  = strings.Repeat("x", 1<<20-2)
	tooLarge = longest + "x"
)

const tooLargeText = "too large: it has 1048577 bytes; at most 1048576 are allowed (Config.MaxPayload)"

// tooLargeCases are the ways in which a handler may have something stored.
var tooLargeCases = map[string]struct {
	run func(ctx context.Context, w *queue.Work[int], value string) error
	op  string
}{
	"a result": {func(_ context.Context, w *queue.Work[int], value string) error {
		w.SetResult(value)
		return nil
	}, "result: "},
	"a result in a transaction": {func(ctx context.Context, w *queue.Work[int], value string) error {
		w.SetResult(value)
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := w.Queue().EnqueueTx(ctx, tx, queue.NewJob{Type: "next"})
			return err
		})
	}, "queue: complete "},
	"a step": {func(ctx context.Context, w *queue.Work[int], value string) error {
		_, err := queue.Step(ctx, w, "s", func(context.Context) (string, error) { return value, nil })
		return err
	}, "queue: finish step s "},
	"a step in a transaction": {func(ctx context.Context, w *queue.Work[int], value string) error {
		_, err := queue.StepTx(ctx, w, "s", func(ctx context.Context, tx queue.Tx) (string, error) {
			_, err := w.Queue().EnqueueTx(ctx, tx, queue.NewJob{Type: "next"})
			return value, err
		})
		return err
	}, "queue: finish step s "},
	"a cursor": {func(ctx context.Context, w *queue.Work[int], value string) error {
		return queue.SaveCursor(ctx, w, "c", value)
	}, "queue: save cursor c "},
	"a cursor in a transaction": {func(ctx context.Context, w *queue.Work[int], value string) error {
		return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			if _, err := w.Queue().EnqueueTx(ctx, tx, queue.NewJob{Type: "next"}); err != nil {
				return err
			}
			return queue.SaveCursorTx(ctx, tx, w, "c", value)
		})
	}, "queue: save cursor c "},
}

func TestWhatIsTooLargeToStoreFailsTheJobAndNothingOfItIsWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		for name, c := range tooLargeCases {
			t.Run(name, func(t *testing.T) {
				id := enqueue(t, q, nil)
				work(t, q, func(ctx context.Context, w *queue.Work[int]) error { return c.run(ctx, w, tooLarge) })
				got := job(t, q, id)
				require.Equal(t, queue.StateFailed, got.State, "no retry mends it")
				require.Equal(t, 1, got.Attempt)
				require.Contains(t, got.LastError, c.op)
				require.Contains(t, got.LastError, tooLargeText)
				require.Less(t, len(got.LastError), 300)
				require.Nil(t, got.Result)
				steps, err := q.Steps(t.Context(), id)
				require.NoError(t, err)
				require.Empty(t, steps)
				counts, err := q.Counts(t.Context(),
					queue.Filter{Types: []string{"next"}, States: []queue.State{queue.StateQueued}})
				require.NoError(t, err)
				require.Empty(t, counts)

				id = enqueue(t, q, nil)
				work(t, q, func(ctx context.Context, w *queue.Work[int]) error { return c.run(ctx, w, longest) })
				require.Equal(t, queue.StateCompleted, job(t, q, id).State, "a byte less is not too much")
				_, err = q.CancelAll(t.Context(), queue.Filter{Types: []string{"next"}})
				require.NoError(t, err)
			})
		}
	})
}

func TestWhatIsTooLargeIsRefusedWithoutADispatcher(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), &queue.Config{MaxPayload: 10})
		enqueue(t, q, nil)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.ErrorIs(t, finishStep(t.Context(), jobs[0], "s", "123456789"), queue.ErrTooLarge)
		require.ErrorIs(t, completeWith(t.Context(), jobs[0], "123456789"), queue.ErrTooLarge)
		steps, err := q.Steps(t.Context(), jobs[0].Job.ID)
		require.NoError(t, err)
		require.Empty(t, steps)
		require.NoError(t, completeWith(t.Context(), jobs[0], "12345678"), "the job runs still")
	})
}

func TestBadNamesOfStepsAreRefused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			for name, text := range map[string]string{
				"":                        "invalid step: a step needs a name",
				strings.Repeat("s", 1001): "invalid step: its name has 1001 bytes; at most 1000 are allowed",
				"a\x00":                   `invalid step: its name "a\x00" holds bytes that are no text`,
				"\xff":                    `invalid step: its name "\xff" holds bytes that are no text`,
			} {
				_, err := queue.Step(ctx, w, name, func(context.Context) (int, error) {
					t.Error("it is refused before it runs")
					return 0, nil
				})
				require.ErrorContains(t, err, text)
				require.ErrorContains(t, w.StartStep(ctx, name), text)
				require.ErrorContains(t, queue.SaveCursor(ctx, w, name, 1), text)
			}
			return nil
		})
		steps, err := q.Steps(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, steps)
	})
}

func TestAnErrorSaysOnceWhatWasDone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), &queue.Config{StrictKeys: true})
		id := enqueue(t, q, &queue.Options{Key: queue.Forever("k")})
		_, err := q.Enqueue(t.Context(), ping.New(2, &queue.Options{Key: queue.Forever("k")}))
		require.EqualError(t, err, "queue: enqueue "+id+
			`: idempotency key is taken by a different job: "k" (payload is 1 there, 2 here; use another key)`)
	})
}

// A nil context is refused. Package database/sql would panic on it with a pool's lock held, and whoever recovered from
// that would wait for ever at the next call.
func TestNilContextIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id := enqueue(t, q, nil)
		held := queue.AttemptOf(q, *job(t, q, id))
		var none context.Context
		some := queue.Filter{States: []queue.State{queue.StateQueued}, All: true}
		target := queue.ForKey("k")
		for name, call := range map[string]func() error{
			"Migrate": func() error { return queue.Migrate(none, db) },
			"Write":   func() error { return db.Write(none, func(context.Context, queue.Tx) error { return nil }) },
			"Enqueue": func() error { _, err := q.Enqueue(none, ping.New(1, nil)); return err },
			"Enqueue with a key": func() error {
				_, err := q.Enqueue(none, ping.New(1, &queue.Options{Key: queue.WhileUnfinished("k")}))
				return err
			},
			"Cancel":    func() error { return q.Cancel(none, id) },
			"CancelAll": func() error { _, err := q.CancelAll(none, some); return err },
			"Claim":     func() error { _, err := q.Claim(none, "w", []string{string(ping)}, 1); return err },
			"Heartbeat": func() error { return q.Heartbeat(none, "w") },
			"Complete":  func() error { return held.Complete(none, nil) },
			"StartStep": func() error { return held.StartStep(none, "s") },
			"SetLimit":  func() error { return q.SetLimit(none, target, queue.Limit{MaxRunning: 1}) },
			"Limits":    func() error { _, err := q.Limits(none); return err },
			"SetSchedule": func() error {
				return q.SetSchedule(none, queue.Schedule{Name: "s", Cron: "@daily", Job: ping.New(1, nil)})
			},
			"Schedules": func() error { _, err := q.Schedules(none); return err },
			"Prune":     func() error { _, err := q.Prune(none); return err },
			"Job":       func() error { _, err := q.Job(none, id); return err },
			"Jobs":      func() error { _, err := q.Jobs(none, some); return err },
			"Counts":    func() error { _, err := q.Counts(none, some); return err },
			"Attempts":  func() error { _, err := q.Attempts(none, id); return err },
			"Stats":     func() error { _, err := queueadmin.ReadStats(none, q, nil); return err },
			"Wait":      func() error { _, err := q.Wait(none, id); return err },
			"Next": func() error {
				events, err := q.Subscribe(queue.EventFilter{})
				require.NoError(t, err)
				defer events.Close()
				_, err = events.Next(none)
				return err
			},
			"Redrive": func() error { _, err := q.Redrive(none, queue.Filter{All: true}); return err },
			"Retry":   func() error { return q.Retry(none, id) },
			"Steps":   func() error { _, err := q.Steps(none, id); return err },
			"Logs":    func() error { _, err := q.Logs(none, id); return err },
			"Fail":    func() error { return held.Fail(none, driver.ErrNotRunning) },
			"Cursor":  func() error { _, _, err := queue.Cursor[int](none, held, "s"); return err },
			"Doctor":  func() error { _, err := queueadmin.Doctor(none, q); return err },
			"Explain": func() error { _, err := queueadmin.Explain(none, q, id); return err },
			"Pause":   func() error { return q.Pause(none, target) },
			"Run": func() error {
				d, err := queue.NewDispatcher(q, nil)
				require.NoError(t, err)
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
				return d.Run(none)
			},
		} {
			require.NotPanics(t, func() { require.ErrorIs(t, call(), driver.ErrNilContext, name) }, name)
		}
		require.ErrorIs(t, db.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
			_, err := q.EnqueueTx(none, tx, ping.New(1, nil))
			return err
		}), driver.ErrNilContext)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
	})
}
