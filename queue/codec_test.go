package queue_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func key(id string) queue.EncryptionKey {
	return queue.EncryptionKey{ID: id, Secret: bytes.Repeat([]byte(id[:1]), 32)}
}

func encrypting(t *testing.T, ids ...string) *queue.EncryptingCodec {
	t.Helper()
	keys := make([]queue.EncryptionKey, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	c, err := queue.NewEncryptingCodec(keys...)
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
		q := on(t, db.(driver.Driver), &queue.Config{Codec: encrypting(t, "a")})
		receipt, err := q.Enqueue(t.Context(), letter.New("secret payload", &queue.Options{Key: queue.WhileUnfinished("k")}))
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, letter, func(ctx context.Context, w *queue.Work[string]) error {
			require.Equal(t, "secret payload", w.Payload)
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

		got := job(t, q, receipt.ID)
		require.Equal(t, `"secret payload"`, string(got.Payload))
		result, err := queue.Result[[]string](got)
		require.NoError(t, err)
		require.Equal(t, []string{"secret result", "secret step", "secret cursor"}, result)
		steps, err := q.Steps(t.Context(), receipt.ID)
		require.NoError(t, err)
		require.Equal(t, `"secret step"`, string(steps[0].Result))

		tried := attempts(t, q, receipt.ID)
		require.Equal(t, []string{"secret error", "handler panicked: secret panic", ""}, []string{tried[0].Error, tried[1].Error, tried[2].Error})
		require.Contains(t, tried[1].Stack, "codec_test.go")
		require.Equal(t, "handler panicked: secret panic", got.LastError)
		lines := logs(t, q, receipt.ID)
		require.Len(t, lines, 3)
		require.Equal(t, "secret line", lines[0].Message)
		require.Equal(t, `{"attr":"secret attr"}`, string(lines[0].Attrs))
		explained, err := queueadmin.Explain(t.Context(), q, receipt.ID)
		require.NoError(t, err)
		require.Equal(t, got, explained.Job)

		for _, table := range []string{"jobs", "job_steps", "job_attempts", "job_logs"} {
			rows := everything(t, db, table)
			require.NotEmpty(t, rows, table)
			require.NotContains(t, rows, "secret", table)
			require.NotContains(t, rows, "codec_test.go", table)
		}

		var stored []string
		require.NoError(t, db.Reader().Select(&stored, `SELECT payload_json FROM jobs UNION ALL SELECT result_json FROM jobs
UNION ALL SELECT result_json FROM job_steps`))
		require.Len(t, stored, 4)
		for _, s := range stored {
			require.True(t, strings.HasPrefix(s, `{"$codec":"aes-256-gcm"`), s)
			require.NotContains(t, s, "secret")
		}

		without := on(t, db.(driver.Driver), nil)
		blind := job(t, without, receipt.ID)
		require.Equal(t, stored[0], string(blind.Payload), "who has no key sees what is stored")
		require.Equal(t, `cannot be read: codec "aes-256-gcm": encoded with a codec or a key that this queue was not given`, blind.LastError)
		require.Equal(t, blind.LastError, attempts(t, without, receipt.ID)[1].Stack)
		require.Equal(t, blind.LastError, logs(t, without, receipt.ID)[2].Message)
		require.True(t, strings.HasPrefix(string(logs(t, without, receipt.ID)[2].Attrs), `{"$codec":"aes-256-gcm"`))
		_, err = queue.Result[[]string](blind)
		require.ErrorIs(t, err, queue.ErrNoCodec)
		require.NoError(t, without.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET state = 'failed'")
			return err
		}))
		require.NoError(t, without.Retry(t.Context(), receipt.ID), "a retry needs no key")
		again, err := q.Enqueue(t.Context(), letter.New("secret payload", &queue.Options{Key: queue.WhileUnfinished("k")}))
		require.NoError(t, err)
		require.Equal(t, queue.EnqueueResult{ID: receipt.ID, Duplicate: true}, again)
	})
}

func TestKeysAreRotatedAndCodecsAddedUnderWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		driver := db.(driver.Driver)
		once := func(name string) *queue.Options { return &queue.Options{Key: queue.Forever(name)} }
		var jobs []string
		queues := []*queue.Queue{
			on(t, driver, nil),
			on(t, driver, &queue.Config{Codec: encrypting(t, "a")}),
			on(t, driver, &queue.Config{Codec: encrypting(t, "b", "a")}),
		}
		for i, q := range queues {
			name := strconv.Itoa(i)
			receipt, err := q.Enqueue(t.Context(), letter.New(name, once(name)))
			require.NoError(t, err)
			jobs = append(jobs, receipt.ID)
			last := queues[2]
			require.Equal(t, `"`+name+`"`, string(job(t, last, receipt.ID).Payload))
			same, err := last.Enqueue(t.Context(), letter.New(name, once(name)))
			require.NoError(t, err, "the same job under another key")
			require.Equal(t, queue.EnqueueResult{ID: receipt.ID, Duplicate: true}, same)
			_, err = last.Enqueue(t.Context(), letter.New("another secret", once(name)))
			require.ErrorIs(t, err, queue.ErrKeyConflict)
			require.NotContains(t, err.Error(), "secret")
			require.ErrorContains(t, err, "(payload is another there; use another key)")
		}
		plain := on(t, driver, &queue.Config{Decoders: []queue.Codec{encrypting(t, "a", "b")}})
		for i, id := range jobs {
			require.Equal(t, strconv.Quote(strconv.Itoa(i)), string(job(t, plain, id).Payload))
		}
		receipt, err := plain.Enqueue(t.Context(), letter.New("in the open", nil))
		require.NoError(t, err)
		require.Equal(t, `"in the open"`, string(job(t, queues[0], receipt.ID).Payload))
	})
}

