package gmailtest

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Quota limits what the owner of each mailbox may spend. The zero Quota sets no limit.
type Quota struct {
	// PerMinute is the limit of the units that are spent in a minute; see [Method.Units]. Default 0: no limit.
	PerMinute int

	// Concurrent is the limit of the calls that are answered at a time; a further one is answered with 429. Default 0: no limit.
	Concurrent int

	// Status answers a call above PerMinute: 429 or 403. Both name the time to try again in their text and in the header field
	// Retry-After. Default 429.
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
	case q.Concurrent < 0:
		return fmt.Errorf("gmailtest: Config.Quota.Concurrent is %d; it cannot be negative", q.Concurrent)
	case q.Status != http.StatusTooManyRequests && q.Status != http.StatusForbidden:
		return fmt.Errorf("gmailtest: Config.Quota.Status is %d; Gmail answers 429 or 403", q.Status)
	}
	return nil
}

// A quota counts for each account, in minutes that begin with the first call after the last one ended.
type quota struct {
	Quota
	now func() time.Time

	mu       sync.Mutex
	accounts map[int64]*spending
}

// A spending is what one account has spent.
type spending struct {
	began  time.Time
	spent  int
	active int // calls under way
}

// of returns the spending of an account. The caller holds the lock.
func (q *quota) of(a *Account) *spending {
	s, ok := q.accounts[a.id]
	if !ok {
		if q.accounts == nil {
			q.accounts = make(map[int64]*spending)
		}
		s = &spending{}
		q.accounts[a.id] = s
	}
	return s
}

// enter counts a call in, also one that it refuses; leave counts it out.
func (q *quota) enter(a *Account) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.of(a)
	s.active++
	if q.Concurrent > 0 && s.active > q.Concurrent {
		return &apiError{status: http.StatusTooManyRequests, reason: "rateLimitExceeded", message: "Too many concurrent requests for user."}
	}
	return nil
}

func (q *quota) leave(a *Account) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.of(a).active--
}

// spend takes the units of one call, or refuses it. A call that is refused costs nothing.
func (q *quota) spend(a *Account, method Method) (int, error) {
	cost := method.Units()
	if q.PerMinute == 0 {
		return cost, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now, s := q.now(), q.of(a)
	if now.Sub(s.began) >= time.Minute {
		s.began, s.spent = now, 0
	}
	if s.spent+cost > q.PerMinute {
		return 0, q.exceeded(s.began.Add(time.Minute), now)
	}
	s.spent += cost
	return cost, nil
}

func (q *quota) exceeded(again, now time.Time) error {
	return &apiError{
		status: q.Status, reason: "rateLimitExceeded", retryAfter: again.Sub(now), message: retryText(overQuota(q.Status), again),
	}
}

// overQuota is what Gmail says of a call above the limit.
func overQuota(status int) string {
	if status == http.StatusForbidden {
		return "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service 'gmail.googleapis.com'"
	}
	return "User-rate limit exceeded"
}

// retryText adds the time to try again to a text as Gmail does, down to the two blanks.
func retryText(text string, again time.Time) string {
	return text + ".  Retry after " + again.UTC().Format("2006-01-02T15:04:05.000Z")
}
