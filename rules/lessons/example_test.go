package lessons

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/learn"
)

// examples has worlds whose host names the senders of mail, and worlds whose host does not.
func examples(t *testing.T, test func(w *world)) {
	for _, named := range []bool{true, false} {
		t.Run(fmt.Sprint("senders known ", named), func(t *testing.T) {
			each(t, test, func(w *world, cfg *Config) {
				if named {
					cfg.From = w.from
				}
			})
		})
	}
}

func (w *world) from(ctx context.Context, accountID string, ids []string) (map[string]string, error) {
	if len(ids) > 100 {
		return nil, fmt.Errorf("%d ids at once", len(ids))
	}
	from := map[string]string{}
	for _, id := range ids {
		if m, err := w.Message(ctx, accountID, id); err == nil {
			from[id] = strings.ToUpper(m.From.Email[:1]) + m.From.Email[1:]
		}
	}
	return from, nil
}

// decided has a model decide about a message, or another source.
func (w *world) decided(source postroom.Source, msg *postroom.Message, act learn.Act) (postroom.Action, Decided) {
	a := postroom.Action{ID: "of " + msg.ID, AccountID: ada.ID, MessageID: msg.ID, Type: act.Action,
		Parameters: act.Parameters()}
	return a, DecidedOf(a, postroom.Decision{Source: source})
}

func (w *world) undone(source postroom.Source, list ...*postroom.Message) {
	w.Helper()
	for _, msg := range list {
		a, by := w.decided(source, msg, learn.Act{Action: postroom.Archive})
		w.write(func(ctx context.Context, tx queue.Tx) error { return w.store.Undone(ctx, tx, a, by, "ada") })
	}
}

// subjects are those of the examples for a message.
func (w *world) subjects(msg *postroom.Message) (list []string) {
	w.Helper()
	found, err := w.store.Examples(w.Context(), msg)
	require.NoError(w, err)
	for _, e := range found {
		list = append(list, e.Subject)
	}
	return list
}

// titled gives each message a subject of its own.
func titled(list []*postroom.Message) []*postroom.Message {
	for i, msg := range list {
		msg.Subject = fmt.Sprint(msg.From.Email, " ", i)
	}
	return list
}

func TestExamplesSayWhatAPersonMadeOfIt(t *testing.T) {
	examples(t, func(w *world) {
		list := titled(w.receive(shop, 9, 0))
		next := w.receive(shop, 1, 0)[0]
		move, archive := learn.Act{Action: postroom.Move, Label: "Label_1"}, learn.Act{Action: postroom.Archive}
		answer := func(i int, act learn.Act, approved bool) {
			a, by := w.decided(postroom.SourceModel, list[i], act)
			w.write(func(ctx context.Context, tx queue.Tx) error { return w.store.Answered(ctx, tx, a, by, approved, "ada") })
		}
		answer(0, move, true)
		answer(1, archive, false)
		w.undone(postroom.SourceModel, list[2])
		a, by := w.decided(postroom.SourceModel, list[3], archive)
		w.write(func(ctx context.Context, tx queue.Tx) error { return w.store.Chosen(ctx, tx, a, by, move, "ada") })
		_, by = w.decided(postroom.SourceModel, list[4], archive)
		w.write(func(ctx context.Context, tx queue.Tx) error {
			return w.store.LabelsChanged(ctx, tx, Change{AccountID: ada.ID, MessageID: list[4].ID, Proposed: by,
				Change: postroom.LabelChange{Add: []string{"INBOX"}}, Labels: postroom.NewSnapshot([]string{"INBOX"})})
		})
		w.move("Label_2", list[5]) // which nobody had decided about
		a, by = w.decided(postroom.SourceModel, list[6], learn.Act{Action: postroom.Move, Label: "Label_9"})
		w.write(func(ctx context.Context, tx queue.Tx) error { return w.store.Answered(ctx, tx, a, by, true, "ada") })
		w.undone(postroom.SourceModel, list[7])
		w.mail = slices.DeleteFunc(w.mail, func(m *postroom.Message) bool { return m == list[7] })
		w.undone(postroom.SourceDeterministic, list[8])

		found, err := w.store.Examples(w.Context(), next)
		require.NoError(w, err)
		require.Equal(w, []Example{
			{"none", "then did by hand: move (label News)", shop + " 5"},
			{"archive", "changed it back", shop + " 4"},
			{"archive", "chose in its place: move (label Receipts)", shop + " 3"},
			{"archive", "took it back", shop + " 2"},
			{"archive", "rejected it", shop + " 1"},
			{"move (label Receipts)", "approved it", shop + " 0"},
		}, found, "without labels and mail that are gone, and what rules have decided")
		require.NotContains(w, w.subjects(list[2]), list[2].Subject, "a message is no example of itself")
	})
}