func TestJobsThatCannotBeReadWaitAndDamagedOnesFail(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		keyed := on(t, driverOf(q), &queue.Config{Codec: encrypting(t, "a")})
		receipt, err := keyed.Enqueue(t.Context(), ping.New(7, nil))
		require.NoError(t, err)
		for i, cfg := range []*queue.Config{nil, {Codec: encrypting(t, "b")}} {
			reader := on(t, driverOf(q), cfg)
			jobs, err := reader.Claim(t.Context(), "w", []string{string(ping)}, 10)
			require.NoError(t, err)
			require.Empty(t, jobs)
			got := job(t, q, receipt.ID)
			require.Equal(t, queue.StateQueued, got.State)
			require.Equal(t, i+1, got.Interruptions)
			require.Contains(t, job(t, reader, receipt.ID).LastError, queue.ErrNoCodec.Error())
			time.Sleep(time.Minute)
		}
		jobs, err := keyed.Claim(t.Context(), "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Equal(t, "7", string(jobs[0].Payload))
		require.NoError(t, keyed.Complete(t.Context(), jobs[0].Lease(), nil))

		// The payload of one job under the id of another.
		moved, err := keyed.Enqueue(t.Context(), ping.New(8, nil))
		require.NoError(t, err)
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE jobs SET payload_json = (SELECT payload_json FROM jobs WHERE id = $1) WHERE id = $2", receipt.ID, moved.ID)
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
	q, err := queue.New(driverOf(on(t, dbtest.SQLite(t), nil)), &queue.Config{Codec: encrypting(t, "a"), Decoders: []queue.Codec{encrypting(t, "b")}})
	require.Nil(t, q)
	require.EqualError(t, err, `queue: Config: Codec or Decoders: the name "aes-256-gcm" is empty, or that of two codecs`)
	for text, keys := range map[string][]queue.EncryptionKey{
		"queue: an encrypting codec needs a key":                            nil,
		"queue: EncryptionKey(a): the Secret has 3 bytes; it must have 32":  {{ID: "a", Secret: []byte("abc")}},
		"queue: EncryptionKey(): the ID has 0 bytes; it must have 1 to 100": {{Secret: key("a").Secret}},
		"queue: EncryptionKey(a) is given twice":                            {key("a"), key("a")},
	} {
		_, err := queue.NewEncryptingCodec(keys...)
		require.EqualError(t, err, text)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	var out strings.Builder
	k, c := key("a"), encrypting(t, "a")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
		fmt.Fprintf(&out, verb+verb+verb, k, &k, c)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("keys", "key", k, "codec", c, "keys", []queue.EncryptionKey{k})
	text, err := json.Marshal(k)
	require.NoError(t, err)
	out.Write(text)
	require.NotContains(t, out.String(), "aaaa")
	require.NotContains(t, out.String(), "6161")
	require.NotContains(t, out.String(), "YWFh")
	require.NotContains(t, out.String(), "97, 97")
	require.NotContains(t, out.String(), "0x61")
}

func TestTheQueuesOwnJSONIsRefused(t *testing.T) {
	q := on(t, dbtest.SQLite(t), nil)
	_, err := q.Enqueue(t.Context(), queue.NewJob{Type: "t", Payload: map[string]int{"$codec": 1}})
	require.ErrorIs(t, err, queue.ErrInvalidJob)
	require.ErrorContains(t, err, `an object must not begin with the member "$codec"`)
}

func FuzzEncryptingCodecDecode(f *testing.F) {
	c, err := queue.NewEncryptingCodec(key("a"))
	require.NoError(f, err)
	good, err := c.Encode([]byte("plain"), "place")
	require.NoError(f, err)
	f.Add(good, "place")
	f.Add([]byte{}, "")
	f.Add([]byte{255, 1}, "x")
	f.Fuzz(func(t *testing.T, data []byte, place string) {
		plain, err := c.Decode(data, place)
		if err == nil {
			require.Equal(t, good, data)
			require.Equal(t, "place", place)
			require.Equal(t, "plain", string(plain))
		}
	})
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
	for name, want := range map[string]string{"fails": "not kept: codec aes-256-gcm: broken", "panics": "not kept: codec aes-256-gcm panicked: boom"} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, plain *queue.Queue) {
				codec := &failingCodec{Codec: encrypting(t, "a")}
				q := on(t, driverOf(plain), &queue.Config{Codec: codec})
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
		q := on(t, driverOf(plain), &queue.Config{Codec: encrypting(t, "a")})
		id := enqueue(t, q, nil)
		work(t, q, func(_ context.Context, w *queue.Work[int]) error {
			w.Logger().Info("first")
			w.Logger().Info("second")
			w.Logger().Info("third", "$codec", 1)
			return nil
		})
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE job_logs SET message = (SELECT message FROM job_logs WHERE line = 1) WHERE line = 2")
			return err
		}))
		lines := logs(t, q, id)
		require.Equal(t, "first", lines[0].Message)
		require.Contains(t, lines[1].Message, "cannot be read: codec aes-256-gcm: key \"a\": what is stored was changed, or belongs elsewhere")
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
