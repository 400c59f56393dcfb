package mailstore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A box is a store on SQLite with one account.
type box struct {
	db      queue.DB
	store   *Store
	account string
}

func newBox(t *testing.T) box {
	t.Helper()
	db := dbtest.SQLite(t)
	require.NoError(t, Migrate(t.Context(), db))
	s, err := New(Config{DB: db})
	require.NoError(t, err)
	return box{db, s, ensureAccount(t, s, "me@example.com")}
}

func TestMigrateTwice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, Migrate(t.Context(), db))
		require.NoError(t, Migrate(t.Context(), db))
	})
}

func TestAccounts(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, id string) {
		require.Equal(t, id, ensureAccount(t, s, " Me@Example.COM "), "the same account")
		other := ensureAccount(t, s, "another@example.com")
		require.NotEqual(t, id, other)

		account, err := s.Account(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, "me@example.com", account.Email)
		require.Zero(t, account.HistoryID)
		require.Zero(t, account.LastSyncAt)
		require.Equal(t, Backfill{State: BackfillNone}, account.Backfill)
		require.WithinDuration(t, time.Now(), account.CreatedAt, time.Minute)

		byEmail, err := s.AccountByEmail(t.Context(), "ME@example.com")
		require.NoError(t, err)
		require.Equal(t, account, byEmail)

		accounts, err := s.Accounts(t.Context())
		require.NoError(t, err)
		require.Len(t, accounts, 2)
		require.Equal(t, "another@example.com", accounts[0].Email)

		_, err = s.Account(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = s.AccountByEmail(t.Context(), "nobody@example.com")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		err = s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := s.EnsureAccount(ctx, tx, "somebody", time.Time{})
			return err
		})
		require.ErrorContains(t, err, `account "somebody"`)
	})
}

func TestCursor(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, id string) {
		const large = 1<<53 + 1 // more than a float holds
		move := func(to uint64, upToDate bool) Account {
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				return s.Progress().MoveCursor(ctx, tx, id, to, upToDate)
			})
			account, err := s.Account(t.Context(), id)
			require.NoError(t, err)
			return account
		}
		require.Zero(t, move(5, false).LastSyncAt)
		synced := move(large, true)
		require.Equal(t, uint64(large), synced.HistoryID)
		require.WithinDuration(t, time.Now(), synced.LastSyncAt, time.Minute)
		require.Equal(t, synced.LastSyncAt, move(large+1, false).LastSyncAt, "half a sync is none")

		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			cursor, err := s.Progress().LockCursor(ctx, tx, id)
			require.Equal(t, uint64(large+1), cursor)
			return err
		})
		err := s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Progress().LockCursor(ctx, tx, "nobody")
			return err
		})
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestBackfillState(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, id string) {
		steps := []struct {
			name        string
			start       bool
			query, next string
			want        Backfill
		}{
			{"first page", true, "", "p2", Backfill{BackfillRunning, "", "", "p2", 1, 2, 9}},
			{"another query meanwhile", true, "newer_than:7d", "q2", Backfill{BackfillRunning, "", "", "p2", 1, 2, 9}},
			{"and its end", false, "newer_than:7d", "", Backfill{BackfillRunning, "", "", "p2", 1, 2, 9}},
			{"next page", false, "", "p3", Backfill{BackfillRunning, "", "", "p3", 2, 4, 9}},
			{"last page", false, "", "", Backfill{BackfillDone, "", "", "", 3, 6, 9}},
			{"another query now", true, "newer_than:7d", "q2", Backfill{BackfillRunning, "", "newer_than:7d", "q2", 1, 2, 9}},
			{"its end", false, "newer_than:7d", "", Backfill{BackfillDone, "", "newer_than:7d", "", 2, 4, 9}},
		}
		for _, step := range steps {
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				if step.start {
					if err := s.Progress().StartBackfill(ctx, tx, id, step.query, 9); err != nil {
						return err
					}
				}
				return s.Progress().MoveBackfill(ctx, tx, id, step.query, gmailapi.MessagePage{IDs: []string{"a", "b"},
					NextPageToken: step.next})
			})
			account, err := s.Account(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, step.want, account.Backfill, step.name)
		}
	})
}

