package drivertest

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var claimCases = []conformanceCase{
	{
		name:        "Claim/takes by priority, then due time, then id",
		explanation: "both which jobs are taken and their order in the answer follow priority (high first), due time, id",
		run: func(s *suite) {
			past := s.now()
			var want []driver.InsertJob
			for _, priority := range []int{2, 1, 0, -1} {
				for minute := range 3 {
					at := dueAt(past.Add(time.Duration(minute+1) * time.Minute))
					want = append(want, newJob(withPriority(priority), at), newJob(withPriority(priority), at))
				}
			}
			mixed := append([]driver.InsertJob(nil), want...)
			rand.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			s.insert(mixed...)

			later := past.Add(time.Hour)
			got := s.claimAt(later, "w", 7).Jobs
			got = append(got, s.claimAt(later, "w", 100).Jobs...)
			require.Equal(s, idsOf(want), ids(got))
		},
	},
	{
		name:        "Claim/makes the job running, for this worker, and counts the attempt",
		explanation: "the claimed job carries its lease: attempt, worker and start",
		run: func(s *suite) {
			first := s.started()
			require.Equal(s, driver.StateRunning, first.State)
			require.Equal(s, 1, first.Attempt)
			require.Equal(s, "w", first.WorkerID)
			require.WithinDuration(s, s.now(), first.StartedAt, time.Minute)
			require.Equal(s, first, *s.job(first.ID), "what is answered is what is stored")

			s.requeue(first)
			second := s.claimAt(s.now(), "v", 1).Jobs[0]
			require.Equal(s, 2, second.Attempt)
			require.Equal(s, "v", second.WorkerID)
			require.Empty(s, s.claim(1), "a running job is not claimed")
		},
	},
	{
		name:        "Claim/takes only the types asked for, and no more than the limit",
		explanation: "a worker must never get a job that it has no handler for, or more than it has slots for",
		run: func(s *suite) {
			a, b, c := newJob(ofType("a")), newJob(ofType("b"), withPriority(9)), newJob(ofType("c"))
			s.insert(a, b, c)
			require.Equal(s, []string{a.ID}, ids(s.claim(1, "a", "c")))
			require.Equal(s, []string{c.ID}, ids(s.claim(5, "a", "c")))
			require.Empty(s, s.claim(5, "A", "bb", ""))
		},
	},
	{
		name:        "Claim/takes no more payload than is asked for",
		explanation: "the job that reaches the bound is the last of the claim, which has more",
		run: func(s *suite) {
			// Texts that a database may compress.
			large := withPayload(`"` + strings.Repeat("x", 10_000) + `"`)
			for _, types := range [][]string{{"a"}, {"a", "b"}} {
				var want []driver.InsertJob
				for i := range 6 {
					want = append(want, newJob(ofType(types[i%len(types)]), withPriority(-i), large))
				}
				s.insert(want...)
				for _, n := range []int{3, 1, 2} {
					result, err := s.tryClaim(driver.ClaimRequest{WorkerID: "w", Types: capacities(types, 100),
						Limit: 100, Bytes: n*10_002 - 1, Now: s.now()})
					require.NoError(s, err)
					require.Equal(s, idsOf(want[:n]), ids(result.Jobs))
					require.True(s, result.More)
					want = want[n:]
				}
			}
		},
	},
	{
		name:        "Claim/keeps scheduled jobs back until they are due",
		explanation: "a job is claimed at its time and not a microsecond before, however high its priority",
		run: func(s *suite) {
			due := s.now().Add(time.Hour).Truncate(time.Microsecond)
			job := newJob(dueAt(due), withPriority(1000))
			s.insert(job)
			require.Empty(s, s.claimAt(due.Add(-time.Microsecond), "w", 1).Jobs)
			require.Equal(s, []string{job.ID}, ids(s.claimAt(due, "w", 1).Jobs))
		},
	},
	{
		name:        "Claim/mixes jobs that were scheduled with those that were not",
		explanation: "once due, a scheduled job takes its place by priority and due time",
		run: func(s *suite) {
			now := s.now()
			low, high := newJob(withPriority(0)), newJob(withPriority(5), dueAt(now.Add(time.Hour)))
			s.insert(low, high)
			require.Equal(s, []string{high.ID, low.ID}, ids(s.claimAt(now.Add(2*time.Hour), "w", 2).Jobs))
		},
	},
	{
		name:        "Claim/reports when the next job is due",
		explanation: "NextDue is the earliest due time among scheduled jobs of the types, when fewer jobs than asked for were due",
		run: func(s *suite) {
			now := s.now()
			require.Zero(s, s.claimAt(now, "w", 1).NextDue, "nothing is scheduled")
			soon := now.Add(time.Hour).UTC().Truncate(time.Microsecond)
			s.insert(newJob(dueAt(soon.Add(time.Hour))), newJob(dueAt(soon)),
				newJob(ofType("u"), dueAt(soon.Add(-time.Minute))))
			require.True(s, soon.Equal(s.claimAt(now, "w", 1).NextDue))
			require.Zero(s, s.claimAt(now, "w", 1, "v").NextDue, "other types do not count")
		},
	},
	{
		name: "Claim/reports when the next job is due behind many of other types",
		explanation: "to look through all of these for one of the types would take long: NextDue may be that of the " +
			"hundredth scheduled job",
		run: func(s *suite) {
			now := s.now()
			first := now.Add(time.Hour).UTC().Truncate(time.Microsecond)
			for i := range 120 {
				s.insert(newJob(ofType("u"), dueAt(first.Add(time.Duration(i)*time.Second))))
			}
			s.insert(newJob(dueAt(first.Add(time.Hour))))
			require.True(s, first.Add(99*time.Second).Equal(s.claimAt(now, "w", 1).NextDue))
			require.True(s, first.Equal(s.claimAt(now, "w", 1, "t", "u").NextDue))
		},
	},
	{
		name:        "Claim/takes a job again at the time its outcome names",
		explanation: "a retry waits for its backoff, and is due after it",
		run: func(s *suite) {
			job := s.started()
			due := s.now().Add(time.Hour).UTC().Truncate(time.Microsecond)
			out := driver.Outcome{Lease: job.Lease(), State: driver.StateQueued, Kind: driver.KindFailed,
				NotBefore: due, Error: "later", At: s.now()}
			require.NoError(s, s.finish(out))
			result := s.claimAt(due.Add(-time.Microsecond), "w", 1)
			require.Empty(s, result.Jobs)
			require.True(s, due.Equal(result.NextDue))
			require.Len(s, s.claimAt(due, "w", 1).Jobs, 1)
		},
	},
	{
		name:        "Claim/registers its worker",
		explanation: "a worker that holds jobs must be seen by those who look for dead ones",
		run: func(s *suite) {
			s.claim(1)
			workers, err := s.d.Workers(s.Context())
			require.NoError(s, err)
			require.Len(s, workers, 1)
			require.Equal(s, "w", workers[0].ID)
			require.GreaterOrEqual(s, workers[0].Beat, int64(0))
		},
	},
	{
		name:        "Claim/finds the due job behind many scheduled ones",
		explanation: "more jobs may become due at once than a driver moves at once; each is claimed in the end",
		run: func(s *suite) {
			now := s.now()
			jobs := make([]driver.InsertJob, 2500)
			for i := range jobs {
				jobs[i] = newJob(ofType("crowd"), dueAt(now.Add(time.Hour)))
			}
			last := newJob(dueAt(now.Add(time.Hour + time.Second)))
			s.insert(jobs...)
			s.insert(last)
			later := now.Add(2 * time.Hour)
			for range 10 {
				result := s.claimAt(later, "w", 1)
				if len(result.Jobs) == 1 {
					require.Equal(s, last.ID, result.Jobs[0].ID)
					return
				}
				require.True(s, result.More, "a due job that is not claimed yet is reported")
			}
			s.Fatal("the job was not claimed")
		},
	},
}
