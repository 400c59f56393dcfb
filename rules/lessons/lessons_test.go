package lessons

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const shop = "news@shop.example"

func TestCorrectionsAreRecorded(t *testing.T) {
	each(t, func(w *world) {
		msg := w.receive(shop, 1, 0)[0]
		a := postroom.Action{ID: "act", AccountID: ada.ID, MessageID: msg.ID, Type: postroom.Move,
			Parameters: postroom.Parameters{postroom.ParamLabel: "Label_2"}}
		proposed := DecidedOf(a, postroom.Decision{RuleID: "r1", Source: postroom.SourceDeterministic})
		w.write(func(ctx context.Context, tx queue.Tx) error { return w.store.Undone(ctx, tx, a, proposed, "ada") })
		w.move("Label_1", msg)
		w.change(msg, remove("UNREAD"))
		w.write(func(ctx context.Context, tx queue.Tx) error {
			return errors.Join(w.store.Answered(ctx, tx, a, proposed, false, "ada"),
				w.store.Edited(ctx, tx, a, proposed, "ada"), w.store.Redone(ctx, tx, a, proposed, "ada"),
				w.store.Answered(ctx, tx, a, proposed, true, "ada"),
				w.store.Chosen(ctx, tx, a, proposed, learn.Act{Action: postroom.Archive}, "ada"))
		})
		w.change(msg, add("INBOX"))
		rolledBack := errors.New("rolled back")
		require.ErrorIs(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
			return errors.Join(w.store.Undone(ctx, tx, a, proposed, "ada"), rolledBack)
		}), rolledBack)

		list := w.corrections()
		var said []string
		for i := range list {
			c := list[len(list)-1-i]
			said = append(said, fmt.Sprintf("%s by %s: %s %s %v", c.Kind, c.By, c.Final.Action, c.Final.Label, c.Votes))
		}
		require.Equal(w, []string{
			"undone by ada:   true",
			"relabelled by by hand: move Label_1 true",
			"rejected by ada: move Label_1 true",
			"edited by ada: move Label_1 true",
			"redone by ada: move Label_2 true",
			"approved by ada: move Label_2 true",
			"chosen by ada: archive  true",
			"moved_back by by hand:   true",
		}, said)
		require.Equal(w, Decided{ActionID: "act", RuleID: "r1", Source: postroom.SourceDeterministic,
			Act: learn.Act{Action: postroom.Move, Label: "Label_2"}}, list[len(list)-1].Proposed)
		_, err := w.store.Corrections(w.Context(), ada.ID, 0)
		require.ErrorContains(w, err, "limit")

		w.write(func(ctx context.Context, tx queue.Tx) error { return Forget(ctx, tx, ada.ID) })
		require.Empty(w, w.corrections())
	}, nil)
}

func TestAProposedRule(t *testing.T) {
	each(t, func(w *world) {
		list := w.receive(shop, 40, 0)
		w.move("Label_1", list[:34]...)
		w.move("Label_1", w.receive(ada.Email, 9, 0)...)
		for _, msg := range w.receive("boss@work.example", 9, 20) {
			msg.LabelIDs = []string{"INBOX"} // read, and left
		}
		w.slowly()
		require.Equal(w, Report{Votes: 34, Proposed: 1}, w.run(now))
		r := w.only()
		require.Equal(w, "Learned: from "+shop+": move Receipts", r.Name)
		require.Equal(w, []any{Proposed, learn.ClassHigh, 34, 0, 40, By},
			[]any{r.State, r.Class, r.Agreeing, r.Contradicting, r.Matched, r.ChangedBy})
		require.InDelta(w, learn.LowerBound(34, 34), r.Lower, 1e-9)
		require.Len(w, r.Taught, learn.MaxShown)
		require.Equal(w, list[33].ID, r.Taught[0])
		require.Len(w, r.Samples, samples)

		file, err := rulesfile.Parse("learned.yaml", strings.NewReader(r.Text))
		require.NoError(w, err, r.Text)
		require.Equal(w, postroom.Parameters{postroom.ParamLabel: "Receipts"}, file.Rules[0].Parameters)
		require.Equal(w, ada.Email, file.Rules[0].ScopeRef)
		require.Contains(w, file.Rules[0].Description, "34 threads")

		require.Equal(w, Report{Votes: 34}, w.run(now.Add(time.Hour)), "it waits already")
		require.Equal(w, r.ID, w.only().ID)

		for _, msg := range list[:8] { // they are wanted in the inbox after all
			msg.LabelIDs = []string{"INBOX", "Label_1"}
			w.change(msg, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}})
		}
		w.slowly()
		require.Equal(w, Report{Votes: 34, Low: 1, Gone: 1}, w.run(now))
		require.Empty(w, w.learned())
	}, nil)
}