func TestMessageComesBackWhole(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		m := fullMessage(accountID)
		save(t, s, m)
		require.NotEmpty(t, m.ID)
		require.NotEmpty(t, m.ThreadID)

		stored, err := s.Message(t.Context(), accountID, m.ID)
		require.NoError(t, err)
		require.Equal(t, m, stored)

		id, err := s.MessageID(t.Context(), accountID, "m1")
		require.NoError(t, err)
		require.Equal(t, m.ID, id)

		n, err := s.CountMessages(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

func TestSavingAgainKeepsIDs(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		first := fullMessage(accountID)
		save(t, s, first)
		again := fullMessage(accountID)
		again.Subject = "Grüße noch einmal"
		again.LabelIDs = []string{"INBOX"}
		save(t, s, again)
		require.Equal(t, first.ID, again.ID)
		require.Equal(t, first.ThreadID, again.ThreadID)

		stored, err := s.Message(t.Context(), accountID, first.ID)
		require.NoError(t, err)
		require.Equal(t, again, stored)

		other := fullMessage(ensureAccount(t, s, "another@example.com"))
		save(t, s, other)
		require.NotEqual(t, first.ID, other.ID, "Gmail's ids are of one account")
		_, err = s.Message(t.Context(), accountID, other.ID)
		require.ErrorIs(t, err, postroom.ErrNotFound, "another account's message")
	})
}

func TestEmptyMessage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		m := &postroom.Message{AccountID: accountID, ProviderID: "m1", ProviderThreadID: "t1"}
		save(t, s, m)
		stored, err := s.Message(t.Context(), accountID, m.ID)
		require.NoError(t, err)
		require.Empty(t, stored.LabelIDs)
		stored.LabelIDs = nil
		require.Equal(t, m, stored)
	})
}

func TestTextThatNoDatabaseTakes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		const bad = "a\x00b\xffc \\u0000 \\"
		const good = "a\uFFFDb\uFFFDc \\u0000 \\"
		spoil := func(m *postroom.Message, text string) *postroom.Message {
			m.MessageID, m.InReplyTo, m.References = text, text, []string{text}
			m.From = postroom.Address{Name: text, Email: text}
			m.To = []postroom.Address{{Name: text, Email: text}}
			m.Subject, m.Snippet, m.BodyPlain, m.BodyHTML = text, text, text, text
			m.Headers = []postroom.Header{{Name: text, Value: text}}
			m.Attachments = []postroom.Attachment{{Filename: text, ContentType: text}}
			return m
		}
		m := spoil(fullMessage(accountID), bad)
		save(t, s, m)
		want := spoil(fullMessage(accountID), good)
		want.ID, want.ThreadID = m.ID, m.ThreadID

		stored, err := s.Message(t.Context(), accountID, m.ID)
		require.NoError(t, err)
		require.Equal(t, want, stored)

		thread, err := s.Thread(t.Context(), accountID, m.ThreadID)
		require.NoError(t, err)
		require.Equal(t, good, thread.Subject)
	})
}

