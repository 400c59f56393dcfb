package voice_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/voice"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

type world struct {
	*testing.T
	db      queue.DB
	store   *mailstore.Store
	queue   *queue.Queue
	service *voice.Service
	account string
	learned []voice.Material
	learn   func(voice.Material) (string, error)
}

func eachWorld(t *testing.T, fn func(w *world)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := &world{T: t, db: db}
		for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, voice.Migrate,
			voice.Migrate} {
			require.NoError(t, migrate(t.Context(), db))
		}
		var err error
		w.store, err = mailstore.New(mailstore.Config{DB: db})
		require.NoError(t, err)
		w.queue, err = queue.New(db, &queue.Config{
			Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond}})
		require.NoError(t, err)
		w.service, err = voice.New(voice.Config{Store: w.store, Queue: w.queue, Learner: voice.LearnerFunc(w.model),
			Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		w.tx(func(ctx context.Context, tx queue.Tx) (err error) {
			w.account, err = w.store.EnsureAccount(ctx, tx, "ada@example.org", time.Now())
			return err
		})
		fn(w)
	})
}

func (w *world) model(_ context.Context, m voice.Material) (string, error) {
	w.learned = append(w.learned, m)
	if w.learn != nil {
		return w.learn(m)
	}
	return fmt.Sprintf(" Profile %d. ", len(w.learned)), nil
}

func (w *world) tx(fn func(context.Context, queue.Tx) error) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), fn))
}

func (w *world) run(jobs ...queue.NewJob) {
	w.Helper()
	for _, job := range jobs {
		_, err := w.queue.Enqueue(w.Context(), job)
		require.NoError(w, err)
	}
	d, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{Workers: 1, PollInterval: 20 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(w, err)
	require.NoError(w, w.service.Register(d))
	require.NoError(w, d.RunUntilIdle(w.Context()))
}

func (w *world) save(m postroom.Message) string {
	w.Helper()
	m.AccountID, m.ProviderID = w.account, rand.Text()
	m.From = postroom.Address{Email: "ada@example.org"}
	m.ReceivedAt = time.Now().Add(-time.Hour)
	w.tx(func(ctx context.Context, tx queue.Tx) error {
		_, err := w.store.SaveMessage(ctx, tx, &m, 1)
		return err
	})
	return m.ProviderID
}

func (w *world) sent(thread, text string, headers ...postroom.Header) string {
	return w.save(postroom.Message{ProviderThreadID: thread, LabelIDs: []string{postroom.LabelSent}, BodyPlain: text,
		Headers: headers})
}

func (w *world) received(thread, text string) {
	w.save(postroom.Message{ProviderThreadID: thread, LabelIDs: []string{postroom.LabelInbox}, BodyPlain: text})
}

// draft stores that a message was made as a draft, and the id that it was sent with.
func (w *world) draft(messageID, sentID string) {
	w.tx(func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`
			INSERT INTO drafts (account_id, draft_key, state, rfc_message_id, sent_message_id, created_at, updated_at)
			VALUES ('%s', '%[2]s', 'sent', '%[2]s', '%[3]s', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z')`,
			w.account, messageID, sentID))
		return err
	})
}

// letters are mails with enough words.
func (w *world) letters(n int) {
	for i := range n {
		w.sent(fmt.Sprint("letters", i), fmt.Sprintf("Hi %c, %s\nBye.", 'a'+i, strings.Repeat("lovely words of mine ", 6)))
	}
}

func (w *world) profile() voice.Profile {
	w.Helper()
	p, err := w.service.Profile(w.Context(), w.account)
	require.NoError(w, err)
	return p
}

// rebuild has the profile learned anew; one that was edited only with its version.
func (w *world) rebuild(version int64) error {
	return w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.service.Rebuild(ctx, tx, w.account, version, version != 0)
	})
}

func (w *world) edit(text string, version int64) error {
	return w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.service.Edit(ctx, tx, w.account, text, version, "ada")
	})
}

func (w *world) refused(err error, says string) {
	w.Helper()
	_, is := errors.AsType[*voice.ProfileError](err)
	require.True(w, is, err)
	require.ErrorContains(w, err, says)
}