// Mail of the sender that was read and left in the inbox says that it was to stay there.
func TestMailThatWasLeft(t *testing.T) {
	each(t, func(w *world) {
		left := w.receive(shop, 30, 80) // before the person began to sort such mail
		for i, msg := range w.receive(shop, 60, 20) {
			if i%2 == 0 {
				w.move("Label_1", msg)
			} else {
				left = append(left, msg)
			}
		}
		w.receive(shop, 9, 0)                         // is not read
		left = append(left, w.receive(shop, 9, 0)...) // has not been there for long
		for _, msg := range left {
			msg.LabelIDs = []string{"INBOX"}
		}
		w.slowly()
		require.Equal(w, Report{Votes: 60, Low: 1}, w.run(now))
		require.Empty(w, w.learned())
	}, nil)
}

func TestWhatAPersonsRuleDecidesIsNotProposed(t *testing.T) {
	each(t, func(w *world) {
		w.write(func(ctx context.Context, tx queue.Tx) error {
			rule := rules.NewRule("Mine", rules.Condition{Type: rules.SenderEmail, Value: shop}, postroom.Star, nil)
			rule.AccountID = ada.ID
			_, err := w.rules.Create(ctx, tx, rule)
			return err
		})
		w.move("Label_1", w.receive(shop, 34, 0)...)
		w.slowly()
		require.Equal(w, Report{Votes: 34}, w.run(now))
	}, nil)
}

func TestFiveAWeek(t *testing.T) {
	each(t, func(w *world) {
		for i := range 7 {
			w.move("Label_1", w.receive(fmt.Sprintf("news@shop%d.example", i), 6+i, 0)...)
		}
		w.move("Label_3", w.receive(shop, 9, 0)...) // a label that is gone
		w.slowly()
		report := w.run(now)
		require.Equal(w, []int{5, 2}, []int{report.Proposed, report.Waiting})
		list, err := w.store.Learned(w.Context(), ada.ID)
		require.NoError(w, err)
		w.dismiss(list[0].ID)
		report = w.run(now.Add(6 * 24 * time.Hour))
		require.Equal(w, []int{0, 2}, []int{report.Proposed, report.Waiting})
		report = w.run(now.Add(7 * 24 * time.Hour))
		require.Equal(w, []int{2, 0}, []int{report.Proposed, report.Waiting})
		require.Len(w, w.learned(), 7)
	}, nil)
}

func TestADismissedRuleComesAgainWithTwiceTheSupport(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 6, 0)...)
		w.slowly()
		w.run(now)
		r := w.only()
		w.dismiss(r.ID)
		require.ErrorIs(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := w.store.Accept(ctx, tx, r.ID, "ada")
			return err
		}), ErrState)
		w.move("Label_1", w.receive(shop, 5, 0)...)
		w.slowly()
		require.Zero(w, w.run(now).Proposed)
		require.Equal(w, []any{Dismissed, "ada"}, []any{w.only().State, w.only().ChangedBy})
		w.move("Label_1", w.receive(shop, 1, 0)...)
		w.slowly()
		require.Equal(w, 1, w.run(now).Proposed)
		require.Equal(w, []any{r.ID, Proposed, 12}, []any{w.only().ID, w.only().State, w.only().Agreeing})
	}, nil)
}

