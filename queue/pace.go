package queue

import "time"

// A pace is how fast the process can run jobs and how long it waits for a claim. From both follows how many jobs to claim
// ahead: as many as keep the slots busy until the next claim is answered, so that machines that crowd the database claim more
// seldom, and not less each time.
type pace struct {
	last load
	// ended and spent count the jobs whose handlers have returned and the time that handlers have run, recent ones weighted most.
	ended float64
	spent time.Duration
	wait  time.Duration // for a claim
	depth int           // how many jobs were last claimed ahead
}

// maxPrefetch bounds the jobs of one claim, and so those that a dying process holds for a lease.
const maxPrefetch = 1000

// Claims that take longer than a quarter of the time claimed ahead stretch it so that they do not, but no further than this many
// times: what one process has claimed, others cannot run.
const maxStretch = 10

// reach is the time for which jobs are claimed ahead where that is configured as ahead. The next claim is made when half of
// them have begun, and may take twice as long as claims usually do.
func (p *pace) reach(ahead time.Duration) time.Duration {
	return min(max(ahead, 4*p.wait), maxStretch*ahead)
}

// waited notes how long a claim took. It follows claims that become slow sooner than those that become quick.
func (p *pace) waited(d time.Duration) {
	if d > p.wait {
		p.wait += (d - p.wait) / 2
		return
	}
	p.wait -= (p.wait - d) / 8
}

// ahead returns how many jobs the slots can run within the given time, according to recent run times. A process that was short of
// jobs has not become slow by that. The result at most doubles, since a few quick jobs say little about the next.
func (p *pace) ahead(now load, slots int, within time.Duration) int {
	p.ended = p.ended/2 + float64(now.ended-p.last.ended)
	p.spent = p.spent/2 + (now.spent - p.last.spent)
	p.last = now
	if p.ended < 1 || within <= 0 {
		p.depth = 0
		return 0
	}
	fits := float64(slots) * p.ended * within.Seconds() / max(p.spent, 1).Seconds()
	p.depth = int(min(fits, float64(max(slots, 2*p.depth)), maxPrefetch))
	return p.depth
}
