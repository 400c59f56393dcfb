package gmailapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// A Method names one of Gmail's API methods, as its quota table does.
type Method string

// The methods that a [Client] calls.
const (
	MethodGetProfile    Method = "getProfile"
	MethodListLabels    Method = "labels.list"
	MethodCreateLabel   Method = "labels.create"
	MethodListHistory   Method = "history.list"
	MethodListMessages  Method = "messages.list"
	MethodGetMessage    Method = "messages.get"
	MethodModifyMessage Method = "messages.modify"
	MethodTrash         Method = "messages.trash"
	MethodUntrash       Method = "messages.untrash"
	MethodDelete        Method = "messages.delete"
	MethodSend          Method = "messages.send"
	MethodInsert        Method = "messages.insert"
	MethodImport        Method = "messages.import"
	MethodGetAttachment Method = "messages.attachments.get"
	MethodCreateDraft   Method = "drafts.create"
	MethodUpdateDraft   Method = "drafts.update"
	MethodGetDraft      Method = "drafts.get"
	MethodListDrafts    Method = "drafts.list"
	MethodSendDraft     Method = "drafts.send"
	MethodDeleteDraft   Method = "drafts.delete"
	MethodListSendAs    Method = "settings.sendAs.list"
	MethodListFilters   Method = "settings.filters.list"
	MethodWatch         Method = "watch"
	MethodStop          Method = "stop"
)

// sends reports whether the method counts toward the limit on sending.
func (m Method) sends() bool { return m == MethodSend || m == MethodSendDraft }

// DefaultCosts returns the quota units of each method, as Gmail counts them since 1 May 2026.
func DefaultCosts() map[Method]int {
	return map[Method]int{
		MethodGetProfile: 1, MethodListLabels: 1, MethodCreateLabel: 5, MethodListHistory: 2, MethodListMessages: 5,
		MethodGetMessage: 20, MethodModifyMessage: 5, MethodTrash: 20, MethodUntrash: 5, MethodDelete: 10,
		MethodSend: 100, MethodInsert: 25, MethodImport: 25,
		MethodGetAttachment: 20, MethodListSendAs: 1, MethodListFilters: 1, MethodWatch: 100, MethodStop: 50,
		MethodCreateDraft: 10, MethodUpdateDraft: 15, MethodGetDraft: 20, MethodListDrafts: 5, MethodSendDraft: 100,
		MethodDeleteDraft: 10,
	}
}

// Limits keep the client of one account within Gmail's quota. The zero Limits use the defaults. In no minute are more
// than UnitsPerMinute spent, whenever Gmail's minutes begin. They hold for one process, and with [SharedLimits] for
// all processes on one PostgreSQL: other programs that serve the same account share its quota, and should each have a
// part of it.
type Limits struct {
	// Unlimited sets no limit, for tests and for hosts that limit the calls themselves. The client then ignores Gmail's
	// Retry-After as well, and the other fields must be zero. Default false.
	Unlimited bool

	// UnitsPerMinute is the account's budget. Default 6000, Gmail's default for new projects and each user; above Burst,
	// and at most 1,000,000,000.
	UnitsPerMinute int
	// Burst is the number of units that may be spent at once after a pause; the others are spread over the minute.
	// Default: the larger of a tenth of UnitsPerMinute and the highest cost of a method; at least that cost, and less
	// than UnitsPerMinute.
	Burst int
	// Concurrent is the maximum number of calls that run at the same time. Default 8; it must not be negative.
	Concurrent int
	// Costs are the units of each method, at most Burst; 0 makes a method free. A missing method has its cost in
	// [DefaultCosts].
	Costs map[Method]int
}

func (l Limits) withDefaults() Limits {
	if l.UnitsPerMinute == 0 {
		l.UnitsPerMinute = 6000
	}
	if l.Concurrent == 0 {
		l.Concurrent = 8
	}
	costs := DefaultCosts()
	maps.Copy(costs, l.Costs)
	l.Costs = costs
	if l.Burst == 0 {
		l.Burst = max(l.UnitsPerMinute/10, slices.Max(append(slices.Collect(maps.Values(l.Costs)), 1)))
	}
	return l
}

// jobsAtOnce bounds the jobs of one account that run at the same time.
const jobsAtOnce = 4

// JobLimit returns the limit for the jobs of an account, one message read in each, that spends the whole budget and
// lets none wait for it in a worker: at most four run at once, as many start in a minute as messages can be read, and
// after a pause as many at once as Burst permits. It is zero with Unlimited. The error names a limit that is out of
// its bounds.
func (l Limits) JobLimit() (queue.Limit, error) {
	if err := l.Validate(); err != nil || l.Unlimited {
		return queue.Limit{}, err
	}
	l = l.withDefaults()
	limit := queue.Limit{MaxRunning: min(jobsAtOnce, l.Concurrent)}
	if cost := l.Costs[MethodGetMessage]; cost > 0 {
		limit.Rate, limit.Per = max(1, l.UnitsPerMinute/cost), time.Minute
		limit.Burst = max(1, l.Burst/cost)
	}
	return limit, nil
}

// maxUnits leaves a time for each unit that is longer than the clock's own steps.
const maxUnits = 1_000_000_000

func (l Limits) validate() error {
	switch {
	case l.UnitsPerMinute < 0:
		return fmt.Errorf("Limits.UnitsPerMinute is %d; it must be positive", l.UnitsPerMinute)
	case l.UnitsPerMinute > maxUnits:
		return fmt.Errorf("Limits.UnitsPerMinute is %d; it must be at most %d, and Limits.Unlimited sets no limit",
			l.UnitsPerMinute, maxUnits)
	case l.Burst < 0 || l.Burst >= l.UnitsPerMinute:
		return fmt.Errorf("Limits.Burst is %d; it must be positive and less than UnitsPerMinute (%d)", l.Burst,
			l.UnitsPerMinute)
	case l.Concurrent < 0:
		return fmt.Errorf("Limits.Concurrent is %d; it must be positive", l.Concurrent)
	}
	for method, cost := range l.Costs {
		if _, ok := DefaultCosts()[method]; !ok {
			return fmt.Errorf("Limits.Costs[%s] is no method that a Client calls; the methods are those of DefaultCosts", method)
		}
		if cost < 0 || cost > l.Burst {
			return fmt.Errorf("Limits.Costs[%s] is %d; it must be within 0 and Burst (%d)", method, cost, l.Burst)
		}
	}
	return nil
}

// unset returns an error if a limit is set together with Unlimited.
func (l Limits) unset() error {
	if l.UnitsPerMinute != 0 || l.Burst != 0 || l.Concurrent != 0 || l.Costs != nil {
		return errors.New("Limits.Unlimited is set beside other limits; leave one or the other zero")
	}
	return nil
}