// A rule that a person has said no to waits for the person's yes, however well it is proven.
func TestADismissedRuleIsNotAppliedByItself(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 30, 30)...)
		w.slowly()
		w.run(now)
		require.Equal(w, Shadow, w.only().State)
		w.dismiss(w.only().ID)
		w.move("Label_1", w.receive(shop, 30, 0)...)
		w.slowly()
		for week := range 3 { // the first proposes it, the next find it proposed
			w.receive(shop, 7, -7*week)
			w.run(now.AddDate(0, 0, 7*week))
			require.Equal(w, []any{Proposed, learn.ClassHigh}, []any{w.only().State, w.only().Class}, "week %d", week)
		}
		require.Empty(w, w.applied)
	}, applies)
}

// A dismissal outlasts a run in which the rule lacks its proof.
func TestADismissalIsNotForgotten(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 6, 0)...)
		w.slowly()
		w.run(now)
		r := w.only()
		w.dismiss(r.ID)
		again := w.receive(shop, 6, 0)
		w.move("Label_1", again...)
		w.slowly()
		require.Equal(w, 1, w.run(now).Proposed)
		mail := w.mail
		w.mail = nil
		require.Equal(w, 1, w.run(now).Gone)
		require.Equal(w, []any{r.ID, Dismissed}, []any{w.only().ID, w.only().State})

		w.mail = mail[:11]
		require.Zero(w, w.run(now).Proposed, "twice six is wanted")
		w.mail = mail
		require.Equal(w, 1, w.run(now).Proposed)
	}, nil)
}

func (w *world) dismiss(id string) {
	w.Helper()
	w.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := w.store.Dismiss(ctx, tx, id, "ada")
		return err
	})
}

// accept makes a learned rule one of those in use.
func (w *world) accept(ctx context.Context, id string) error {
	return w.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		r, err := w.store.Accept(ctx, tx, id, "ada")
		if err != nil {
			return err
		}
		file, err := rulesfile.Parse("learned.yaml", strings.NewReader(r.Text))
		if err != nil {
			return err
		}
		rule := file.For(ada.ID, ada.Email).Rules[0]
		rule.AccountID = ada.ID
		_, err = w.rules.Create(ctx, tx, rule)
		return err
	})
}

func TestAnAcceptedRule(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 6, 0)...)
		w.slowly()
		w.run(now)
		require.NoError(w, w.accept(w.Context(), w.only().ID))
		later := time.Now().Add(time.Hour)
		w.run(now)
		require.Equal(w, Accepted, w.only().State)

		stored, err := w.rules.List(w.Context())
		require.NoError(w, err)
		require.Len(w, stored, 1)
		w.write(func(ctx context.Context, tx queue.Tx) error { return w.rules.Delete(ctx, tx, stored[0].ID) })
		w.run(later)
		require.Equal(w, Dismissed, w.only().State, "a person has removed it")
		_, err = w.store.Rule(w.Context(), "none")
		require.ErrorIs(w, err, postroom.ErrNotFound)
	}, nil)
}

// A rule of the class high is applied by itself, if that is wanted, after seven days and ten matches.
func TestShadow(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 34, 0)...)
		w.move("Label_2", w.receive("news@other.example", 6, 0)...)
		w.slowly()
		begun := now.Add(time.Minute)
		require.Equal(w, 2, w.run(begun).Proposed)
		require.Equal(w, map[string]State{"Learned: from " + shop + ": move Receipts": Shadow,
			"Learned: from news@other.example: move News": Proposed}, w.learned())

		w.receive(shop, 9, -9)
		require.Zero(w, w.run(begun.AddDate(0, 0, 9)).Applied, "it has matched nine")
		w.receive(shop, 2, -11)
		require.Zero(w, w.run(begun.AddDate(0, 0, 6)).Applied, "it is too early")
		require.Equal(w, 1, w.run(begun.AddDate(0, 0, 11)).Applied)
		require.Equal(w, Accepted, w.learned()["Learned: from "+shop+": move Receipts"])
		require.Zero(w, w.run(begun.AddDate(0, 0, 12)).Applied)
		require.Len(w, w.applied, 1)
	}, applies)
}

