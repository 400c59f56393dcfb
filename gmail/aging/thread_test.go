package aging

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// The messages of a thread are asked about when the owner has waited long enough for an answer, also where what has
// become old enough is the owner's own message; an answer of the other ends the waiting.
func TestAThreadIsDecidedAboutWhenItHasWaitedLongEnough(t *testing.T) {
	eachWorld(t, func(w *world) {
		waits := rules.AllOf(rules.Condition{Type: rules.SinceIWrote, Value: "7d"},
			rules.NoneOf(rules.Condition{Type: rules.TheyAnswered}))
		w.importRules([]rules.Rule{rules.NewRule("waits", waits, postroom.Star, nil)})
		w.run(time.Hour, pageSize)
		w.arriveIn("old", "before the mailbox was added", start.Add(-4*day))
		w.arriveIn("old", "mine to old mail", start.Add(day), postroom.LabelSent)
		w.arriveIn("waits", "question", start.Add(day))
		w.arriveIn("waits", "in the trash", start.Add(day), postroom.LabelTrash)
		w.arriveIn("waits", "mine", start.Add(2*day), postroom.LabelSent)
		w.arriveIn("waits", "mine again", start.Add(3*day), postroom.LabelSent)
		w.arriveIn("answered", "asks", start.Add(day))
		w.arriveIn("answered", "my answer", start.Add(2*day), postroom.LabelSent)
		w.arriveIn("answered", "thanks", start.Add(4*day))
		w.arriveIn("alone", "no answer of mine", start.Add(day))
		for _, step := range []struct {
			after time.Duration
			want  []string
		}{
			{9 * day, nil}, // the first message of the owner is old enough, the second is not
			{2 * day, []string{"question star"}},
			{day, nil},
			{day, nil},
		} {
			decided, job := w.run(step.after, 2)
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, step.want, decided, "on %s", w.now)
		}
	})
}

// A thread is quiet when its last message is old enough, and then each of its messages is asked about.
func TestAQuietThreadIsDecidedAboutAsAWhole(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.importRules([]rules.Rule{rules.NewRule("quiet", rules.Condition{Type: rules.ThreadQuiet, Value: "30d"},
			postroom.Archive, nil)})
		w.run(time.Hour, pageSize)
		w.arriveIn("t", "first", start.Add(day))
		w.arriveIn("t", "second", start.Add(10*day))
		w.arriveIn("t", "mine", start.Add(20*day), postroom.LabelSent)
		decided, _ := w.run(45*day, pageSize)
		require.Empty(t, decided)
		decided, _ = w.run(6*day, pageSize)
		require.Equal(t, []string{"first archive", "second archive"}, decided)
		w.arriveIn("t", "third", w.now)
		decided, _ = w.run(40*day, pageSize)
		require.Equal(t, []string{"third archive"}, decided, "once for each message")
	})
}