// Only what the owner has written reaches the model, however it was quoted.
func TestNothingOfOthersIsLearned(t *testing.T) {
	eachWorld(t, func(w *world) {
		mine := strings.Repeat("my own words are these ", 6)
		const secret = "the merger with Globex closes on Friday and nobody may know"
		w.letters(9)
		w.received("t1", "Dear Ada,\n"+secret+".\nKeep it.")
		w.sent("t1", mine+"\n\nOn Sat, Mar 7, 2026 at 12:00 PM Bob <bob@example.com> wrote:\n\n> "+secret+"\n")
		w.received("t2", "Dear Ada,\nas you know "+secret+".\nKeep it.")
		w.sent("t2", mine+"two\n"+strings.ToUpper(secret)+"!\nas said")
		w.received("t3", "x")
		w.sent("t3", mine+"three\n\n---------- Forwarded message ---------\nFrom: Bob <bob@example.com>\nDate: Sat, Mar 7, 2026\n"+
			"Subject: Merger\nTo: <ada@example.org>\n\n"+secret+"\n")
		w.save(postroom.Message{ProviderThreadID: "t4", LabelIDs: []string{postroom.LabelSent}, BodyHTML: "<p>" + mine +
			"four</p><blockquote type=cite>" + secret + "</blockquote>"})
		w.sent("t5", mine+"five, call +49 30 1234 or ada@example.org, see https://example.org/x")
		w.sent("t6", mine+"of a program", postroom.Header{Name: "Auto-Submitted", Value: "auto-replied"})
		w.sent("t7", "too few words")
		w.received("t8", mine+"received")
		draft := w.sent("t9", mine+"of a model, edited")
		w.draft("edited@example.org", draft)
		w.save(postroom.Message{ProviderThreadID: "t10", MessageID: "made@example.org",
			LabelIDs: []string{postroom.LabelSent}, BodyPlain: mine + "of a model"})
		w.draft("made@example.org", "")
		require.NoError(t, w.rebuild(0))
		w.run()
		require.Len(t, w.learned, 1)
		all := strings.ToLower(fmt.Sprint(w.learned))
		for _, word := range []string{"globex", "of a program", "too few", "received", "of a model", "1234", "@", "https"} {
			require.NotContains(t, all, word)
		}
		for _, word := range []string{"two", "three", "four", "five, call +# #"} {
			require.Contains(t, all, word)
		}
		require.Len(t, w.learned[0].Mail, 14)
		require.Empty(t, w.learned[0].Lessons)
		require.Equal(t, []any{"Profile 1.", false, 14}, []any{w.profile().Text,
			w.profile().EditedBy != "", w.profile().Mails})
	})
}

// A profile that the owner has edited stays, whatever the schedule says and whatever was being learned.
func TestAnEditedProfileIsTheOwners(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.letters(10)
		w.run(voice.NewDueJob())
		require.Equal(t, "Profile 1.", w.profile().Text)
		w.run(voice.NewDueJob())
		require.Len(t, w.learned, 1, "it is good for a month")
		w.tx(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE voice_profiles SET changed_at = '2026-01-01T00:00:00.000000Z'")
			return err
		})
		w.run(voice.NewDueJob())
		require.Equal(t, "Profile 2.", w.profile().Text)

		w.refused(w.edit("Mine.", 1), "has changed since it was shown")
		w.refused(w.edit(strings.Repeat("ä", voice.MaxProfile+1), 2), "2001 characters")
		require.NoError(t, w.rebuild(0))
		require.NoError(t, w.edit(" Mine.\r\nMine. ", 2))
		w.run()
		require.Len(t, w.learned, 2, "what was asked for before the edit is not learned")
		require.Equal(t, []any{"Mine.\nMine.", "ada"}, []any{w.profile().Text, w.profile().EditedBy})
		w.tx(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE voice_profiles SET changed_at = '2026-01-01T00:00:00.000000Z'")
			return err
		})
		w.run(voice.NewDueJob())
		w.refused(w.rebuild(0), "ada has edited the profile on 2026-01-01")
		require.Len(t, w.learned, 2)

		w.learn = func(voice.Material) (string, error) {
			if len(w.learned) == 3 {
				require.NoError(t, w.edit("Mine again.", 3))
			}
			return strings.Repeat("x", voice.MaxProfile+1), nil
		}
		w.refused(w.rebuild(2), "has changed since it was shown")
		require.NoError(t, w.rebuild(3))
		w.run()
		require.Equal(t, "Mine again.", w.profile().Text, "edited while it was learned")
		w.refused(w.rebuild(3), "has changed since it was shown")
		require.NoError(t, w.rebuild(4))
		w.run()
		require.Equal(t, strings.Repeat("x", voice.MaxProfile), w.profile().Text)
		p := w.profile()
		require.False(t, p.Edited())
		require.NoError(t, w.edit("", p.Version))
		w.run(voice.NewDueJob())
		require.Empty(t, w.profile().Text, "an empty one stays empty")
	})
}