// A rule that cannot be applied stays in shadow, and holds up no other and no learning.
func TestARuleThatCannotBeApplied(t *testing.T) {
	refused := ""
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 34, 0)...)
		w.move("Label_2", w.receive("news@other.example", 34, 0)...)
		w.slowly()
		w.run(now)
		list, err := w.store.Learned(w.Context(), ada.ID)
		require.NoError(w, err)
		refused = list[0].ID
		w.receive(shop, 12, -12)
		w.receive("news@other.example", 12, -12)
		w.move("Label_2", w.receive("news@third.example", 6, 0)...)
		w.slowly()
		report := w.run(now.AddDate(0, 0, 8))
		require.Equal(w, []int{1, 1}, []int{report.Applied, report.Proposed})
		r, err := w.store.Rule(w.Context(), refused)
		require.NoError(w, err)
		require.Equal(w, Shadow, r.State)
	}, func(w *world, cfg *Config) {
		applies(w, cfg)
		accept := cfg.Apply
		cfg.Apply = func(ctx context.Context, id string) error {
			if id == refused {
				return errors.New("there is a rule of its name already")
			}
			return accept(ctx, id)
		}
	})
}

// The rules of mailboxes that share a file have names that tell them apart.
func TestNamesOfRulesThatShareAFile(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 6, 0)...)
		w.slowly()
		account := ada
		account.SharesRules = true
		_, err := w.store.Run(w.Context(), account, now)
		require.NoError(w, err)
		require.Equal(w, "Learned: from "+shop+": move Receipts for "+ada.Email, w.only().Name)
	}, nil)
}

// A job that begins a minute earlier than a week ago does not wait for another week.
func TestAWeeklyJobThatBeginsEarly(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 34, 0)...)
		for i := range 5 {
			w.move("Label_1", w.receive(fmt.Sprintf("news@shop%d.example", i), 6, 0)...)
		}
		w.slowly()
		require.Equal(w, 1, w.run(now).Waiting)
		w.receive(shop, 12, -11)
		report := w.run(now.Add(7*24*time.Hour - time.Minute))
		require.Equal(w, []int{1, 1}, []int{report.Applied, report.Proposed})
	}, applies)
}

// applies has rules applied by themselves.
func applies(w *world, cfg *Config) {
	cfg.Apply = func(ctx context.Context, id string) error {
		w.applied = append(w.applied, id)
		return w.accept(ctx, id)
	}
}

// A rule that was contradicted, or whose label was deleted, during its week in shadow is not applied.
func TestAShadowWhoseProofIsGone(t *testing.T) {
	labels := []postroom.Label{{ID: "Label_1", Name: "Receipts"}}
	for name, lose := range map[string]func(w *world, list []*postroom.Message){
		"contradicted": func(w *world, list []*postroom.Message) {
			for _, msg := range list[26:] {
				msg.LabelIDs = []string{"INBOX"}
				w.change(msg, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}})
			}
			w.slowly()
		},
		"without a label": func(*world, []*postroom.Message) { labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				labels = []postroom.Label{{ID: "Label_1", Name: "Receipts"}}
				list := w.receive(shop, 34, 0)
				w.move("Label_1", list...)
				w.slowly()
				begun := now.Add(time.Minute)
				w.run(begun)
				require.Equal(w, Shadow, w.only().State)
				w.receive(shop, 11, -11)
				lose(w, list)
				report := w.run(begun.AddDate(0, 0, 11))
				require.Equal(w, []int{0, 1}, []int{report.Applied, report.Gone})
				require.Empty(w, w.applied)
				require.Empty(w, w.learned())
			}, func(w *world, cfg *Config) {
				applies(w, cfg)
				cfg.Labels = func(context.Context, string) ([]postroom.Label, error) { return labels, nil }
			})
		})
	}
}

