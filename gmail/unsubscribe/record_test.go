package unsubscribe_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// keeping is a leaver that keeps what it does.
func keeping(t *testing.T, db queue.DB, l *list, perDay int) *unsubscribe.Leaver {
	t.Helper()
	require.NoError(t, unsubscribe.Migrate(t.Context(), db))
	of := messages{"a": newsletter(l.URL + "/u"), "b": newsletter(l.URL + "/u")}
	for i := range 8 { // of as many lists
		id := fmt.Sprintf("a%d", i)
		of[id] = newsletter(l.URL + "/u")
		of[id].Headers[3].Value = "<" + id + ".shop.example>"
	}
	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: of, DB: db,
		PerDay: perDay, Transport: l.Client().Transport})
	require.NoError(t, err)
	return leaver
}

// carryOut does what the job of an action does.
func carryOut(ctx context.Context, leaver *unsubscribe.Leaver, id string) error {
	kind, a := leaver.Kind(), postroom.Action{ID: id, AccountID: "ada", MessageID: id}
	if err := kind.Ready(ctx, a); err != nil {
		return err
	}
	_, err := kind.Handler(ctx, nil, a)
	return err
}

// What is beyond the limit of a day waits, and does not fail, however many ask at once.
func TestTheListsOfADay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		l := newList(t, func(http.ResponseWriter, *http.Request) {})
		leaver := keeping(t, db, l, 3)
		var group sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			group.Go(func() { errs[i] = carryOut(t.Context(), leaver, fmt.Sprintf("a%d", i)) })
		}
		group.Wait()
		var waits []error
		for _, err := range errs {
			if err != nil {
				waits = append(waits, err)
			}
		}
		require.Len(t, waits, 5)
		for _, err := range waits {
			require.ErrorContains(t, err, "3 lists were left within a day")
			require.False(t, isFatal(err))
		}
		require.Len(t, l.requests(), 3)
		room, perDay, err := leaver.Room(t.Context(), "ada")
		require.NoError(t, err)
		require.Equal(t, [2]int{0, 3}, [2]int{room, perDay})
		room, _, err = leaver.Room(t.Context(), "bob")
		require.NoError(t, err)
		require.Equal(t, 3, room, "of another mailbox")

		records, err := leaver.Records(t.Context(), "ada", 10)
		require.NoError(t, err)
		require.Len(t, records, 3)
		require.Equal(t, "news@shop.example", records[0].Sender)
		require.Equal(t, records[0].ActionID+".shop.example", records[0].ListID)
		require.Equal(t, l.Listener.Addr().String(), records[0].Target)
		require.WithinDuration(t, time.Now(), records[0].LeftAt, time.Minute)

		// A job that runs again after a crash has its room.
		require.NoError(t, carryOut(t.Context(), leaver, records[0].ActionID))
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return unsubscribe.Forget(ctx, tx, "ada")
		}))
		records, err = leaver.Records(t.Context(), "ada", 10)
		require.NoError(t, err)
		require.Empty(t, records)
	})
}

// One list is left once, however many of its messages ask for it, and again for a message that came since. An action
// that has left its list does not ask again, whatever became of it.
func TestAListIsLeftOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		l := newList(t, func(http.ResponseWriter, *http.Request) {})
		of := messages{}
		for _, id := range []string{"1", "2", "3"} {
			of[id] = newsletter(l.URL + "/u")
			of[id].ReceivedAt = time.Now().Add(-time.Hour)
		}
		require.NoError(t, unsubscribe.Migrate(t.Context(), db))
		leaver, err := unsubscribe.New(unsubscribe.Config{Messages: of, DB: db, Transport: l.Client().Transport})
		require.NoError(t, err)
		for _, id := range []string{"1", "2", "1"} {
			require.NoError(t, carryOut(t.Context(), leaver, id))
		}
		require.Len(t, l.requests(), 1)
		of["3"].ReceivedAt = time.Now().Add(time.Hour)
		require.NoError(t, carryOut(t.Context(), leaver, "3"))
		require.Len(t, l.requests(), 2)
	})
}

// While an action asks a list, another about the same list waits.
func TestTwoActionsAboutOneListAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var leaver *unsubscribe.Leaver
		l := newList(t, func(http.ResponseWriter, *http.Request) {
			err := carryOut(context.WithoutCancel(t.Context()), leaver, "b")
			assert.ErrorContains(t, err, "another action is leaving the same list")
		})
		leaver = keeping(t, db, l, 0)
		require.NoError(t, carryOut(t.Context(), leaver, "a"))
		require.NoError(t, carryOut(t.Context(), leaver, "b"))
		require.Len(t, l.requests(), 1)
	})
}

// A list that refuses is on record as asked, and not as left.
func TestAListThatRefusesIsNotLeft(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		l := newList(t, http.NotFound)
		leaver := keeping(t, db, l, 0)
		require.True(t, isFatal(carryOut(t.Context(), leaver, "a")))
		records, err := leaver.Records(t.Context(), "ada", 10)
		require.NoError(t, err)
		require.Zero(t, records[0].LeftAt)
	})
}

