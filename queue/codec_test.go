package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/queueencrypt"
)

func key(id string) queueencrypt.Key {
	return queueencrypt.Key{ID: id, Secret: bytes.Repeat([]byte(id[:1]), 32)}
}

func encrypting(t *testing.T, ids ...string) queue.Codec {
	t.Helper()
	keys := make([]queueencrypt.Key, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	c, err := queueencrypt.NewCodec(keys...)
	require.NoError(t, err)
	return c
}

// everything is all that a table holds, as text.
func everything(t *testing.T, db queue.DB, table string) string {
	t.Helper()
	rows, err := db.Reader().QueryxContext(t.Context(), "SELECT * FROM "+table) //nolint:unqueryvet // whatever columns there are
	require.NoError(t, err)
	defer rows.Close()
	var all strings.Builder
	for rows.Next() {
		values, err := rows.SliceScan()
		require.NoError(t, err)
		for _, v := range values {
			fmt.Fprintf(&all, "%s ", v)
		}
	}
	require.NoError(t, rows.Err())
	return all.String()
}

const letter queue.Type[string] = "letter"

func TestEncryptedJobsRunAndNothingOfThemIsStoredInTheOpen(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), &queue.Config{Codec: encrypting(t, "a")})
		enqueued, err := q.Enqueue(t.Context(),
			letter.New("secret payload", &queue.Options{Key: queue.WhileUnfinished("k")}))
		require.NoError(t, err)
		require.NoError(t, q.Signal(t.Context(), enqueued.ID, "sig", "secret signal"))
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, letter, func(ctx context.Context, w *queue.Work[string]) error {
			require.Equal(t, "secret payload", w.Payload)
			signal, err := queue.Await[string](ctx, w, "sig", 0)
			require.NoError(t, err)
			require.Equal(t, "secret signal", signal)
			step, err := queue.Step(ctx, w, "s", func(context.Context) (string, error) { return "secret step", nil })
			require.NoError(t, err)
			require.NoError(t, queue.SaveCursor(ctx, w, "c", "secret cursor"))
			w.Logger().Info("secret line", "attr", "secret attr")
			switch w.Job.Attempt {
			case 1:
				return queue.Defer(errors.New("secret error"), 0)
			case 2:
				panic("secret panic")
			}
			cursor, _, err := queue.Cursor[string](ctx, w, "c")
			require.NoError(t, err)
			w.SetResult([]string{"secret result", step, cursor})
			return nil
		}, queue.WithRetry(queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond}))
		require.NoError(t, d.RunUntilIdle(t.Context()))

		got := job(t, q, enqueued.ID)
		require.Equal(t, `"secret payload"`, string(got.Payload))
		result, err := queue.Result[[]string](got)
		require.NoError(t, err)
		require.Equal(t, []string{"secret result", "secret step", "secret cursor"}, result)
		steps, err := q.Steps(t.Context(), enqueued.ID)
		require.NoError(t, err)
		require.Equal(t, `"secret step"`, string(steps[0].Result))

		signals, err := q.Signals(t.Context(), enqueued.ID)
		require.NoError(t, err)
		require.Equal(t, `"secret signal"`, string(signals[0].Payload))

		tried := attempts(t, q, enqueued.ID)
		require.Equal(t, []string{"secret error", "handler panicked: secret panic", ""},
			[]string{tried[0].Error, tried[1].Error, tried[2].Error})
		require.Contains(t, tried[1].Stack, "codec_test.go")
		lines := logs(t, q, enqueued.ID)
		require.Len(t, lines, 3)
		require.Equal(t, "secret line", lines[0].Message)
		require.Equal(t, `{"attr":"secret attr"}`, string(lines[0].Attrs))
		explained, err := queueadmin.Explain(t.Context(), q, enqueued.ID)
		require.NoError(t, err)
		require.Equal(t, got, explained.Job)

		for _, table := range []string{"jobs", "job_steps", "job_signals", "job_attempts", "job_logs"} {
			rows := everything(t, db, table)
			require.NotEmpty(t, rows, table)
			require.NotContains(t, rows, "secret", table)
			require.NotContains(t, rows, "codec_test.go", table)
		}

		var stored []string
		require.NoError(t, db.Reader().Select(&stored,
			`SELECT payload_json FROM jobs UNION ALL SELECT result_json FROM jobs
UNION ALL SELECT result_json FROM job_steps`))
		require.Len(t, stored, 4)
		for _, s := range stored {
			require.True(t, strings.HasPrefix(s, `{"$codec":"aes-256-gcm"`), s)
			require.NotContains(t, s, "secret")
		}

		without := on(t, db.Driver(), nil)
		blind := job(t, without, enqueued.ID)
		require.Equal(t, stored[0], string(blind.Payload), "who has no key sees what is stored")
		require.Equal(t, `cannot be read: codec "aes-256-gcm": encoded with a codec or a key that this queue was not given`,
			attempts(t, without, enqueued.ID)[1].Stack)
		require.Equal(t, attempts(t, without, enqueued.ID)[0].Error, logs(t, without, enqueued.ID)[2].Message)
		require.True(t, strings.HasPrefix(string(logs(t, without, enqueued.ID)[2].Attrs), `{"$codec":"aes-256-gcm"`))
		_, err = queue.Result[[]string](blind)
		require.ErrorIs(t, err, queue.ErrNoCodec)
		require.NoError(t, without.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed'")
			return err
		}))
		require.NoError(t, without.Retry(t.Context(), enqueued.ID), "a retry needs no key")
		again, err := q.Enqueue(t.Context(),
			letter.New("secret payload", &queue.Options{Key: queue.WhileUnfinished("k")}))
		require.NoError(t, err)
		require.Equal(t, queue.EnqueueResult{ID: enqueued.ID, Duplicate: true}, again)
	})
}

