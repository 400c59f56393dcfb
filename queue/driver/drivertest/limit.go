package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func withLimitKey(key string) func(*driver.InsertJob) {
	return func(j *driver.InsertJob) { j.LimitKey = key }
}

// setLimit limits the target. A zero Limit removes the limit.
func (s *suite) setLimit(target driver.Target, limit driver.Limit) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		if limit == (driver.Limit{}) {
			return s.d.SetLimit(ctx, tx, target, nil)
		}
		return s.d.SetLimit(ctx, tx, target, &limit)
	})
}

func (s *suite) setPaused(target driver.Target, paused bool) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.SetPaused(ctx, tx, target, paused) })
}

// insertMany inserts n jobs alike.
func (s *suite) insertMany(n int, mods ...func(*driver.InsertJob)) {
	s.Helper()
	for n > 0 {
		jobs := make([]driver.InsertJob, min(n, 1000))
		for i := range jobs {
			jobs[i] = newJob(mods...)
		}
		s.insert(jobs...)
		n -= len(jobs)
	}
}

// claimAll claims until there is no more, and returns when there will be.
func (s *suite) claimAll(now time.Time, worker string, types ...string) (jobs []driver.Job, nextDue time.Time) {
	s.Helper()
	for range 10_000 {
		result := s.claimAt(now, worker, 7, types...)
		jobs = append(jobs, result.Jobs...)
		if !result.More {
			return jobs, result.NextDue
		}
	}
	s.Fatal("a claim that says there is more never ends")
	return nil, time.Time{}
}

// later is after every time that the suite writes.
func later() time.Time { return time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond) }

var (
	typeT = ofTypes("t")
	keyK  = ofKey("k")
	twoAt = driver.Limit{MaxRunning: 2}
)

