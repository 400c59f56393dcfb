package queuetest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

var inspectCases = []conformanceCase{
	{
		name:        "Job/is not found when there is none",
		explanation: "an unknown id is ErrJobNotFound, and lists about it are empty",
		run: func(s *suite) {
			_, err := s.d.Job(s.Context(), "none")
			require.ErrorIs(s, err, queue.ErrJobNotFound)
			attempts, err := s.d.Attempts(s.Context(), "none")
			require.NoError(s, err)
			require.Empty(s, attempts)
			require.Empty(s, s.steps("none"))
		},
	},
	{
		name:        "Jobs/lists newest first, filtered, page by page",
		explanation: "filters by state and type combine; Before continues below an id; Limit bounds",
		run: func(s *suite) {
			var all []string
			for range 3 {
				all = append(all, s.inState(queue.StateCompleted), s.inState(queue.StateFailed, ofType("u")), s.inState(queue.StateCanceled, ofType("u")))
			}
			slices.Reverse(all)
			for _, c := range []struct {
				name   string
				filter queue.Filter
				want   []string
			}{
				{"all", queue.Filter{Limit: 100}, all},
				{"limit", queue.Filter{Limit: 2}, all[:2]},
				{"before", queue.Filter{Limit: 3, Before: all[1]}, all[2:5]},
				{"type", queue.Filter{Limit: 100, Types: []string{"t"}}, []string{all[2], all[5], all[8]}},
				{"types", queue.Filter{Limit: 100, Types: []string{"t", "u"}}, all},
				{"state", queue.Filter{Limit: 100, States: []queue.State{queue.StateFailed}}, []string{all[1], all[4], all[7]}},
				{"state and type", queue.Filter{Limit: 100, States: []queue.State{queue.StateFailed}, Types: []string{"t"}}, []string{}},
				{"two states", queue.Filter{Limit: 2, States: []queue.State{queue.StateFailed, queue.StateCanceled}}, all[:2]},
			} {
				jobs, err := s.d.Jobs(s.Context(), c.filter)
				require.NoError(s, err, c.name)
				require.Equal(s, c.want, ids(jobs), c.name)
			}
		},
	},
	{
		name:        "Counts/by state",
		explanation: "counts know the same filters as lists, and leave out what there is none of",
		run: func(s *suite) {
			counts, err := s.d.Counts(s.Context(), queue.Filter{})
			require.NoError(s, err)
			require.Empty(s, counts)
			for _, state := range []queue.State{queue.StateCompleted, queue.StateCompleted, queue.StateFailed, queue.StateRunning, queue.StateQueued} {
				s.inState(state)
			}
			s.inState(queue.StateCompleted, ofType("u"))
			counts, err = s.d.Counts(s.Context(), queue.Filter{Types: []string{"t"}})
			require.NoError(s, err)
			require.Equal(s, map[queue.State]int{queue.StateCompleted: 2, queue.StateFailed: 1, queue.StateRunning: 1, queue.StateQueued: 1}, counts)
			counts, err = s.d.Counts(s.Context(), queue.Filter{States: []queue.State{queue.StateCompleted}})
			require.NoError(s, err)
			require.Equal(s, map[queue.State]int{queue.StateCompleted: 3}, counts)
		},
	},
}