// Too little mail asks no model, and says so.
func TestTooLittleMail(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.letters(9)
		w.run(voice.NewDueJob())
		require.Empty(t, w.learned)
		require.Contains(t, w.profile().Note, "and there are 9")
		w.letters(1)
		w.sent("more", strings.Repeat("another mail of mine ", 6))
		w.learn = func(voice.Material) (string, error) {
			if len(w.learned) == 1 {
				return "", errors.New("out of order")
			}
			return "Fine.", nil
		}
		w.run(voice.NewDueJob())
		require.Len(t, w.learned, 2, "a failure is tried again")
		require.Equal(t, []any{"Fine.", ""}, []any{w.profile().Text, w.profile().Note})
		w.tx(func(ctx context.Context, tx queue.Tx) error { return voice.Forget(ctx, tx, w.account) })
		require.Equal(t, voice.Profile{AccountID: w.account}, w.profile())
	})
}

// A model that learns nothing is asked once a month, too.
func TestAModelThatLearnsNothingIsAskedOnceAMonth(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.letters(10)
		w.learn = func(voice.Material) (string, error) { return " ", nil }
		w.run(voice.NewDueJob())
		w.run(voice.NewDueJob())
		require.Len(t, w.learned, 1)
		require.Contains(t, w.profile().Note, "has learned nothing")
		w.tx(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE voice_profiles SET tried_at = '2026-01-01T00:00:00.000000Z'")
			return err
		})
		w.run(voice.NewDueJob())
		require.Len(t, w.learned, 2)
	})
}

// A lesson is the difference, in sentences, without facts and without what another has written.
func TestALessonIsTheDifference(t *testing.T) {
	eachWorld(t, func(w *world) {
		thread := []*postroom.Message{{LabelIDs: []string{postroom.LabelInbox},
			BodyPlain: "Our budget for the tower is one million."}}
		d := voice.SentDraft{AccountID: w.account, MessageID: "m1", Thread: thread,
			Draft: "Dear Bob,\nyes. As you say, our budget for the tower is one million. Kind regards",
			Sent:  "Hi Bob!\nyes. Call me at 030 1234.\r\nour budget for the tower is one million\nKind regards"}
		w.tx(w.service.Sent(d))
		w.tx(w.service.Sent(d))
		d.MessageID, d.Sent = "m2", d.Draft
		w.tx(w.service.Sent(d))
		lessons, err := w.service.Lessons(t.Context(), w.account)
		require.NoError(t, err)
		require.Len(t, lessons, 1)
		require.Equal(t, []string{"Dear Bob,"}, lessons[0].Removed)
		require.Equal(t, []string{"Hi Bob!", "Call me at # #."}, lessons[0].Added)
		w.letters(10)
		w.run(voice.NewDueJob())
		require.Equal(t, lessons[0].Added, w.learned[0].Lessons[0].Added)
		require.Equal(t, 1, w.profile().Lessons)
		w.tx(func(ctx context.Context, tx queue.Tx) error {
			for i := range 510 {
				_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO voice_lessons (account_id, message_id, removed, added, at)
					VALUES ('%s', 'n%d', '[]', '[]', '2026-01-01T00:%02d:%02d.000000Z')`, w.account, i, i/60, i%60))
				if err != nil {
					return err
				}
			}
			return nil
		})
		d.MessageID = "m3"
		w.tx(w.service.Sent(d))
		var n int
		require.NoError(t, w.db.Reader().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM voice_lessons").Scan(&n))
		require.Equal(t, 500, n)
	})
}

// A short sentence of another is not the owner's, wherever it stands and however its lines end.
func TestShortSentencesOfOthersAreNoLesson(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.tx(w.service.Sent(voice.SentDraft{AccountID: w.account, MessageID: "m1",
			Thread: []*postroom.Message{{LabelIDs: []string{postroom.LabelInbox},
				BodyPlain: "Thanks. Call Anna Bergmann\r\ntonight. Her son died. Nobody else knows! Do come."}},
			Draft: "Hello.\nHer son died.",
			Sent:  "Hi.\nCall Anna Bergmann tonight. Nobody else knows."}))
		lessons, err := w.service.Lessons(t.Context(), w.account)
		require.NoError(t, err)
		require.Len(t, lessons, 1)
		require.Equal(t, []string{"Hello."}, lessons[0].Removed)
		require.Equal(t, []string{"Hi."}, lessons[0].Added)
	})
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := voice.New(voice.Config{})
	for _, what := range []string{"Config.Store", "Config.Queue", "Config.Learner"} {
		require.ErrorContains(t, err, what)
	}
	require.Error(t, voice.Migrate(t.Context(), nil))
	require.Error(t, (&voice.Service{}).Register(nil))
}