var limitCases = []conformanceCase{
	{
		name:        "Limit/never more run at once, whoever claims, however the job is limited",
		explanation: "what runs is counted in the transaction that claims, over all workers",
		run: func(s *suite) {
			for _, target := range []driver.Target{ofTypes("limited"), keyK, ofPrefix("k")} {
				s.setLimit(target, driver.Limit{MaxRunning: 3})
				s.insertMany(10, ofType("limited"), withLimitKey("k"))
				first, _ := s.claimAll(s.now(), "a", "limited")
				second, _ := s.claimAll(s.now(), "b", "limited", "t")
				require.Len(s, append(first, second...), 3, target)
				require.NoError(s, s.finish(completed(first[0].Lease())))
				third, _ := s.claimAll(s.now(), "b", "t", "limited")
				require.Len(s, third, 1, target)
				s.setLimit(target, driver.Limit{})
				s.endAll(append(first[1:], third...))
				rest, _ := s.claimAll(s.now(), "b", "limited")
				require.Len(s, rest, 6, target)
				s.endAll(rest)
			}
		},
	},
	{
		name:        "Limit/capacity is made by every way to end",
		explanation: "a job counts while it runs and not after, whatever ended it",
		run: func(s *suite) {
			for _, target := range []driver.Target{typeT, keyK} {
				s.setLimit(target, driver.Limit{MaxRunning: 1})
				for name, end := range s.waysToEnd() {
					holder := s.started(withLimitKey("k"), withPriority(9))
					next := newJob(withLimitKey("k"), withPriority(10))
					s.insert(next)
					require.Empty(s, s.claim(5), name)
					end(holder)
					got, _ := s.claimAll(s.now(), "w")
					require.Equal(s, []string{next.ID}, ids(got), name)
					s.endAll(got)
					if s.state(holder.ID) == driver.StateQueued {
						require.NoError(s, s.cancel(holder.ID))
					}
				}
				s.setLimit(target, driver.Limit{})
			}
		},
	},
	{
		name: "Limit/what an end makes capacity for is claimed in its transaction",
		explanation: "the claim sees the ends, keeps to the order of claims among what it looks at, and is undone with them; it does the same when " +
			"the outcomes name the limit keys, and keeps to the limit when their leases are lost",
		run: func(s *suite) {
			d, ok := s.d.(driver.FinishClaimer)
			if !ok {
				return // the driver leaves it to Claim
			}
			for _, known := range []bool{false, true} {
				s.endAndClaim(d, known)
			}
		},
	},
	{
		name:        "Limit/a job that waits for its key can expire and be canceled",
		explanation: "what waits is queued like others",
		run: func(s *suite) {
			s.setLimit(keyK, driver.Limit{MaxRunning: 1})
			holder := s.started(withLimitKey("k"))
			now := later()
			expiring, canceled, last := newJob(withLimitKey("k")), newJob(withLimitKey("k")), newJob(withLimitKey("k"))
			expiring.ExpiresAt = now
			s.insert(expiring, canceled, last)
			require.Empty(s, s.claim(5))
			require.NoError(s, s.cancel(canceled.ID))
			require.NoError(s, s.finish(completed(holder.Lease())))
			got, _ := s.claimAll(now, "w")
			require.Equal(s, []string{last.ID}, ids(got))
			require.Equal(s, driver.StateCanceled, s.state(expiring.ID))
		},
	},
	{
		name:        "Limit/what waits comes by priority, then due time, then id",
		explanation: "a limit keeps jobs back, it does not shuffle them; one that comes later and is more urgent goes first",
		run: func(s *suite) {
			s.setLimit(keyK, driver.Limit{MaxRunning: 1})
			holder := s.started(withLimitKey("k"))
			jobs := []driver.InsertJob{
				newJob(withLimitKey("k"), withPriority(7)), newJob(withLimitKey("k"), withPriority(3)),
				newJob(withLimitKey("k")), newJob(withLimitKey("k")),
			}
			s.insert(jobs[3], jobs[1], jobs[2])
			s.endAll([]driver.Job{holder})
			s.claimAll(s.now(), "w", "other") // makes jobs with capacity ready
			s.insert(jobs[0])
			for _, want := range idsOf(jobs) {
				got, _ := s.claimAll(s.now(), "w")
				require.Equal(s, []string{want}, ids(got))
				s.endAll(got)
			}
		},
	},
	{
		name: "Limit/a type that nobody takes keeps no capacity of its key from the others",
		explanation: "types that share a limit key wait for capacity apart: one may be paused, limited, or have no worker, and the " +
			"others must go on",
		run: func(s *suite) {
			s.setLimit(keyK, driver.Limit{MaxRunning: 1})
			s.insertMany(3, ofType("lonely"), withLimitKey("k"), withPriority(9))
			s.insertMany(2, withLimitKey("k"))
			for range 2 {
				got, _ := s.claimAll(s.now(), "w")
				require.Len(s, got, 1)
				s.endAll(got)
			}
			got, _ := s.claimAll(s.now(), "w", "t", "lonely")
			require.Len(s, got, 1)
			s.insertMany(1, withLimitKey("k"))
			more, _ := s.claimAll(s.now(), "w", "t")
			require.Empty(s, more, "the capacity of the key is taken")
		},
	},
	{
		name:        "Limit/a saturated key with very many urgent jobs is not in the way",
		explanation: "what cannot run is kept apart from what can",
		run: func(s *suite) {
			s.setLimit(keyK, twoAt)
			s.insertMany(100_000, withLimitKey("k"), withPriority(100))
			running, _ := s.claimAll(s.now(), "w")
			require.Len(s, running, 2)
			s.insertMany(2000)
			began := time.Now()
			for range 200 {
				require.Len(s, s.claim(10), 10)
			}
			require.Less(s, time.Since(began), 2*time.Minute, "each would read all that waits")
		},
	},
	{
		name:        "Limit/no key waits for ever behind keys that always have something to do",
		explanation: "however many keys have capacity again and again, each has its turn",
		run: func(s *suite) {
			const keys, each, turns = 400, 60, 40
			s.setLimit(ofPrefix("k"), driver.Limit{MaxRunning: 1})
			var jobs []driver.InsertJob
			for range each {
				for k := range keys {
					jobs = append(jobs, newJob(withLimitKey(fmt.Sprintf("k%03d", k))))
				}
			}
			s.insert(jobs...)
			seen := make(map[string]int)
			for range turns {
				got := s.claim(keys)
				for key, n := range byKey(got) {
					require.Equal(s, 1, n, "of a key at once")
					seen[key]++
				}
				s.finishAll(got)
			}
			require.Len(s, seen, keys)
		},
	},
	{
		name:        "Limit/the longest prefix counts, and the key itself before it",
		explanation: "one key can have more or less than its kin",
		run: func(s *suite) {
			s.setLimit(ofPrefix("g"), driver.Limit{MaxRunning: 1})
			s.setLimit(ofPrefix("gmail:"), twoAt)
			s.setLimit(ofKey("gmail:7"), driver.Limit{MaxRunning: 3})
			for _, key := range []string{"gh", "gmail:1", "gmail:2", "gmail:7", "gmail:77", "x%_"} {
				s.insertMany(4, withLimitKey(key))
			}
			got, _ := s.claimAll(s.now(), "w")
			require.Equal(s, map[string]int{"gh": 1, "gmail:1": 2, "gmail:2": 2, "gmail:7": 3, "gmail:77": 2, "x%_": 4},
				byKey(got))
		},
	},
	{
		name:        "Limit/set, raised and lifted while jobs are queued",
		explanation: "a limit is in force when the call that sets it returns, and what it kept back runs when it is lifted",
		run: func(s *suite) {
			for _, target := range []driver.Target{keyK, ofPrefix("k"), typeT} {
				s.insertMany(12, withLimitKey("k"))
				one := s.claim(1)
				s.setLimit(target, twoAt)
				got, _ := s.claimAll(s.now(), "w")
				require.Len(s, got, 1, target)
				s.setLimit(target, driver.Limit{MaxRunning: 5})
				more, _ := s.claimAll(s.now(), "w")
				require.Len(s, more, 3, target)
				s.setLimit(target, driver.Limit{MaxRunning: 1})
				s.endAll(append(got, more...))
				none, _ := s.claimAll(s.now(), "w")
				require.Empty(s, none, "%v: what ran before goes on, and counts", target)
				s.setLimit(target, driver.Limit{})
				rest, _ := s.claimAll(s.now(), "w")
				require.Len(s, rest, 7, target)
				s.endAll(append(rest, one...))
			}
		},
	},
	{
		name:        "Limit/retried, scheduled and backed off jobs keep to it",
		explanation: "a job that becomes due by whatever way waits for its key like a new one",
		run: func(s *suite) {
			s.setLimit(keyK, driver.Limit{MaxRunning: 1})
			now := later()
			failedOne := s.inState(driver.StateFailed, withLimitKey("k"))
			backedOff := s.started(withLimitKey("k"))
			out := failed(backedOff.Lease())
			out.State, out.NotBefore = driver.StateQueued, now
			require.NoError(s, s.finish(out))
			scheduled := newJob(withLimitKey("k"), dueAt(now.Add(time.Second)))
			s.insert(scheduled)
			require.NoError(s, s.retry(failedOne))
			got, due := s.claimAll(s.now(), "w")
			require.Equal(s, []string{failedOne}, ids(got))
			require.True(s, now.Equal(due))
			for _, want := range []string{backedOff.ID, scheduled.ID} {
				none, _ := s.claimAll(now.Add(time.Minute), "w")
				require.Empty(s, none)
				s.endAll(got)
				got, _ = s.claimAll(now.Add(time.Minute), "w")
				require.Equal(s, []string{want}, ids(got))
			}
		},
	},
	{
		name:        "Limit/keys without one run freely",
		explanation: "a limit key by itself limits nothing, also beside others that are limited",
		run: func(s *suite) {
			s.insertMany(20, withLimitKey("k"))
			got, due := s.claimAll(s.now(), "w")
			require.Len(s, got, 20)
			require.Zero(s, due)
			s.setLimit(ofKey("other"), twoAt)
			s.insertMany(3000, withLimitKey("k"))
			got, due = s.claimAll(s.now(), "w")
			require.Len(s, got, 3000)
			require.Zero(s, due)
		},
	},
	{
		name:        "Limit/lists what is limited or paused",
		explanation: "a limit and a pause of one target are apart: neither undoes the other",
		run: func(s *suite) {
			limit := driver.Limit{MaxRunning: 5, Rate: 7, Per: time.Second, Burst: 3}
			s.setLimit(typeT, limit)
			s.setPaused(typeT, true)
			s.setPaused(keyK, true)
			require.Equal(s, []driver.LimitStatus{{Target: keyK, Paused: true},
				{Target: typeT, Limit: limit, Paused: true}}, s.limits())
			s.setLimit(typeT, twoAt)
			s.setPaused(keyK, false)
			require.Equal(s, []driver.LimitStatus{{Target: typeT, Limit: twoAt, Paused: true}}, s.limits())
			s.setLimit(typeT, driver.Limit{})
			require.Equal(s, []driver.LimitStatus{{Target: typeT, Paused: true}}, s.limits())
			s.setPaused(typeT, false)
			s.setPaused(typeT, false)
			s.setLimit(typeT, driver.Limit{})
			require.Empty(s, s.limits())
		},
	},
	{
		name:        "Pause/nothing is claimed until it is resumed, and what runs goes on",
		explanation: "a pause holds jobs back and loses none",
		run: func(s *suite) {
			for _, target := range []driver.Target{typeT, ofAll(), keyK, ofPrefix("k")} {
				running := s.started(withLimitKey("k"))
				s.insertMany(3, withLimitKey("k"))
				s.setPaused(target, true)
				got, due := s.claimAll(s.now(), "w")
				require.Empty(s, got, target)
				require.Zero(s, due, "%v: there is nothing to wait for", target)
				require.NoError(s, s.finish(completed(running.Lease())))
				s.insertMany(1, withLimitKey("k"))
				got, _ = s.claimAll(s.now(), "w")
				require.Empty(s, got, target)
				s.setPaused(target, false)
				got, _ = s.claimAll(s.now(), "w")
				require.Len(s, got, 4, target)
				s.endAll(got)
			}
		},
	},
	{
		name:        "Pause/of a prefix holds keys back that have limits of their own",
		explanation: "the most specific limit counts, but a pause is a pause",
		run: func(s *suite) {
			for _, limited := range []driver.Target{ofKey("kk"), ofPrefix("kk")} {
				s.setLimit(limited, driver.Limit{MaxRunning: 5})
				s.setPaused(ofPrefix("k"), true)
				s.insertMany(3, withLimitKey("kk"))
				got, due := s.claimAll(s.now(), "w")
				require.Empty(s, got, limited)
				require.Zero(s, due, limited)
				s.setPaused(ofPrefix("k"), false)
				got, _ = s.claimAll(s.now(), "w")
				require.Len(s, got, 3, limited)
				s.endAll(got)
				s.setLimit(limited, driver.Limit{})
			}
		},
	},
	{
		name:        "Limit/concurrent claims and ends keep to it and lose nothing",
		explanation: "ends are not serialised with claims: each must be counted, and each must let the next job in",
		run:         func(s *suite) { s.race() },
	},
}
