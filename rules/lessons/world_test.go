package lessons

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, rulestore.Migrate, Migrate) }

var (
	ada = Account{ID: "a1", Email: "ada@home.example"}
	now = time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
)

// A world is a mailbox in memory, whose rules are those of a store, and a person who corrects.
type world struct {
	testing.TB
	db      queue.DB
	store   *Store
	rules   *rulestore.Store
	mail    []*postroom.Message
	applied []string
}

func each(t *testing.T, test func(w *world), change func(w *world, cfg *Config)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) { test(newWorld(t, db, change)) })
}

func newWorld(t testing.TB, db queue.DB, change func(w *world, cfg *Config)) *world {
	t.Helper()
	w := &world{TB: t, db: db}
	stored, err := rulestore.New(rulestore.Config{DB: db})
	require.NoError(t, err)
	w.rules = stored
	cfg := Config{DB: db, Mail: w, Account: func(_ context.Context, id string) (Account, error) {
		if id != ada.ID {
			return Account{}, postroom.ErrNotFound
		}
		return ada, nil
	}, Rules: func(ctx context.Context, accountID string) ([]rules.Rule, error) {
		return stored.ListOf(ctx, accountID)
	}, Labels: func(context.Context, string) ([]postroom.Label, error) {
		return []postroom.Label{{ID: "Label_1", Name: "Receipts"}, {ID: "Label_2", Name: "News"}}, nil
	}}
	if change != nil {
		change(w, &cfg)
	}
	w.store, err = New(cfg)
	require.NoError(t, err)
	return w
}

func (w *world) Message(_ context.Context, accountID, id string) (*postroom.Message, error) {
	for _, m := range w.mail {
		if m.AccountID == accountID && m.ID == id {
			return m, nil
		}
	}
	return nil, postroom.ErrNotFound
}

func (w *world) Messages(_ context.Context, accountID string, since time.Time) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		for _, m := range w.mail {
			if m.AccountID == accountID && !m.ReceivedAt.Before(since) && !yield(m, nil) {
				return
			}
		}
	}
}

// receive puts mail of a sender into the inbox, one each day up to some days before now.
func (w *world) receive(from string, n, before int) (list []*postroom.Message) {
	for i := range n {
		id := fmt.Sprintf("%s %d", from, len(w.mail))
		msg := &postroom.Message{ID: id, ThreadID: id, AccountID: ada.ID, From: postroom.Address{Email: from},
			Subject: "Hello", ReceivedAt: now.AddDate(0, 0, i-n+1-before), LabelIDs: []string{"INBOX", "UNREAD"},
			Headers: []postroom.Header{
				{Name: "Received", Value: "from x by mx.google.com with ESMTPS id x; Sat, 07 Mar 2026 12:00:00 +0000"},
				{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=" + rules.DomainOf(from)},
				{Name: "From", Value: from}}}
		w.mail, list = append(w.mail, msg), append(list, msg)
	}
	return list
}

func (w *world) write(fn func(ctx context.Context, tx queue.Tx) error) {
	w.Helper()
	require.NoError(w, w.db.Write(w.Context(), fn))
}

// move has the person move mail to a label, unread.
func (w *world) move(label string, list ...*postroom.Message) {
	w.Helper()
	for _, msg := range list {
		msg.LabelIDs = []string{label, "UNREAD"}
		w.change(msg, postroom.LabelChange{Add: []string{label}, Remove: []string{"INBOX"}})
	}
}

func (w *world) change(msg *postroom.Message, change postroom.LabelChange) {
	w.Helper()
	w.write(func(ctx context.Context, tx queue.Tx) error {
		return w.store.LabelsChanged(ctx, tx, Change{AccountID: ada.ID, MessageID: msg.ID, Change: change,
			Labels: postroom.NewSnapshot(msg.LabelIDs)})
	})
}

// slowly has the corrections made one each minute, as a person does.
func (w *world) slowly() {
	w.Helper()
	list := w.corrections()
	slices.Reverse(list)
	w.write(func(ctx context.Context, tx queue.Tx) error {
		for i, c := range list {
			_, err := dbquery.Exec(ctx, tx, "UPDATE feedback SET created_at = $1 WHERE id = $2",
				dbtime.Of(now.Add(time.Duration(i-len(list))*time.Minute)), c.ID)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *world) corrections() []Correction {
	w.Helper()
	list, err := w.store.Corrections(w.Context(), ada.ID, 1000)
	require.NoError(w, err)
	return list
}

func (w *world) run(at time.Time) Report {
	w.Helper()
	report, err := w.store.Run(w.Context(), ada, at)
	require.NoError(w, err)
	return report
}

// learned are the states of the learned rules, by name.
func (w *world) learned() map[string]State {
	w.Helper()
	list, err := w.store.Learned(w.Context(), ada.ID)
	require.NoError(w, err)
	states := map[string]State{}
	for _, r := range list {
		states[r.Name] = r.State
	}
	return states
}

// only is the only learned rule.
func (w *world) only() Rule {
	w.Helper()
	list, err := w.store.Learned(w.Context(), ada.ID)
	require.NoError(w, err)
	require.Len(w, list, 1)
	return list[0]
}