func TestKeysAreRotatedAndCodecsAddedUnderWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		driver := db.Driver()
		once := func(name string) *queue.Options { return &queue.Options{Key: queue.Forever(name)} }
		var jobs []string
		queues := []*queue.Queue{
			on(t, driver, nil),
			on(t, driver, &queue.Config{Codec: encrypting(t, "a")}),
			on(t, driver, &queue.Config{Codec: encrypting(t, "b", "a")}),
		}
		for i, q := range queues {
			name := strconv.Itoa(i)
			enqueued, err := q.Enqueue(t.Context(), letter.New(name, once(name)))
			require.NoError(t, err)
			jobs = append(jobs, enqueued.ID)
			last := queues[2]
			require.Equal(t, `"`+name+`"`, string(job(t, last, enqueued.ID).Payload))
			same, err := last.Enqueue(t.Context(), letter.New(name, once(name)))
			require.NoError(t, err, "the same job under another key")
			require.Equal(t, queue.EnqueueResult{ID: enqueued.ID, Duplicate: true}, same)
			other, err := last.Enqueue(t.Context(), letter.New("another secret", once(name)))
			require.NoError(t, err)
			require.Equal(t, "payload is another there", other.Difference)
		}
		plain := on(t, driver, &queue.Config{Decoders: []queue.Codec{encrypting(t, "a", "b")}})
		for i, id := range jobs {
			require.Equal(t, strconv.Quote(strconv.Itoa(i)), string(job(t, plain, id).Payload))
		}
		enqueued, err := plain.Enqueue(t.Context(), letter.New("in the open", nil))
		require.NoError(t, err)
		require.Equal(t, `"in the open"`, string(job(t, queues[0], enqueued.ID).Payload))
	})
}

func TestJobsThatCannotBeReadWaitAndDamagedOnesFail(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		keyed := on(t, q.DB().Driver(), &queue.Config{Codec: encrypting(t, "a")})
		enqueued, err := keyed.Enqueue(t.Context(), ping.New(7, nil))
		require.NoError(t, err)
		for i, cfg := range []*queue.Config{nil, {Codec: encrypting(t, "b")}} {
			reader := on(t, q.DB().Driver(), cfg)
			jobs, err := reader.Claim(t.Context(), "w", []string{string(ping)}, 10)
			require.NoError(t, err)
			require.Empty(t, jobs)
			got := job(t, q, enqueued.ID)
			require.Equal(t, queue.StateQueued, got.State)
			require.Equal(t, i+1, got.Interruptions)
			require.Contains(t, job(t, reader, enqueued.ID).LastError, queue.ErrNoCodec.Error())
			time.Sleep(time.Minute)
		}
		jobs, err := keyed.Claim(t.Context(), "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Equal(t, "7", string(jobs[0].Job.Payload))
		require.NoError(t, jobs[0].Complete(t.Context(), nil))

		// The payload of one job under the id of another.
		moved, err := keyed.Enqueue(t.Context(), ping.New(8, nil))
		require.NoError(t, err)
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx,
				"UPDATE jobs SET payload_json = (SELECT payload_json FROM jobs WHERE id = $1) WHERE id = $2",
				enqueued.ID, moved.ID)
			return err
		}))
		work(t, keyed, func(context.Context, *queue.Work[int]) error {
			t.Error("the handler is not given what was moved")
			return nil
		})
		got := job(t, keyed, moved.ID)
		require.Equal(t, queue.StateFailed, got.State)
		require.Contains(t, got.LastError, "what is stored was changed, or belongs elsewhere")
	})
}

