package queue_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// claim takes what is due, in order, as far as there is capacity.
func (m *model) claim(worker string, capacities []driver.TypeCapacity, limit int) (claimed []queue.Job) {
	m.chores()
	if _, known := m.workers[worker]; !known {
		m.workers[worker] = driver.Worker{ID: worker, BeatAt: m.now}
	}
	chosen, used := m.choose(m.now, capacities, limit)
	m.arrivals = used.arrivals
	for _, j := range chosen {
		j.State, j.WorkerID, j.StartedAt, j.UpdatedAt = queue.StateRunning, worker, m.now, m.now
		j.Attempt++
		claimed = append(claimed, j.Job)
	}
	return claimed
}

// chores is what every claim sees to first: what has expired is canceled, and what has fallen due is so from now on.
func (m *model) chores() {
	for _, j := range m.inState(queue.StateQueued) {
		if j.expired(m.now) {
			j.LastError, j.UpdatedAt = "expired at "+dbtime.Format(j.ExpiresAt)+" before it could run", m.now
			m.end(j, queue.StateCanceled)
		}
		j.due = j.due || !j.NotBefore.After(m.now)
	}
}

func (j *modelJob) expired(now time.Time) bool {
	return !j.ExpiresAt.IsZero() && !j.ExpiresAt.After(now)
}

// choose is what a claim would take at the given time, and how much of the limits is used then.
func (m *model) choose(now time.Time, capacities []driver.TypeCapacity, limit int) (chosen []*modelJob, u *usage) {
	u = m.used(now)
	capacity := make(map[string]int, len(capacities))
	for _, r := range capacities {
		capacity[r.Type] = r.Capacity
	}
	waiting := slices.DeleteFunc(m.inState(queue.StateQueued), func(j *modelJob) bool {
		return capacity[j.Type] == 0 || j.expired(now) || (!j.due && j.NotBefore.After(now))
	})
	slices.SortFunc(waiting, func(a, b *modelJob) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore),
			strings.Compare(a.ID, b.ID))
	})
	for _, j := range waiting {
		if len(chosen) < limit && capacity[j.Type] > 0 && u.start(m.limitsOn(j)) {
			capacity[j.Type]--
			chosen = append(chosen, j)
		}
	}
	return chosen, u
}

// nextDue is when a claim that finds nothing now finds something, without anybody's doing anything; zero if never.
func (m *model) nextDue(capacities []driver.TypeCapacity) (first time.Time) {
	var times []time.Time
	for _, j := range m.inState(queue.StateQueued) {
		times = append(times, j.NotBefore)
		for _, l := range m.limitsOn(j) {
			if l.Rate > 0 {
				times = append(times, m.arrivals[l.of].Add(-l.slack()))
			}
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	for _, at := range times {
		if chosen, _ := m.choose(at, capacities, 1); at.After(m.now) && len(chosen) > 0 {
			return at
		}
	}
	return time.Time{}
}

// steady reports whether all rates stand where they can, by a clock that shows now. One that stands further ahead than
// a burst begins anew as soon as somebody looks at it, of which nothing is promised.
func (m *model) steady(now time.Time) bool {
	for _, at := range m.arrivals {
		if at.After(now.Add(modelRate.Per)) {
			return false
		}
	}
	return true
}

// A modelLimit is a limit that bears on a job.
type modelLimit struct {
	queue.LimitStatus
	of queue.Target // whose running jobs and starts count
}

// interval is the time between two starts, and slack how much earlier than that those of a burst may be.
func (l *modelLimit) interval() time.Duration { return l.Per / time.Duration(l.Rate) }
func (l *modelLimit) slack() time.Duration    { return time.Duration(l.Burst-1) * l.interval() }

// limitsOn are those of the job's type, of all types and of its limit key: the key's own, or else that of its longest
// beginning.
func (m *model) limitsOn(j *modelJob) (limits []modelLimit) {
	for _, of := range []queue.Target{queue.ForAll(), queue.ForType(j.Type)} {
		if l, ok := m.limits[of]; ok {
			limits = append(limits, modelLimit{l, of})
		}
	}
	if j.Key.Scope == driver.KeyCoalesce {
		return append(limits, modelLimit{queue.LimitStatus{Limit: queue.Limit{MaxRunning: 1}},
			queue.ForKey(j.LimitKey)})
	}
	if j.LimitKey == "" {
		return limits
	}
	about := []queue.Target{queue.ForKey(j.LimitKey)}
	for end := len(j.LimitKey); end > 0; end-- {
		about = append(about, queue.ForKeyPrefix(j.LimitKey[:end]))
	}
	first := true
	for _, target := range about {
		// Of limits the first holds, of pauses each.
		if l, ok := m.limits[target]; ok && (first || l.Paused) {
			limits = append(limits, modelLimit{l, queue.ForKey(j.LimitKey)})
			first = false
		}
	}
	return limits
}

// usage is how much of all limits is used.
type usage struct {
	now      time.Time
	running  map[queue.Target]int
	arrivals map[queue.Target]time.Time
}

func (m *model) used(now time.Time) *usage {
	u := &usage{now: now, running: map[queue.Target]int{}, arrivals: maps.Clone(m.arrivals)}
	for _, j := range m.inState(queue.StateRunning) {
		u.running[queue.ForType(j.Type)]++
		u.running[queue.ForKey(j.LimitKey)]++
	}
	return u
}

// start counts one more under all of the limits, if all have capacity.
func (u *usage) start(limits []modelLimit) bool {
	for i := range limits {
		l := &limits[i]
		if l.Paused || (l.MaxRunning > 0 && u.running[l.of] >= l.MaxRunning) ||
			(l.Rate > 0 && u.arrivals[l.of].Add(-l.slack()).After(u.now)) {
			return false
		}
	}
	for i := range limits {
		l := &limits[i]
		u.running[l.of]++
		if l.Rate == 0 {
			continue
		}
		if u.arrivals[l.of].Before(u.now) {
			u.arrivals[l.of] = u.now
		}
		u.arrivals[l.of] = u.arrivals[l.of].Add(l.interval())
	}
	return true
}

func (m *model) setLimit(of queue.Target, limit queue.Limit) {
	m.limits[of] = queue.LimitStatus{Target: of, Limit: limit, Paused: m.limits[of].Paused}
	m.dropNoLimit(of)
}

func (m *model) setPaused(of queue.Target, paused bool) {
	m.limits[of] = queue.LimitStatus{Target: of, Limit: m.limits[of].Limit, Paused: paused}
	m.dropNoLimit(of)
}

func (m *model) dropNoLimit(of queue.Target) {
	if m.limits[of] == (queue.LimitStatus{Target: of}) {
		delete(m.limits, of)
	}
}
