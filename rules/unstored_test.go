package rules_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

// Before the rules of an account are stored nothing is on record about its mail, in any host: the job waits. With
// them, if only an empty list or those of all accounts, it decides.
func TestNothingIsDecidedBeforeRulesAreStored(t *testing.T) {
	for name, account := range map[string]string{"its own": "acc", "those of all accounts": ""} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db queue.DB, _ *rulestore.Store) {
				d := newUnstored(t, db)
				decider, err := rules.NewClassifier(d.cfg)
				require.NoError(t, err)
				d.storeNone(t, "another")
				dispatcher, err := queue.NewDispatcher(d.queue, nil)
				require.NoError(t, err)
				require.NoError(t, rules.Register(dispatcher, d.cfg))
				events, err := d.queue.Subscribe(queue.EventFilter{Types: []string{string(rules.JobClassify)}})
				require.NoError(t, err)
				defer events.Close()
				job, err := d.queue.Enqueue(t.Context(), rules.NewClassifyJob("acc", "m1"))
				require.NoError(t, err)
				record, err := decider.Decide(t.Context(), mailFrom("amy@example.com"))
				require.NoError(t, err)
				require.Nil(t, record, "the job decides")

				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- dispatcher.Run(ctx) }()
				for ended := false; !ended; {
					e, err := events.Next(ctx)
					require.NoError(t, err)
					ended = e.Kind == queue.EventRetried || e.Kind == queue.EventCompleted
				}
				stop()
				require.NoError(t, <-ended)
				waits, err := d.queue.Job(t.Context(), job.ID)
				require.NoError(t, err)
				require.Equal(t, queue.StateQueued, waits.State)
				require.Zero(t, waits.Failures)
				require.Contains(t, waits.LastError, rules.ErrNotStored.Error())
				entries, err := d.ledger.Actions(t.Context(), safety.Filter{})
				require.NoError(t, err)
				require.Empty(t, entries)

				d.storeNone(t, account)
				require.NoError(t, d.queue.Hasten(t.Context(), job.ID))
				again, err := queue.NewDispatcher(d.queue, nil)
				require.NoError(t, err)
				require.NoError(t, rules.Register(again, d.cfg))
				require.NoError(t, again.RunUntilIdle(t.Context()))
				entries, err = d.ledger.Actions(t.Context(), safety.Filter{})
				require.NoError(t, err)
				require.Len(t, entries, 1)
				require.Equal(t, postroom.None, entries[0].Action.Type)
			})
		})
	}
}
