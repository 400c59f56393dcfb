package statistics_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// The aggregates of seed 004 (category, confidence, user action, accuracy by rule and by model, answer time, volume by
// sender) equal a full count, in whatever order mail comes and goes, is enriched anew, acted on, asked about, undone
// and corrected, and wherever a count is killed, or overtaken by another.
func TestWhatIsStoredEqualsAFullCount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, statistics.Migrate(t.Context(), db))
		rapid.Check(t, func(r *rapid.T) {
			w := &randomWorld{world: newWorld(t.Context(), r, db), r: r}
			for range rapid.IntRange(1, 40).Draw(r, "changes") {
				w.change()
			}
			w.count()
			require.Equal(r, w.full(), w.stored())
			p, err := w.store().Progress(t.Context(), w.account)
			require.NoError(r, err)
			require.Zero(r, p.Days)
		})
	})
}

type randomWorld struct {
	*world
	r                                  *rapid.T
	messages, enriched, actions, asked []string
	said                               []string
}

func (w *randomWorld) one(list []string) string { return rapid.SampledFrom(list).Draw(w.r, "which") }

func (w *randomWorld) hours() int { return rapid.IntRange(0, 60).Draw(w.r, "hours") }

func (w *randomWorld) labels() string {
	return rapid.SampledFrom([]string{`["INBOX"]`, `["SENT"]`, `["INBOX","DRAFT"]`, `["TRASH"]`}).Draw(w.r, "labels")
}

// change changes something, or does nothing where there is nothing to change.
func (w *randomWorld) change() {
	w.Helper()
	changes := []func(){w.receive, w.receive, w.act, w.act, w.tryToCount}
	if len(w.messages) > 0 {
		changes = append(changes, w.relabel, w.delete, w.arriveAtAnotherTime, w.enrichOne, w.lose)
	}
	if len(w.enriched) > 0 {
		changes = append(changes, w.enrichAgain, w.prune)
	}
	if len(w.actions) > 0 {
		changes = append(changes, w.end, w.ask, w.takeBack, w.restore, w.correct)
	}
	if len(w.asked) > 0 {
		changes = append(changes, w.answer, w.edit)
	}
	if len(w.said) > 0 {
		changes = append(changes, w.discount, w.forgetSaid)
	}
	rapid.SampledFrom(changes).Draw(w.r, "change")()
}

func (w *randomWorld) receive() {
	from := rapid.SampledFrom([]string{"ada@example.org", "Ben@Example.org", "",
		"digest@postroom.invalid"}).Draw(w.r, "from")
	received := at(w.hours())
	if rapid.Bool().Draw(w.r, "unknown") {
		received.Time = received.AddDate(-9999, 0, 0) // stored as the first instant
	}
	w.messages = append(w.messages, w.message(from, w.labels(), received))
}

func (w *randomWorld) relabel() {
	w.exec(`UPDATE messages SET labels_json = $1 WHERE id = $2`, w.labels(), w.one(w.messages))
}

func (w *randomWorld) delete() {
	w.exec(`UPDATE messages SET deleted_at = CASE WHEN deleted_at IS NULL THEN created_at END WHERE id = $1`,
		w.one(w.messages))
}

func (w *randomWorld) arriveAtAnotherTime() {
	if rapid.Bool().Draw(w.r, "without") {
		w.exec(`UPDATE messages SET received_at = NULL WHERE id = $1`, w.one(w.messages))
		return
	}
	w.exec(`UPDATE messages SET received_at = $1, from_email = 'cy@example.org' WHERE id = $2`, at(w.hours()),
		w.one(w.messages))
}

func (w *randomWorld) lose() { w.exec(`DELETE FROM messages WHERE id = $1`, w.one(w.messages)) }

func (w *randomWorld) category() (string, float64) {
	return rapid.SampledFrom([]string{"", "work", "news"}).Draw(w.r, "category"),
		rapid.SampledFrom([]float64{0, 0.1, 0.849, 1}).Draw(w.r, "confidence")
}

func (w *randomWorld) enrichOne() {
	id := w.one(w.messages)
	w.exec(`DELETE FROM enrichments WHERE message_id = $1`, id)
	category, confidence := w.category()
	w.enrich(id, category, confidence, at(w.hours()))
	w.enriched = append(w.enriched, id)
}

func (w *randomWorld) enrichAgain() {
	category, confidence := w.category()
	w.exec(`UPDATE enrichments SET category = $1, category_confidence = $2 WHERE message_id = $3`, category, confidence,
		w.one(w.enriched))
}

func (w *randomWorld) prune() {
	w.exec(`DELETE FROM enrichments WHERE message_id = $1`, w.one(w.enriched))
}

func (w *randomWorld) state() string {
	return rapid.SampledFrom([]string{"completed", "rejected", "failed"}).Draw(w.r, "state")
}

