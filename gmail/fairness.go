package gmail

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// LimitJobs limits the jobs of each account to what its quota permits, on all machines and from now on, so that a
// burst in one mailbox leaves the workers to the others: at most four run, and as many start a minute as messages can
// be read within the limits, see [gmailapi.Limits.JobLimit]. It sets the limit of the prefix of all
// [mailstore.LimitKey]; one for the key of an account takes precedence. With Limits.Unlimited it removes the limit.
// Call it before the dispatcher runs, with the limits of the clients.
//
// A limit of the prefix that LimitJobs sets for no number of units a minute is an operator's: it stays, and is returned
// as kept. Otherwise kept is zero.
func LimitJobs(ctx context.Context, q *queue.Queue, limits gmailapi.Limits) (kept queue.Limit, err error) {
	target := queue.ForKeyPrefix(mailstore.LimitKey(""))
	wanted, err := limits.JobLimit()
	if err != nil {
		return queue.Limit{}, err
	}
	set, err := q.Limits(ctx)
	if err != nil {
		return queue.Limit{}, err
	}
	var now queue.Limit
	if i := slices.IndexFunc(set, func(l queue.LimitStatus) bool { return l.Target == target }); i >= 0 {
		now = set[i].Limit
	}
	switch {
	case now == wanted:
		return queue.Limit{}, nil
	case now != queue.Limit{} && !isJobLimit(now):
		return now, nil
	case limits.Unlimited:
		return queue.Limit{}, q.RemoveLimit(ctx, target)
	}
	return queue.Limit{}, q.SetLimit(ctx, target, wanted)
}

// isJobLimit reports whether LimitJobs sets such a limit for some number of units a minute.
func isJobLimit(l queue.Limit) bool {
	units := l.Rate * gmailapi.DefaultCosts()[gmailapi.MethodGetMessage]
	usual, err := gmailapi.Limits{UnitsPerMinute: units}.JobLimit()
	return err == nil && l == usual
}

// quotaPatience is how long a job may wait for its account's quota in a worker. A shorter wait costs less than a
// deferral.
const quotaPatience = 250 * time.Millisecond

// firstCalls are the calls that a job of a type makes at least, as a rule.
var firstCalls = map[string][]gmailapi.Method{
	string(JobBackfill):    {gmailapi.MethodListMessages},
	string(JobHistorySync): {gmailapi.MethodListHistory},
	string(JobLabelsSync):  {gmailapi.MethodListLabels},
	string(JobIngest):      {gmailapi.MethodGetMessage},
	string(JobReconcile):   {gmailapi.MethodListMessages},
	string(JobAction):      {gmailapi.MethodGetMessage, gmailapi.MethodModifyMessage},
	string(JobUnsnooze):    {gmailapi.MethodGetMessage, gmailapi.MethodModifyMessage},
	string(outbox.JobSend): {gmailapi.MethodSend},
}

var errQuotaSpent = errors.New("the account's quota for this minute is spent; the job runs again when it permits its calls")

// awaitQuota gives a job back unspent if the quota of its account does not permit its calls soon. Jobs of a low
// priority leave some of the quota to the others, and all leave what the first that was given back waits for: else
// smaller jobs, such as reads, would spend what a send needs at once whenever there is a little.
func (j *jobs) awaitQuota(ctx context.Context, w *queue.Attempt, accountID string) error {
	calls := firstCalls[w.Job.Type]
	if calls == nil {
		return nil
	}
	client, err := gmailapi.FindClient(ctx, j.Clients, accountID)
	if err != nil {
		return nil //nolint:nilerr // the handler meets it, and says what it was about to do
	}
	others := j.reserved.others(accountID, w.Job.ID)
	wait := client.QuotaWait(w.Job.Priority < 0, slices.Concat(calls, others)...)
	if wait <= quotaPatience {
		j.reserved.release(accountID, w.Job.ID)
		return nil
	}
	// A job that others have forestalled often asks more seldom, so that its interruptions last.
	wait = max(wait, time.Duration(w.Job.Interruptions)*100*time.Millisecond)
	// What waits for longer than the quota takes to come back waits for something else, such as Gmail's limit on sending.
	if w.Job.Priority >= 0 && others == nil && wait <= longestReserved {
		j.reserved.reserve(accountID, reservation{w.Job.ID, calls, time.Now().Add(wait + reservedFor)})
	}
	return gmailapi.Verdict(&gmailapi.Error{Op: "begin " + w.Job.Type, Class: gmailapi.ClassRateLimited, RetryAfter: wait,
		Err: errQuotaSpent})
}

// longestReserved is how long a job may wait for the quota of a minute.
const longestReserved = time.Minute

// reservedFor is how long a reservation outlasts the wait of its job, which is then to be claimed again.
const reservedFor = 5 * time.Second

// A reservation keeps an account's quota for the calls of a job that was given back for want of it.
type reservation struct {
	jobID string
	calls []gmailapi.Method
	until time.Time
}

// reservations has at most one for each account, in this process. The zero value has none.
type reservations struct {
	mu        sync.Mutex
	byAccount map[string]reservation
}

// others returns the calls that the quota of an account is reserved for, unless the reservation is the job's own.
func (r *reservations) others(accountID, jobID string) []gmailapi.Method {
	r.mu.Lock()
	defer r.mu.Unlock()
	held, ok := r.byAccount[accountID]
	if !ok || held.jobID == jobID || !time.Now().Before(held.until) {
		return nil
	}
	return held.calls
}

func (r *reservations) reserve(accountID string, held reservation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byAccount == nil {
		r.byAccount = map[string]reservation{}
	}
	r.byAccount[accountID] = held
}

// release ends the reservation of a job, if it has the account's.
func (r *reservations) release(accountID, jobID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byAccount[accountID].jobID == jobID {
		delete(r.byAccount, accountID)
	}
}
