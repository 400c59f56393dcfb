package undo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// BenchmarkPlanAll plans the undo of many messages' actions; the time is that of one action.
func BenchmarkPlanAll(b *testing.B) {
	for name, open := range map[string]func() queue.DB{
		"sqlite": func() queue.DB { return dbtest.SQLite(b) }, "postgres": func() queue.DB { return dbtest.Postgres(b) },
	} {
		b.Run(name, func(b *testing.B) {
			const actions = 2000
			h := newFixture(b, open())
			for range actions {
				h.acted([]string{"INBOX"}, nil)
			}
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range h.undoer.PlanAll(b.Context(), safety.Filter{}, true) {
					require.NoError(b, err)
					n++
				}
				require.Equal(b, actions, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*actions), "ns/action")
		})
	}
}
