package queuetest

import (
	"slices"
	"time"

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
				{"a state twice", queue.Filter{Limit: 3, States: []queue.State{queue.StateFailed, queue.StateFailed}}, []string{all[1], all[4], all[7]}},
				{"two states", queue.Filter{Limit: 2, States: []queue.State{queue.StateFailed, queue.StateCanceled}}, all[:2]},
			} {
				jobs, err := s.d.Jobs(s.Context(), c.filter)
				require.NoError(s, err, c.name)
				require.Equal(s, c.want, ids(jobs), c.name)
			}
		},
	},
	{
		name:        "Jobs/are found by user, tags, key, limit key and time",
		explanation: "all conditions combine, in lists, ids and counts alike; a job must have all the tags",
		run: func(s *suite) {
			long := time.Now().Add(-time.Hour)
			with := func(user, limit string, key queue.Key, tags ...string) queue.InsertJob {
				return newJob(withKey(key), func(j *queue.InsertJob) { j.UserID, j.LimitKey, j.Tags = user, limit, tags })
			}
			a := with("ann", "l", queue.Key{}, "red", "big")
			b := with("ann", "", queue.WhileUnfinished("k"), "red")
			c := with("bob", "l", queue.Key{}, "b'ig")
			s.insertAt(long, a)
			s.insert(b, c)
			require.NoError(s, s.cancel(b.ID))
			d := with("", "", queue.WhileUnfinished("k"))
			s.insert(d)
			for name, f := range map[string]struct {
				filter queue.Filter
				want   []string
			}{
				"a user":           {queue.Filter{UserID: "ann"}, []string{b.ID, a.ID}},
				"a user's state":   {queue.Filter{UserID: "ann", States: []queue.State{queue.StateCanceled, queue.StateFailed}}, []string{b.ID}},
				"a user's type":    {queue.Filter{UserID: "ann", Types: []string{"u"}}, []string{}},
				"a tag":            {queue.Filter{Tags: []string{"red"}}, []string{b.ID, a.ID}},
				"two tags":         {queue.Filter{Tags: []string{"red", "big"}}, []string{a.ID}},
				"a quoted tag":     {queue.Filter{Tags: []string{"b'ig"}, Types: []string{"t"}}, []string{c.ID}},
				"part of a tag":    {queue.Filter{Tags: []string{"re"}}, []string{}},
				"a key":            {queue.Filter{Key: "k"}, []string{d.ID, b.ID}},
				"a state's tag":    {queue.Filter{Tags: []string{"red"}, States: []queue.State{queue.StateCanceled}}, []string{b.ID}},
				"a limit key":      {queue.Filter{LimitKey: "l"}, []string{c.ID, a.ID}},
				"a state's limit":  {queue.Filter{LimitKey: "l", States: []queue.State{queue.StateQueued}}, []string{c.ID, a.ID}},
				"a limit and tag":  {queue.Filter{LimitKey: "l", Tags: []string{"red"}}, []string{a.ID}},
				"not its limit":    {queue.Filter{LimitKey: "L"}, []string{}},
				"from a time on":   {queue.Filter{CreatedFrom: long.Add(time.Minute)}, []string{d.ID, c.ID, b.ID}},
				"before a time":    {queue.Filter{CreatedBefore: long.Add(time.Minute)}, []string{a.ID}},
				"an unknown state": {queue.Filter{States: []queue.State{"lost"}}, []string{}},
				"a page":           {queue.Filter{Types: []string{"t"}, Before: d.ID, Limit: 2}, []string{c.ID, b.ID}},
			} {
				if f.filter.Limit == 0 {
					f.filter.Limit = 10
				}
				jobs, err := s.d.Jobs(s.Context(), f.filter)
				require.NoError(s, err, name)
				require.Equal(s, f.want, ids(jobs), name)
				got, err := s.d.JobIDs(s.Context(), f.filter)
				require.NoError(s, err, name)
				require.ElementsMatch(s, f.want, got, name)
				counts, err := s.d.Counts(s.Context(), f.filter)
				require.NoError(s, err, name)
				total := 0
				for _, n := range counts {
					total += n
				}
				if f.filter.Limit == 10 {
					require.Equal(s, len(f.want), total, name)
				}
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