func (w *randomWorld) act() {
	d := decided{source: rapid.SampledFrom([]string{"deterministic", "llm", "none"}).Draw(w.r, "source"), rule: "News",
		model: "m-1", kind: rapid.SampledFrom([]string{"archive", "move"}).Draw(w.r, "kind"),
		key: rapid.SampledFrom([]string{"", postroom.BatchKeyPrefix}).Draw(w.r, "key"), confidence: 0.85}
	message := "elsewhere"
	if len(w.messages) > 0 {
		message = w.one(w.messages)
	}
	if rapid.Bool().Draw(w.r, "ended") {
		w.actions = append(w.actions, w.action(message, d, w.state(), at(w.hours())))
		return
	}
	w.actions = append(w.actions, w.action(message, d, "queued", at(0)))
	w.exec(`UPDATE actions SET ended_at = NULL WHERE id = $1`, w.actions[len(w.actions)-1])
}

func (w *randomWorld) end() {
	w.exec(`UPDATE actions SET state = $1, ended_at = $2 WHERE id = $3`, w.state(), at(w.hours()), w.one(w.actions))
}

func (w *randomWorld) ask() {
	id := w.one(w.actions)
	w.exec(`DELETE FROM approvals WHERE action_id = $1 AND outcome = 'waiting'`, id)
	request := w.request(id, "waiting", at(w.hours()), at(0))
	w.exec(`UPDATE approvals SET decided_at = NULL WHERE id = $1`, request)
	w.asked = append(w.asked, request)
}

func (w *randomWorld) answer() {
	id := w.one(w.asked)
	w.exec(`UPDATE approvals SET outcome = $1, decided_at = $2 WHERE id = $3`,
		rapid.SampledFrom([]string{"approved", "rejected", "withdrawn"}).Draw(w.r, "outcome"), at(w.hours()), id)
	w.exec(`UPDATE actions SET approval_id = $1 WHERE id = (SELECT action_id FROM approvals
		WHERE id = $1 AND outcome = 'approved')`, id)
}

func (w *randomWorld) edit() {
	w.exec(`UPDATE approvals SET outcome = 'withdrawn', replaced_by = 'another', decided_at = $1 WHERE id = $2`,
		at(w.hours()), w.one(w.asked))
}

func (w *randomWorld) takeBack() {
	id := w.one(w.actions)
	w.exec(`UPDATE action_links SET void_at = created_at WHERE effect_action_id = $1`, id)
	w.undo(id, w.one(w.actions), at(w.hours()))
}

// restore takes an undo back.
func (w *randomWorld) restore() {
	w.exec(`UPDATE action_links SET void_at = created_at WHERE effect_action_id = $1`, w.one(w.actions))
}

func (w *randomWorld) correct() {
	action, message := w.one(w.actions), ""
	require.NoError(w, w.db.Reader().GetContext(w.ctx, &message, `SELECT message_id FROM actions WHERE id = `+
		w.quote(action)))
	w.said = append(w.said, w.feedback(message, action,
		rapid.SampledFrom([]string{"moved_back", "relabelled", "approved", "redone"}).Draw(w.r, "kind"),
		rapid.IntRange(0, 2).Draw(w.r, "verdict"), at(w.hours())))
}

func (w *randomWorld) quote(id string) string { return "'" + id + "'" }

func (w *randomWorld) discount() {
	w.exec(`UPDATE feedback SET counted = $1 WHERE id = $2`, rapid.IntRange(0, 2).Draw(w.r, "counted"), w.one(w.said))
}

func (w *randomWorld) forgetSaid() { w.exec(`DELETE FROM feedback WHERE id = $1`, w.one(w.said)) }

// tryToCount counts, but something happens before or within the first transaction.
func (w *randomWorld) tryToCount() {
	w.Helper()
	db := &disturbed{DB: w.db}
	switch rapid.SampledFrom([]string{"nothing", "killed", "overtaken", "changed", "lost"}).Draw(w.r, "meanwhile") {
	case "killed":
		db.within = errKilled
	case "lost":
		db.after = errKilled
	case "overtaken":
		db.before = w.count
	case "changed":
		db.before = w.receive
	}
	if err := storeOf(w.r, db).Count(w.ctx); !errors.Is(err, errKilled) {
		require.NoError(w, err)
	}
}

var errKilled = errors.New("killed")

// disturbed is a database in whose first write something happens.
type disturbed struct {
	queue.DB
	before        func()
	within, after error
	begun         bool
}

func (d *disturbed) Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error {
	if d.begun {
		return d.DB.Write(ctx, fn)
	}
	d.begun = true
	if d.before != nil {
		d.before()
	}
	err := d.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return errors.Join(fn(ctx, tx), d.within) })
	return errors.Join(err, d.after)
}
