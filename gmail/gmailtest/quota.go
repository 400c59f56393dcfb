package gmailtest

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// Quota limits the calls of each mailbox. The zero Quota sets no limit.
type Quota struct {
	// PerMinute is the maximum of units in a minute; see [Units]. Default 0: no limit.
	PerMinute int

	// Concurrent is the maximum number of concurrent calls. Further ones are answered with 429. Default 0: no limit.
	Concurrent int

	// Status is the status above PerMinute: 429 or 403. Both responses give the time to retry in their text and in the
	// header field Retry-After. Default 429.
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

// A quota counts for each account, in minutes that begin with the first call after the previous one ended.
type quota struct {
	Quota
	now func() time.Time

	mu       sync.Mutex
	accounts map[int64]*spending
}

// A spending is the use of one account.
type spending struct {
	began  time.Time
	spent  int
	active int // calls under way
}

// of returns the spending of an account. The caller must hold the lock.
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

// enter counts a call as active, even if it refuses the call. leave ends it.
func (q *quota) enter(a *Account) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.of(a)
	s.active++
	if q.Concurrent > 0 && s.active > q.Concurrent {
		return &wire.Error{Status: http.StatusTooManyRequests, Reason: "rateLimitExceeded",
			Message: "Too many concurrent requests for user."}
	}
	return nil
}

func (q *quota) leave(a *Account) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.of(a).active--
}

// spend takes the units of one call, or refuses it. A refused call costs nothing.
func (q *quota) spend(a *Account, method Method) (int, error) {
	cost := Units(method)
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
	return &wire.Error{
		Status: q.Status, Reason: "rateLimitExceeded", RetryAfter: again.Sub(now),
		Message: retryText(overQuota(q.Status), again),
	}
}

// overQuota returns Gmail's error for a call above the limit.
func overQuota(status int) string {
	if status == http.StatusForbidden {
		return "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service 'gmail.googleapis.com'"
	}
	return "User-rate limit exceeded"
}

// retryText adds the time to retry to a text in Gmail's form, including the two blanks.
func retryText(text string, again time.Time) string {
	return text + ".  Retry after " + again.UTC().Format("2006-01-02T15:04:05.000Z")
}
