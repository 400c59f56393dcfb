package drivertest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var inspectCases = []conformanceCase{
	{
		name:        "Job/is not found when there is none",
		explanation: "an unknown id is ErrJobNotFound, and lists about it are empty",
		run: func(s *suite) {
			_, err := s.d.Job(s.Context(), "none")
			require.ErrorIs(s, err, driver.ErrJobNotFound)
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
				all = append(all, s.inState(driver.StateCompleted), s.inState(driver.StateFailed, ofType("u")),
					s.inState(driver.StateCanceled, ofType("u")))
			}
			slices.Reverse(all)
			for _, c := range []struct {
				name   string
				filter driver.Filter
				want   []string
			}{
				{"all", driver.Filter{Limit: 100}, all},
				{"limit", driver.Filter{Limit: 2}, all[:2]},
				{"before", driver.Filter{Limit: 3, Before: all[1]}, all[2:5]},
				{"type", driver.Filter{Limit: 100, Types: []string{"t"}}, []string{all[2], all[5], all[8]}},
				{"types", driver.Filter{Limit: 100, Types: []string{"t", "u"}}, all},
				{"state", driver.Filter{Limit: 100, States: []driver.State{driver.StateFailed}},
					[]string{all[1], all[4], all[7]}},
				{"state and type", driver.Filter{Limit: 100, States: []driver.State{driver.StateFailed},
					Types: []string{"t"}}, []string{}},
				{"a state twice", driver.Filter{Limit: 3, States: []driver.State{driver.StateFailed,
					driver.StateFailed}}, []string{all[1], all[4], all[7]}},
				{"two states", driver.Filter{Limit: 2, States: []driver.State{driver.StateFailed,
					driver.StateCanceled}}, all[:2]},
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
			long := s.now().Add(-time.Hour)
			with := func(user, limit string, key driver.Key, tags ...string) driver.InsertJob {
				return newJob(withKey(key), func(j *driver.InsertJob) {
					j.UserID, j.LimitKey, j.Tags = user, limit,
						tags
				})
			}
			a := with("ann", "l", driver.Key{}, "red", "big")
			b := with("ann", "", whileUnfinished("k"), "red")
			c := with("bob", "l", driver.Key{}, "b'ig")
			s.insertAt(long, a)
			s.insert(b, c)
			require.NoError(s, s.cancel(b.ID))
			d := with("", "", whileUnfinished("k"))
			s.insert(d)
			for name, f := range map[string]struct {
				filter driver.Filter
				want   []string
			}{
				"a user": {driver.Filter{UserID: "ann"}, []string{b.ID, a.ID}},
				"a user's state": {driver.Filter{UserID: "ann", States: []driver.State{driver.StateCanceled,
					driver.StateFailed}}, []string{b.ID}},
				"a user's type": {driver.Filter{UserID: "ann", Types: []string{"u"}}, []string{}},
				"a tag":         {driver.Filter{Tags: []string{"red"}}, []string{b.ID, a.ID}},
				"two tags":      {driver.Filter{Tags: []string{"red", "big"}}, []string{a.ID}},
				"a quoted tag":  {driver.Filter{Tags: []string{"b'ig"}, Types: []string{"t"}}, []string{c.ID}},
				"part of a tag": {driver.Filter{Tags: []string{"re"}}, []string{}},
				"a key":         {driver.Filter{Key: "k"}, []string{d.ID, b.ID}},
				"a state's tag": {driver.Filter{Tags: []string{"red"}, States: []driver.State{driver.StateCanceled}},
					[]string{b.ID}},
				"a limit key": {driver.Filter{LimitKey: "l"}, []string{c.ID, a.ID}},
				"a state's limit": {driver.Filter{LimitKey: "l", States: []driver.State{driver.StateQueued}},
					[]string{c.ID, a.ID}},
				"a limit and tag": {driver.Filter{LimitKey: "l", Tags: []string{"red"}}, []string{a.ID}},
				"not its limit":   {driver.Filter{LimitKey: "L"}, []string{}},
				"from a time on":  {driver.Filter{CreatedFrom: long.Add(time.Minute)}, []string{d.ID, c.ID, b.ID}},
				"before a time":   {driver.Filter{CreatedBefore: long.Add(time.Minute)}, []string{a.ID}},
				"a page":          {driver.Filter{Types: []string{"t"}, Before: d.ID, Limit: 2}, []string{c.ID, b.ID}},
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
			counts, err := s.d.Counts(s.Context(), driver.Filter{})
			require.NoError(s, err)
			require.Empty(s, counts)
			for _, state := range []driver.State{driver.StateCompleted, driver.StateCompleted, driver.StateFailed,
				driver.StateRunning, driver.StateQueued} {
				s.inState(state)
			}
			s.inState(driver.StateCompleted, ofType("u"))
			counts, err = s.d.Counts(s.Context(), driver.Filter{Types: []string{"t"}})
			require.NoError(s, err)
			require.Equal(s, map[driver.State]int{driver.StateCompleted: 2, driver.StateFailed: 1,
				driver.StateRunning: 1, driver.StateQueued: 1}, counts)
			counts, err = s.d.Counts(s.Context(), driver.Filter{States: []driver.State{driver.StateCompleted}})
			require.NoError(s, err)
			require.Equal(s, map[driver.State]int{driver.StateCompleted: 3}, counts)
		},
	},
}