func TestThreadFollowsItsNewestMessage(t *testing.T) {
	arrival := func(id string, at time.Time) *postroom.Message {
		return &postroom.Message{
			ProviderID: id, ProviderThreadID: "t1", Subject: "subject " + id, Snippet: "snippet " + id, ReceivedAt: at,
		}
	}
	steps := []struct {
		name    string
		arrival *postroom.Message
		newest  string
		at      time.Time
	}{
		{"one without a time", arrival("m0", time.Time{}), "m0", time.Time{}},
		{"the first with one", arrival("m2", day), "m2", day},
		{"an older one", arrival("m1", day.Add(-time.Hour)), "m2", day},
		{"another without a time", arrival("m5", time.Time{}), "m2", day},
		{"a newer one", arrival("m3", day.Add(time.Microsecond)), "m3", day.Add(time.Microsecond)},
	}
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		for _, step := range steps {
			m := *step.arrival
			m.AccountID = accountID
			save(t, s, &m)
			thread, err := s.Thread(t.Context(), accountID, m.ThreadID)
			require.NoError(t, err)
			want := Thread{m.ThreadID, "t1", "subject " + step.newest, "snippet " + step.newest, step.at}
			require.Equal(t, want, thread, step.name)
		}
		_, err := s.Thread(t.Context(), accountID, "none")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestLabelsOfAMessage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		m := fullMessage(accountID) // its labels are of history id 10
		save(t, s, m)
		labels := func() []string {
			stored, err := s.Message(t.Context(), accountID, m.ID)
			require.NoError(t, err)
			return stored.LabelIDs
		}
		change := func(id string, historyID uint64, kind gmailapi.EventKind, label string) (step *LabelStep) {
			event := gmailapi.HistoryEvent{HistoryID: historyID, Kind: kind, MessageID: id, LabelIDs: []string{label}}
			write(t, s, func(ctx context.Context, tx queue.Tx) (err error) {
				step, err = s.Copies().ChangeLabels(ctx, tx, accountID, event)
				return err
			})
			return step
		}
		require.Nil(t, change("m1", 9, gmailapi.LabelsRemoved, "INBOX"))
		require.Equal(t, []string{"INBOX", "Label_1", "UNREAD"}, labels(), "older than what is stored")
		step := change("m1", 11, gmailapi.LabelsAdded, "STARRED")
		require.Equal(t, []string{"INBOX", "Label_1", "STARRED", "UNREAD"}, labels())
		require.Equal(t, labels(), step.After.LabelIDs)
		require.Equal(t, postroom.LabelChange{Add: []string{"STARRED"}}, step.After.ChangeFrom(step.Before))
		change("m1", 11, gmailapi.LabelsRemoved, "UNREAD")
		require.Equal(t, []string{"INBOX", "Label_1", "STARRED"}, labels(), "another event of the same record")
		step = change("m1", 11, gmailapi.LabelsAdded, "STARRED")
		require.Equal(t, step.Before, step.After, "the same again")

		require.Nil(t, change("unknown", 12, gmailapi.LabelsAdded, "STARRED"))
		known, err := s.Copies().Copy(t.Context(), accountID, m.ID)
		require.NoError(t, err)
		trash := func(ctx context.Context, tx queue.Tx) error {
			return s.Copies().StoreOwnChange(ctx, tx, accountID, known, postroom.LabelChange{Add: []string{"TRASH"}},
				postroom.NewSnapshot([]string{"TRASH", "B"}))
		}
		write(t, s, trash)
		require.Equal(t, []string{"Label_1", "STARRED", "TRASH"}, labels(), "what comes into the trash leaves the inbox")
		change("m1", 12, gmailapi.LabelsRemoved, "TRASH")
		write(t, s, trash)
		require.Equal(t, []string{"Label_1", "STARRED"}, labels(), "a sync was later")
		_, err = s.Copies().Copy(t.Context(), accountID, "unknown")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestDeletedMessageStays(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		m := fullMessage(accountID)
		save(t, s, m)
		count := func() int {
			n, err := s.CountMessages(t.Context(), accountID)
			require.NoError(t, err)
			return n
		}
		for _, want := range []string{m.ID, ""} {
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				id, err := s.Copies().MarkDeleted(ctx, tx, accountID, "m1")
				require.Equal(t, want, id, "once")
				return err
			})
			require.Zero(t, count())
		}
		_, err := s.Message(t.Context(), accountID, m.ID)
		require.NoError(t, err)
		save(t, s, m)
		require.Equal(t, 1, count(), "Gmail has it after all")

		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Copies().MarkDeletedByID(ctx, tx, accountID, m.ID)
			return err
		})
		require.Zero(t, count())
	})
}

