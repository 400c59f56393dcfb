package lessons

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func TestConfigNamesWhatIsMissing(t *testing.T) {
	_, err := New(Config{})
	for _, field := range []string{"DB", "Mail", "Account", "Rules", "Labels"} {
		require.ErrorContains(t, err, "Config."+field)
	}
	require.ErrorContains(t, Migrate(t.Context(), nil), "db")
	_, err = (&Store{}).Run(t.Context(), Account{}, now)
	require.ErrorContains(t, err, "account")
	require.ErrorContains(t, (&Store{}).Register(nil), "Dispatcher")
}

// Wherever the process dies, the job ends with the same rules; that of an account that was removed does nothing.
func TestTheJobSurvivesCrashes(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		require.NoError(t, rulestore.Migrate(t.Context(), q.DB()))
		require.NoError(t, Migrate(t.Context(), q.DB()))
		applies := func(w *world, cfg *Config) { cfg.Apply = w.accept }
		w := newWorld(t, q.DB(), applies)
		w.move("Label_1", w.receive(shop, 34, 0)...)
		w.move("Label_2", w.receive("news@other.example", 6, 0)...)
		w.slowly()
		w.run(now.Add(time.Minute))
		w.move("Label_1", w.receive("news@third.example", 6, 0)...)
		w.receive(shop, 12, -12) // in shadow, for a week by now
		w.slowly()
		for _, id := range []string{ada.ID, "gone"} {
			_, err := q.Enqueue(t.Context(), NewJob(id))
			require.NoError(t, err)
		}
		return queuetest.Scenario{Register: func(d *queue.Dispatcher) { require.NoError(t, w.store.Register(d)) }}
	})
}
