package main

import (
	"context"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A user connects a mailbox, is told what came and is reminded, and is deleted.
func TestJobTypes(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "jobtypes.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	mail := func(context.Context, string) iter.Seq2[*postroom.Message, error] {
		return func(yield func(*postroom.Message, error) bool) {
			for range 6 {
				if !yield(&postroom.Message{From: postroom.Address{Email: "ann@example.org"}, ReceivedAt: time.Now()}, nil) {
					return
				}
			}
		}
	}
	model := llmtest.NewScripted(t, llmtest.Says("Six messages of Ann."))
	s, err := newService(t.Context(), db, model, mail)
	require.NoError(t, err)
	require.NoError(t, s.connect(t.Context(), "ada", "Europe/Berlin"))
	require.NoError(t, s.remind(t.Context(), "ada", "Call Ben", "tomorrow 9:30", time.UTC))
	require.Error(t, s.remind(t.Context(), "ada", "Call Ben", "whenever", time.UTC))
	_, err = s.queue.FireSchedule(t.Context(), "morning:ada")
	require.NoError(t, err)
	queuetest.PromoteScheduled(t, s.queue)
	queuetest.Work(t, s.queue, func(d *queue.Dispatcher) { require.NoError(t, s.register(d)) })

	results := map[string]string{}
	jobs, err := s.queue.Jobs(t.Context(), queue.Filter{UserID: "ada"})
	require.NoError(t, err)
	for i := range jobs {
		require.Equal(t, queue.StateCompleted, jobs[i].State, jobs[i].LastError)
		results[jobs[i].Type] = string(jobs[i].Result)
	}
	require.Len(t, results, 3)
	require.Contains(t, results["email_processing"], `{"output_preview":"6 messages`)
	require.Contains(t, results["agent_invocation"], `{"output":"Six messages of Ann.","duration_ms":`)
	require.Contains(t, results["reminder_delivery"], `{"delivered":true,"reminder_id":`)
	require.Contains(t, model.Requests()[0].Messages[0].Text, "person: 6")
	var told []string
	require.NoError(t, db.Reader().Select(&told, "SELECT title FROM inbox WHERE user_id = 'ada' ORDER BY title"))
	require.Equal(t, []string{"Reminder: Call Ben", "morning"}, told)

	require.NoError(t, s.remove(t.Context(), "ada"))
	for _, table := range []string{"jobs", "job_schedules", "job_keys", "reminders", "onboarding_reports", "inbox"} {
		var n int
		require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM "+table))
		require.Zero(t, n, table)
	}
}