// The mail of a list is written only if the sender has signed it, to one address, and in few words.
func TestTheMailOfAList(t *testing.T) {
	leaver := newLeaver(t, newList(t, func(http.ResponseWriter, *http.Request) {}))
	of := func(header string, change func(m *postroom.Message)) unsubscribe.Offer {
		m := newsletter("https://shop.example/u")
		m.Headers[4].Value = header
		change(m)
		return leaver.Read(m)
	}
	same := func(*postroom.Message) {}
	offer := of("<mailto:a@shop.example,b@shop.example>, <mailto:leave@shop.example?subject=leave%20me>", same)
	require.ErrorIs(t, offer.Refused, unsubscribe.ErrNotOffered)
	require.Equal(t, "leave@shop.example", offer.Write.To[0])
	subject, text := unsubscribe.MailOf(*offer.Write)
	require.Equal(t, []string{"leave me", "unsubscribe"}, []string{subject, text})
	subject, _ = unsubscribe.MailOf(mime.Mailto{})
	require.Equal(t, "unsubscribe", subject)

	for name, tt := range map[string]struct {
		offer unsubscribe.Offer
		want  error
	}{
		"two addresses": {of("<mailto:a@shop.example,b@shop.example>", same), unsubscribe.ErrNoMail},
		"a long text":   {of("<mailto:a@shop.example?body="+string(make([]byte, 600))+">", same), unsubscribe.ErrNoMail},
		"none":          {of("<https://shop.example/u>", same), unsubscribe.ErrNoMail},
		"not signed": {of("<mailto:a@shop.example>", func(m *postroom.Message) {
			m.Headers[2].Value = "v=1; d=shop.example; s=s; h=from; b=AbCdEf"
		}), unsubscribe.ErrNotSigned},
		"signed by another": {of("<mailto:a@shop.example>", func(m *postroom.Message) {
			m.From.Email = "ann@bank.example"
		}), unsubscribe.ErrNotSigned},
	} {
		require.Nil(t, tt.offer.Write, name)
		require.ErrorIs(t, tt.offer.NoMail, tt.want, name)
	}
}

func TestTheParametersOfTheKind(t *testing.T) {
	kind := (*unsubscribe.Leaver)(nil).Kind()
	for want, p := range map[string]postroom.Parameters{
		"": {"way": "mail", "to": "a@shop.example"}, "needs to": {"way": "mail"}, "to is for way mail alone": {"to": "a@shop.example"},
		"way": {"way": "get"},
	} {
		err := kind.CheckParameters(p, time.Time{})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
	_, err := kind.Handler(t.Context(), nil, postroom.Action{})
	require.ErrorContains(t, err, "no lists are left here")
	_, err = unsubscribe.NewKind(nil).Handler(t.Context(), nil, postroom.Action{})
	require.ErrorContains(t, err, "no lists are left here")

	l := newList(t, func(http.ResponseWriter, *http.Request) {})
	leaver, err := unsubscribe.New(unsubscribe.Config{Messages: messages{"m": newsletter(l.URL)},
		Transport: l.Client().Transport})
	require.NoError(t, err)
	_, err = leaver.Kind().Handler(t.Context(), nil, postroom.Action{MessageID: "m",
		Parameters: postroom.Parameters{"way": "mail", "to": "leave@shop.example"}})
	require.ErrorContains(t, err, "no mail is written here")
	require.True(t, isFatal(err))
	_, err = leaver.Records(t.Context(), "ada", 1)
	require.ErrorContains(t, err, "Config.DB")
	_, err = unsubscribe.New(unsubscribe.Config{Messages: messages{}, PerDay: 1001})
	require.ErrorContains(t, err, "Config.PerDay is 1001")
}

// Each list is listed once, with what was asked of it last, on pages that go on where the one before has ended.
func TestListsArePaged(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		leaver := keeping(t, db, newList(t, func(http.ResponseWriter, *http.Request) {}), 0)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			for n := range 12 { // of five lists, two at a time
				_, err := tx.ExecContext(ctx, fmt.Sprintf(`
					INSERT INTO unsubscriptions (action_id, account_id, message_id, sender, list_id, way, target, asked_at, left_at)
					VALUES ('%02d', 'ada', 'm', 's', 'list%d', 'mail', '', '2026-01-01T00:00:%02d.000000Z', NULL)`, n, n%5, n/2))
				if err != nil {
					return err
				}
			}
			return nil
		}))
		var found []string
		cursor, pages := "", 0
		for more := true; more; more = cursor != "" {
			list, next, err := leaver.Lists(t.Context(), "ada", cursor, 2)
			require.NoError(t, err)
			for _, r := range list {
				found = append(found, r.ActionID+" "+r.ListID)
			}
			cursor, pages = next, pages+1
		}
		require.Equal(t, []string{"11 list1", "10 list0", "09 list4", "08 list3", "07 list2"}, found)
		require.Equal(t, 3, pages)
		list, next, err := leaver.Lists(t.Context(), "bob", "", 2)
		require.NoError(t, err)
		require.Empty(t, list)
		require.Empty(t, next)
		for _, odd := range []string{"odd!", "b2Rk", "b2RkCg"} {
			_, _, err = leaver.Lists(t.Context(), "ada", odd, 2)
			require.ErrorIs(t, err, unsubscribe.ErrCursor)
		}
	})
}