func TestCodecsAreChecked(t *testing.T) {
	q, err := queue.New(dbtest.SQLite(t), &queue.Config{Codec: encrypting(t, "a"),
		Decoders: []queue.Codec{encrypting(t, "b")}})
	require.Nil(t, q)
	require.EqualError(t, err, `queue: Config: Codec or Decoders: the name "aes-256-gcm" is empty, or that of two codecs`)
	_, err = queue.New(dbtest.SQLite(t), &queue.Config{Decoders: []queue.Codec{encrypting(t, "b"), nil}})
	require.EqualError(t, err, "queue: Config: Codec or Decoders: one is nil")
}

func TestTheQueuesOwnJSONIsRefused(t *testing.T) {
	q := on(t, dbtest.SQLite(t).Driver(), nil)
	_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: map[string]int{"$codec": 1}})
	require.ErrorIs(t, err, queue.ErrInvalidJob)
	require.ErrorContains(t, err, `an object must not begin with the member "$codec"`)
}

// A failing codec is one whose key server is away, or worse.
type failingCodec struct {
	queue.Codec
	fails bool
	panic bool
}

func (c *failingCodec) Encode(plain []byte, place string) ([]byte, error) {
	switch {
	case c.panic:
		panic("boom")
	case c.fails:
		return nil, errBroken
	}
	return c.Codec.Encode(plain, place)
}

func TestACodecThatFailsKeepsNoAttemptFromEnding(t *testing.T) {
	for name, want := range map[string]string{"fails": "not kept: codec aes-256-gcm: broken",
		"panics": "not kept: codec aes-256-gcm panicked: boom"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, plain *queue.Queue) {
				codec := &failingCodec{Codec: encrypting(t, "a")}
				q := on(t, plain.DB().Driver(), &queue.Config{Codec: codec})
				id := enqueue(t, q, nil)
				work(t, q, func(_ context.Context, w *queue.Work[int]) error {
					w.Logger().Info("read", "n", 1)
					codec.fails, codec.panic = name == "fails", name == "panics"
					return queue.Fatal(errors.New("no"))
				})
				got := job(t, q, id)
				require.Equal(t, queue.StateFailed, got.State)
				require.Equal(t, want, got.LastError)
				lines := logs(t, q, id)
				require.Equal(t, []string{want}, messages(lines))
				require.Nil(t, lines[0].Attrs)
			})
		})
	}
}

func TestALineThatCannotBeReadHidesNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, plain *queue.Queue) {
		q := on(t, plain.DB().Driver(), &queue.Config{Codec: encrypting(t, "a")})
		id := enqueue(t, q, nil)
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info("first")
			w.Logger().Info("second")
			w.Logger().Info("third", "$codec", 1)
			return nil
		})
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx,
				"UPDATE job_logs SET message = (SELECT message FROM job_logs WHERE line = 1) WHERE line = 2")
			return err
		}))
		lines := logs(t, q, id)
		require.Equal(t, "first", lines[0].Message)
		require.Contains(t, lines[1].Message,
			"cannot be read: codec aes-256-gcm: key \"a\": what is stored was changed, or belongs elsewhere")
		require.Equal(t, "third", lines[2].Message)
		require.Equal(t, `{"$codec":1}`, string(lines[2].Attrs))
	})
}

func TestTextThatLooksEncodedIsShownAsItIs(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		const text = `{"$codec": or so`
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info(`{"$codec":`, "$codec", text)
			return queue.Fatal(errors.New(`{"$codec": or so`))
		})
		require.Equal(t, text, job(t, q, id).LastError)
		require.Equal(t, `{"$codec":`, logs(t, q, id)[0].Message)
		require.JSONEq(t, `{"$codec":"{\"$codec\": or so"}`, string(logs(t, q, id)[0].Attrs))
	})
}

// An unreadable codec panics at what others have encoded.
type unreadableCodec struct{ queue.Codec }

func (unreadableCodec) Decode([]byte, string) ([]byte, error) { panic("boom") }

func TestACodecThatPanicsInAClaimFailsItsJob(t *testing.T) {
	bubble(t, func(t *testing.T, plain *queue.Queue) {
		codec := encrypting(t, "a")
		q := on(t, plain.DB().Driver(), &queue.Config{Codec: codec})
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		claimed, err := on(t, plain.DB().Driver(), &queue.Config{Codec: unreadableCodec{codec}}).Claim(t.Context(), "w",
			[]string{"ping"}, 1)
		require.NoError(t, err)
		require.Empty(t, claimed)
		failed := job(t, q, id)
		require.Equal(t, queue.StateFailed, failed.State)
		require.Contains(t, failed.LastError, "boom")
	})
}
