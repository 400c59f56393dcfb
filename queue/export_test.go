package queue

import (
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Lease is what the driver names an attempt by.
type Lease = driver.Lease

// Lease is that of the job's current attempt.
func (j *Job) Lease() Lease { return j.lease() }

// AttemptOf is an attempt that no claim has returned, such as one that is stale or to come.
func AttemptOf(q *Queue, job Job) *Attempt { return q.claimedByHand(&job) }

// DelayOf is the policy's wait after so many failures.
func DelayOf(p RetryPolicy, failures int) time.Duration { return p.after(failures) }
