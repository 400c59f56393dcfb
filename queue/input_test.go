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
)

func TestBadInputIsRefusedAndNothingIsWritten(t *testing.T) {
	const text queue.Type[string] = "text"
	const raw queue.Type[json.RawMessage] = "raw"
	withKey := func(k queue.Key) *queue.Options { return &queue.Options{Key: k} }
	cases := map[string]struct {
		job queue.NewJob
		err string
	}{
		"no JSON":                      {raw.New(json.RawMessage(`{"a":`), nil), "payload of raw: json: error calling MarshalJSON"},
		"JSON and more":                {raw.New(json.RawMessage(`1 2`), nil), "payload of raw: json: error calling MarshalJSON"},
		"JSON with a NUL":              {raw.New(json.RawMessage("\"a\x00b\""), nil), "payload of raw: json: error calling MarshalJSON"},
		"JSON of no text":              {raw.New(json.RawMessage("\"\xff\""), nil), "payload of raw: not valid UTF-8"},
		"a payload of 10 MB":           {text.New(strings.Repeat("x", 10_000_000), nil), "payload of text has 10000002 bytes; at most 1048576 are allowed (Config.MaxPayload)"},
		"a payload of a byte too much": {text.New(strings.Repeat("x", 1<<20-1), nil), "payload of text has 1048577 bytes; at most 1048576"},
		"a key of 10 kB":               {ping.New(1, withKey(queue.Forever(strings.Repeat("k", 10_000)))), "Key.Name has 10000 bytes; at most 1000 are allowed"},
		"a key with a NUL":             {ping.New(1, withKey(queue.Forever("a\x00"))), `Key.Name "a\x00" holds bytes that are no text`},
		"a key of no text":             {ping.New(1, withKey(queue.WhileUnfinished("\xff"))), `Key.Name "\xff" holds bytes that are no text`},
		"a type with a NUL":            {queue.NewJob{Type: "a\x00"}, "holds bytes that are no text"},
		"a user with a NUL":            {ping.New(1, &queue.Options{UserID: "\x00"}), `UserID "\x00" holds bytes that are no text`},
		"a tag of no text":             {ping.New(1, &queue.Options{Tags: []string{"ok", "\xc3"}}), `Tags "\xc3" holds bytes that are no text`},
		"21 tags":                      {ping.New(1, &queue.Options{Tags: make([]string, 21)}), "there are 21 Tags; at most 20 are allowed"},
		"no period":                    {ping.New(1, withKey(queue.ForPeriod("k", 0))), "Key.Period is 0s; it must be at least 1ms"},
		"a negative period":            {ping.New(1, withKey(queue.ForPeriod("k", -time.Hour))), "Key.Period is -1h0m0s; it must be at least 1ms"},
		"a period for ever":            {ping.New(1, withKey(queue.Key{Name: "k", Scope: queue.KeyForever, Period: time.Hour})), "Key.Period is 1h0m0s; a key of scope forever has none"},
		"coalescing with a limit key":  {ping.New(1, &queue.Options{Key: queue.Coalesce("k"), LimitKey: "l"}), `a job with a Key of scope coalesce has no LimitKey of its own ("l")`},
		"the queue's own limit key":    {ping.New(1, &queue.Options{LimitKey: "coalesce:k"}), `LimitKey "coalesce:k" begins with "coalesce:", which is the queue's own`},
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.(queue.Driver), nil)
		for name, c := range cases {
			_, err := q.EnqueueMany(t.Context(), []queue.NewJob{ping.New(1, &queue.Options{Key: queue.Forever("good")}), c.job})
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

func TestOddInputIsKeptAsItIs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.(queue.Driver), nil)
		for name, payload := range map[string]any{
			"an escaped NUL":   "a\x00b",
			"as much as may":   strings.Repeat("x", 1<<20-2),
			"nothing":          nil,
			"a surrogate":      json.RawMessage(`"\ud800"`),
			"quotes and kanji": `'"\ 漢字 💌`,
		} {
			want, err := json.Marshal(payload)
			require.NoError(t, err)
			receipt, err := q.Enqueue(t.Context(), queue.NewJob{Type: "nobody handles this", Payload: payload, Options: queue.Options{
				Key: queue.Forever(strings.Repeat("k", 990) + name[:7]),
			}})
			require.NoError(t, err, name)
			got := job(t, q, receipt.ID)
			require.Equal(t, string(want), string(got.Payload), name)
		}
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		counts, err := q.Counts(t.Context(), queue.Filter{Types: []string{"nobody handles this"}})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 5}, counts, "a type without a handler stays queued")
	})
}

func TestEnqueueInIsDueAfterTheDelay(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		receipt, err := q.EnqueueIn(t.Context(), ping.New(1, nil), time.Minute)
		require.NoError(t, err)
		require.True(t, time.Now().Add(time.Minute).Equal(job(t, q, receipt.ID).NotBefore))
		_, err = queue.New(driverOf(q), &queue.Config{MaxPayload: -1})
		require.EqualError(t, err, "queue: Config: MaxPayload is -1; it must be at least 1")
	})
}