func TestCorrectionsInBulk(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 40, 0)...) // all at once
		require.Equal(w, Report{Bulk: 40}, w.run(now))
		n, err := w.store.Bulk(w.Context(), ada.ID)
		require.NoError(w, err)
		require.Equal(w, 40, n)
		_, err = w.store.CountBulk(w.Context(), ada.ID, 39, false)
		require.ErrorIs(w, err, ErrBulk, "there were others when the person looked")
		require.Equal(w, Report{Bulk: 40}, w.run(now), "nothing is answered")
		n, err = w.store.CountBulk(w.Context(), ada.ID, 40, false)
		require.NoError(w, err)
		require.Equal(w, 40, n)
		require.Equal(w, Report{}, w.run(now), "they never count")

		w.mail = nil
		w.move("Label_2", w.receive("news@other.example", 40, 0)...)
		n, err = w.store.CountBulk(w.Context(), ada.ID, 40, true)
		require.NoError(w, err)
		require.Equal(w, 40, n)
		require.Equal(w, Report{Votes: 40, Proposed: 1}, w.run(now))
	}, nil)
}

// What was not a person's does not count by a later act on the same message, which counts for what it says itself.
func TestWhatWasNotAPersonsNeverCounts(t *testing.T) {
	each(t, func(w *world) {
		list := w.receive(shop, 40, 0)
		w.move("Label_1", list...) // all at once
		_, err := w.store.CountBulk(w.Context(), ada.ID, 40, false)
		require.NoError(w, err)
		for i, msg := range list[:10] {
			w.change(msg, add("STARRED")) // leaves the vote as it was
			w.later(10 + i)
		}
		require.Equal(w, Report{}, w.run(now))
		for i, msg := range list[10:20] {
			w.change(msg, postroom.LabelChange{Add: []string{"Label_2"}, Remove: []string{"Label_1"}})
			w.later(30 + i)
		}
		move := postroom.Action{ID: "act", AccountID: ada.ID, MessageID: list[20].ID, Type: postroom.Move,
			Parameters: postroom.Parameters{postroom.ParamLabel: "Label_1"}}
		w.write(func(ctx context.Context, tx queue.Tx) error {
			return w.store.Answered(ctx, tx, move, DecidedOf(move, postroom.Decision{Source: postroom.SourceModel}), true, "ada")
		})
		w.later(50)
		facts, _, err := w.store.Facts(w.Context(), ada, now)
		require.NoError(w, err)
		said := map[learn.Act]int{}
		for i := range facts {
			said[facts[i].Vote]++
		}
		require.Equal(w, map[learn.Act]int{{Action: postroom.Move, Label: "Label_2"}: 10,
			{Action: postroom.Move, Label: "Label_1"}: 1}, said)
	}, nil)
}

// What is older than the year that is learned from is not asked about, and is deleted by the next run.
func TestOldCorrectionsAreDeleted(t *testing.T) {
	each(t, func(w *world) {
		w.move("Label_1", w.receive(shop, 40, 0)...)
		old := dbtime.Of(time.Now().Add(-learnedFrom - time.Hour))
		w.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := dbquery.Exec(ctx, tx, "UPDATE feedback SET created_at = $1", old)
			return err
		})
		w.move("Label_1", w.receive(shop, 1, 0)...)
		n, err := w.store.Bulk(w.Context(), ada.ID)
		require.NoError(w, err)
		require.Zero(w, n)
		require.Equal(w, Report{Votes: 1}, w.run(time.Now()))
		require.Len(w, w.corrections(), 1)
	}, nil)
}

// later has the last correction made some minutes from now on.
func (w *world) later(minutes int) {
	w.Helper()
	at, id := dbtime.Of(time.Now().Add(time.Duration(minutes)*time.Minute)), w.corrections()[0].ID
	w.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, "UPDATE feedback SET created_at = $1 WHERE id = $2", at, id)
		return err
	})
}
