package gmailtest

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Quota limits the units a minute that the owner of the mailbox may spend; see [Method.Units]. The zero Quota sets no limit.
type Quota struct {
	// PerMinute is the limit, in units. Default 0: no limit.
	PerMinute int

	// Status answers a call above it: 429, which names the time to try again in its text, or 403. Default 429.
	Status int
}

// complete sets the defaults and looks for mistakes.
func (q *Quota) complete() error {
	if q.Status == 0 {
		q.Status = http.StatusTooManyRequests
	}
	switch {
	case q.PerMinute < 0:
		return fmt.Errorf("gmailtest: Config.Quota.PerMinute is %d; it cannot be negative", q.PerMinute)
	case q.Status != http.StatusTooManyRequests && q.Status != http.StatusForbidden:
		return fmt.Errorf("gmailtest: Config.Quota.Status is %d; Gmail answers 429 or 403", q.Status)
	}
	return nil
}

// A quota counts in minutes that begin with the first call after the last one ended.
type quota struct {
	Quota
	now func() time.Time

	mu    sync.Mutex
	began time.Time
	spent int
}

// spend takes the units of one call, or refuses it. A call that is refused costs nothing.
func (q *quota) spend(method Method) (int, error) {
	cost := method.Units()
	if q.PerMinute == 0 {
		return cost, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	if now.Sub(q.began) >= time.Minute {
		q.began, q.spent = now, 0
	}
	if q.spent+cost > q.PerMinute {
		return 0, q.exceeded()
	}
	q.spent += cost
	return cost, nil
}

// exceeded is worded as Gmail words it, down to the two blanks.
func (q *quota) exceeded() error {
	e := &apiError{status: q.Status, reason: "rateLimitExceeded"}
	if q.Status == http.StatusForbidden {
		e.message = "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service 'gmail.googleapis.com'."
	} else {
		again := q.began.Add(time.Minute).UTC().Format("2006-01-02T15:04:05.000Z")
		e.message = "User-rate limit exceeded.  Retry after " + again
	}
	return e
}
