package gmail

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// decides has the world decide about messages at once, and returns the messages for which that was recorded.
func (w *world) decides(record func(ctx context.Context, tx queue.Tx, m *postroom.Message) error) *[]*postroom.Message {
	var recorded []*postroom.Message
	w.cfg.Decide = func(_ context.Context, m *postroom.Message) (func(ctx context.Context, tx queue.Tx) error, error) {
		return func(ctx context.Context, tx queue.Tx) error {
			recorded = append(recorded, m)
			return record(ctx, tx, m)
		}, nil
	}
	return &recorded
}

// decided is a job that follows a decision; nobody runs it.
const decided queue.Type[string] = "decided"

func TestWhatIsDecidedAtOnceIsRecordedWithTheMessage(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		recorded := w.decides(func(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
			_, err := w.queue.EnqueueTx(ctx, tx, decided.New(m.ID, nil))
			return err
		})
		id, _ := w.known("INBOX")
		require.Len(t, *recorded, 1)
		require.Equal(t, id, (*recorded)[0].ID, "it has its ids by then")
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, w.jobs(string(decided)))
		require.Empty(t, w.seen, "no job is to decide again")
	})
}

func recordNothing(context.Context, queue.Tx, *postroom.Message) error { return nil }

// What is decided about before it is stored is what is stored, whatever bytes the message holds.
func TestWhatIsDecidedAboutIsWhatIsStored(t *testing.T) {
	const off = "From: \"a\x00b\xff\" <z\xffoe@example.org>\r\nTo: \"\xfe\" <me@example.com>\r\nSubject: =?utf-8?q?a=00b?= \xff\r\nMessage-ID: <\xff@x>\r\n" +
		"References: <\xfe@x>\r\nX-\xff: \xfe\x00\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nText \x00 \xff\r\n" +
		"--b\r\nContent-Type: text/html\r\n\r\n<p>\x00\xff</p>\r\n--b\r\nContent-Type: x/\xff; name=\"\xff\"\r\nContent-ID: <\xff>\r\nContent-Disposition: attachment\r\n\r\nx\r\n--b--\r\n"
	for name, raw := range map[string]string{"plain": plainMail, "rich": richMail, "bytes that no database keeps": off} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var before postroom.Message
			w.cfg.Decide = func(_ context.Context, m *postroom.Message) (func(ctx context.Context, tx queue.Tx) error, error) {
				before = *m
				return func(context.Context, queue.Tx) error { return nil }, nil
			}
			id := w.ours(w.ingest(raw))
			stored, err := w.store.Message(t.Context(), w.account, id)
			require.NoError(t, err)
			require.Empty(t, before.ID)
			before.ID, before.ThreadID = stored.ID, stored.ThreadID
			require.Equal(t, *stored, before)
		})
	}
}

func (w *world) ingest(raw string, labels ...string) (providerID string) {
	w.t.Helper()
	providerID = w.arrive(raw, labels...)
	w.run(NewIngestJob(w.account, providerID))
	return providerID
}

func TestWhatIsNotDecidedAtOnceGoesToOnMessage(t *testing.T) {
	for name, err := range map[string]error{"nothing to record": nil, "an error": errors.New("no rules can be read")} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cfg.Decide = func(context.Context, *postroom.Message) (func(ctx context.Context, tx queue.Tx) error, error) {
				return nil, err
			}
			id := w.ingest(plainMail, "INBOX")
			require.Equal(t, []string{id}, w.seen)
		})
	}
}

// A decision that cannot be recorded, or a panic, keeps no message from being stored.
func TestWhatCannotBeRecordedGoesToOnMessage(t *testing.T) {
	w := newWorld(t)
	recorded := w.decides(func(ctx context.Context, tx queue.Tx, m *postroom.Message) error {
		return errors.New("the ledger does not take it")
	})
	id := w.ingest(plainMail, "INBOX")
	require.Len(t, *recorded, 1, "it is not tried again")
	require.Equal(t, []string{id}, w.seen)

	w.cfg.Decide = func(context.Context, *postroom.Message) (func(ctx context.Context, tx queue.Tx) error, error) {
		panic("a rule that panics")
	}
	other := w.ingest(strings.Replace(plainMail, "<1@", "<2@", 1), "INBOX")
	require.Equal(t, []string{id, other}, w.seen)
}

func TestWhatIsSkippedIsNotDecidedAbout(t *testing.T) {
	w := newWorld(t)
	recorded := w.decides(recordNothing)
	id := w.ours(w.ingest(plainMail, "SENT"))
	require.Empty(t, *recorded)
	require.Empty(t, w.seen)
	require.NotEmpty(t, id)
	w.run(NewIngestJob(w.account, w.arrive(plainMail, "INBOX")))
	require.Len(t, *recorded, 1)
}

func TestDecideNeedsOnMessage(t *testing.T) {
	w := newWorld(t)
	w.decides(recordNothing)
	w.cfg.OnMessage = nil
	d, err := queue.NewDispatcher(w.queue, nil)
	require.NoError(t, err)
	require.ErrorContains(t, Register(d, w.cfg), "Config.Decide is set and Config.OnMessage is not")
}