func TestBrokenMessages(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		raw := []byte("Subject: x\x00\xff\n\n")
		broken := BrokenMessage{
			AccountID: accountID, ProviderID: "m1", JobID: "job", Reason: "too deep\x00", Subject: "x", Snippet: "y",
			ReceivedAt: day,
		}
		for range 2 {
			write(t, s, func(ctx context.Context, tx queue.Tx) error { return s.Copies().SaveBroken(ctx, tx, broken, raw) })
		}
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			return s.Copies().SaveBroken(ctx, tx, BrokenMessage{AccountID: accountID, ProviderID: "m2"}, nil)
		})
		list, err := s.Broken(t.Context(), accountID)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.WithinDuration(t, time.Now(), list[0].CreatedAt, time.Minute)
		broken.CreatedAt, broken.Size, broken.Reason = list[0].CreatedAt, int64(len(raw)), "too deep\uFFFD"
		require.Equal(t, broken, list[0])

		kept, err := s.BrokenRaw(t.Context(), accountID, "m1")
		require.NoError(t, err)
		require.Equal(t, raw, kept, "to the byte")

		save(t, s, fullMessage(accountID))
		_, err = s.BrokenRaw(t.Context(), accountID, "m1")
		require.ErrorIs(t, err, postroom.ErrNotFound, "it has been read since")

		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Copies().MarkDeleted(ctx, tx, accountID, "m2")
			return err
		})
		list, err = s.Broken(t.Context(), accountID)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestLabels(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		put := func(labels ...postroom.Label) {
			for _, l := range labels {
				write(t, s, func(ctx context.Context, tx queue.Tx) error { return s.SaveLabel(ctx, tx, accountID, l) })
			}
		}
		inbox := postroom.Label{ID: "INBOX", Name: "INBOX", Type: postroom.LabelSystem}
		bills := postroom.Label{ID: "Label_1", Name: "Bills/Größe", Type: postroom.LabelUser}
		put(inbox, bills)
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			return s.DescribeLabel(ctx, tx, accountID, "Label_1", "what costs money", false)
		})
		bills.Name = "Rechnungen\x00"
		put(bills)

		labels, err := s.Labels(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, []postroom.Label{
			{ID: "INBOX", AccountID: accountID, Name: "INBOX", Type: postroom.LabelSystem},
			{ID: "Label_1", AccountID: accountID, Name: "Rechnungen\uFFFD", Type: postroom.LabelUser, Description: "what costs money"},
		}, labels)

		put(postroom.Label{ID: "Label_2", Name: "New", Type: postroom.LabelUser})
		labels, err = s.Labels(t.Context(), accountID)
		require.NoError(t, err)
		require.True(t, labels[1].AvailableToClassifier, "a new one of the user's")

		write(t, s, func(ctx context.Context, tx queue.Tx) error { return s.DeleteLabel(ctx, tx, accountID, "Label_2") })
		labels, err = s.Labels(t.Context(), accountID)
		require.NoError(t, err)
		require.Len(t, labels, 2)

		err = s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return s.DescribeLabel(ctx, tx, accountID, "Label_2", "", true)
		})
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestLabelID(t *testing.T) {
	tests := []struct{ name, find, want string }{
		{"by name", "Receipts", "Label_1"},
		{"whatever its case", "RECEIPTS", "Label_1"},
		{"beyond ASCII", "GRÖSSE", "Label_2"},
		{"by id", "Label_1", "Label_1"},
		{"an id has one case", "label_1", ""},
		{"a name goes before an id", "Label_2", "Label_3"},
		{"not by a part", "Receipt", ""},
		{"not by the last of nested names", "2026", ""},
		{"nested", "receipts/2026", "Label_4"},
		{"Gmail's own", "inbox", "INBOX"},
		{"nothing", "", ""},
		{"another account's", "Theirs", ""},
	}
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		other := ensureAccount(t, s, "another@example.com")
		for id, name := range map[string]string{
			"INBOX": "INBOX", "Label_1": "Receipts", "Label_2": "größe", "Label_3": "Label_2", "Label_4": "Receipts/2026",
		} {
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				return s.SaveLabel(ctx, tx, accountID, postroom.Label{ID: id, Name: name, Type: postroom.LabelUser})
			})
		}
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			return s.SaveLabel(ctx, tx, other, postroom.Label{ID: "Label_9", Name: "Theirs", Type: postroom.LabelUser})
		})
		for _, tt := range tests {
			id, ok, err := s.LabelID(t.Context(), accountID, tt.find)
			require.NoError(t, err, tt.name)
			require.Equal(t, tt.want, id, tt.name)
			require.Equal(t, tt.want != "", ok, tt.name)
		}
	})
}

func FuzzClean(f *testing.F) {
	f.Add("plain", `\u0000`)
	f.Add("a\x00b\xff", `\\u0000\\`)
	f.Add("\xff\xfe", "\xe2\x82") // each byte for itself
	f.Fuzz(func(t *testing.T, text, other string) {
		require.NotContains(t, dbvalue.Clean(text), "\x00")
		stored, err := maildb.JSON([]string{text, other})
		require.NoError(t, err)
		require.NotContains(t, strings.ReplaceAll(stored, `\\`, ""), `\u0000`)
		back, err := maildb.JSON([]string{dbvalue.Clean(text), dbvalue.Clean(other)})
		require.NoError(t, err)
		require.JSONEq(t, back, stored)
	})
}