// The words of one correspondent never stand in the prompt that decides about another's mail.
func TestExamplesAreOfTheSenderAlone(t *testing.T) {
	examples(t, func(w *world) {
		mine := titled(w.receive("ann@home.example", 1, 0))[0]
		neighbour := titled(w.receive("bob@home.example", 1, 0))[0]
		forged := titled(w.receive("ann@home.example", 1, 0))[0]
		forged.Subject, forged.Headers[1].Value = "forged", "mx.google.com; dmarc=fail header.from=home.example"
		twice := titled(w.receive("ann@home.example", 1, 0))[0]
		twice.Subject, twice.Headers = "twice", append(twice.Headers, postroom.Header{Name: "From", Value: "x@evil.example"})
		sameList := titled(w.receive("mallory@evil.example", 1, 0))[0]
		list := postroom.Header{Name: "List-Id", Value: "<news.home.example>"}
		sameList.Headers = append(sameList.Headers, list)
		w.undone(postroom.SourceModel, mine, neighbour, forged, twice, sameList)

		next := w.receive("Ann@HOME.example", 1, 0)[0]
		require.Equal(w, []string{mine.Subject}, w.subjects(next))
		next.Headers = append(next.Headers, list)
		require.Equal(w, []string{mine.Subject}, w.subjects(next), "of the list the sender has none")
		require.Empty(w, w.subjects(forged), "who only claims to be the sender learns nothing of it")
		require.Empty(w, w.subjects(twice))
		require.Empty(w, w.subjects(w.receive("other@home.example", 1, 0)[0]))
		elsewhere := *next
		elsewhere.AccountID = "a2"
		require.Empty(w, w.subjects(&elsewhere), "each mailbox has its own")

		ofList := titled(w.receive("ann@home.example", 1, 0))[0]
		ofList.Subject, ofList.Headers = "of the list", append(ofList.Headers, list)
		w.undone(postroom.SourceModel, ofList)
		require.Equal(w, []string{"of the list"}, w.subjects(next), "the same list comes before all mail of the sender")
	})
}

// Services and groups send the mail of many people from one address: their words are told apart by their names.
func TestExamplesHaveNoWordsOfOthersWhoShareAnAddress(t *testing.T) {
	examples(t, func(w *world) {
		const service = "notifications@forge.example"
		list := titled(w.receive(service, 3, 0))
		list[0].From.Name, list[1].From.Name, list[2].From.Name = "Ann", "Mallory", " ann"
		w.undone(postroom.SourceModel, list...)
		next := w.receive(service, 1, 0)[0]
		next.From.Name = "Ann"
		require.Equal(w, []string{list[2].Subject, "", list[0].Subject}, w.subjects(next))
		next.From.Name = ""
		require.Equal(w, []string{"", "", ""}, w.subjects(next), "what the person made of it is known all the same")
	})
}

func TestExamplesAreTheTenNewestThatCount(t *testing.T) {
	examples(t, func(w *world) {
		list := titled(w.receive(shop, 15, 0))
		next := w.receive(shop, 1, 0)[0]
		w.undone(postroom.SourceModel, list...)
		got := w.subjects(next)
		require.Len(w, got, 10)
		require.Equal(w, list[14].Subject, got[0])
		require.Equal(w, list[5].Subject, got[9])

		other := w.receive("other@home.example", 6, 0)
		w.undone(postroom.SourceModel, other...) // 21 at once: nobody knows whose they are
		require.Empty(w, w.subjects(next))
		_, err := w.store.CountBulk(w.Context(), ada.ID, 21, true)
		require.NoError(w, err)
		require.Equal(w, got, w.subjects(next))
	})
}
