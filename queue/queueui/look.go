package queueui

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

const (
	// lookShare bounds the cost of examinations: after one, the next begins after this many times its duration.
	lookShare = 20
	// lookPatience is how long a page waits for one. A page without it says so.
	lookPatience = 2 * time.Second
	// longestUse is how old an examination is at most that a page does not wait for the next.
	longestUse = time.Minute
	// longestLook is when an examination is given up.
	longestLook = 5 * time.Minute
	// maxGroups bounds the groups of errors that are shown.
	maxGroups = 8
)

// A look is what an examination of the queue has found: what [queueadmin.Doctor] finds and is not in order, the worst
// first, and the largest groups of errors.
type look struct {
	Findings []queueadmin.Finding
	Groups   []queueadmin.ErrorGroup
	More     int // groups that are left out
	At       time.Time
	changed  int // looker.changed when it began
	err      error
}

// A looker examines the queue in the background while pages are asked for, one examination at a time. All pages share
// it.
type looker struct {
	q        *queue.Queue
	log      *slog.Logger
	interval time.Duration // the shortest between two of them

	mu      sync.Mutex
	latest  *look
	next    time.Time     // when to begin another
	changed int           // how often people have changed something: what was found before that is stale
	running chan struct{} // closed at the end of the one that runs; nil if none does
	stop    context.CancelFunc
	closed  bool
}

// get returns the latest examination, or nil if there is none yet. It waits for one that is under way if the latest is
// stale.
func (l *looker) get(ctx context.Context) (*look, error) {
	ctx, cancel := context.WithTimeout(ctx, lookPatience)
	defer cancel()
	for {
		latest, running := l.current()
		if running == nil {
			return latest, latest.err
		}
		select {
		case <-running:
		case <-ctx.Done():
			return latest, nil
		}
	}
}

// current returns the latest examination, and what to wait for if it is stale. It begins the next one in time.
func (l *looker) current() (*look, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	latest := l.latest
	stale := latest == nil || latest.changed < l.changed || time.Since(latest.At) > longestUse
	switch {
	case l.closed:
		return &look{}, nil
	case l.running == nil && (stale || !time.Now().Before(l.next)):
		ctx, stop := context.WithTimeout(context.Background(), longestLook)
		l.running, l.stop = make(chan struct{}), stop
		go l.examine(ctx, l.changed)
	}
	if stale {
		return latest, l.running
	}
	return latest, nil
}

func (l *looker) examine(ctx context.Context, changed int) {
	began := time.Now()
	found := lookAt(ctx, l.q)
	found.changed = changed
	if found.err != nil && ctx.Err() == nil {
		l.log.ErrorContext(ctx, "queueui: examination failed", "error", found.err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	now := time.Now()
	l.latest, l.next = found, now.Add(max(l.interval, lookShare*now.Sub(began)))
	close(l.running)
	l.running = nil
}

func lookAt(ctx context.Context, q *queue.Queue) *look {
	found := &look{At: time.Now()}
	findings, err := queueadmin.Doctor(ctx, q)
	if err != nil {
		found.err = err
		return found
	}
	found.Findings = slices.DeleteFunc(findings, func(f queueadmin.Finding) bool {
		return f.Severity == queueadmin.SeverityOK
	})
	slices.SortStableFunc(found.Findings, func(a, b queueadmin.Finding) int { return rank(a) - rank(b) })
	found.Groups, found.err = queueadmin.ErrorGroups(ctx, q, queue.Filter{})
	found.More = max(0, len(found.Groups)-maxGroups)
	found.Groups = found.Groups[:len(found.Groups)-found.More]
	return found
}

// rank is the order of findings: problems first, and last those of which there may be very many.
func rank(f queueadmin.Finding) (place int) {
	if f.Severity != queueadmin.SeverityProblem {
		place = 2
	}
	if f.Severity == queueadmin.SeverityProblem && f.Topic == "" {
		place = 1
	}
	return place
}

// change makes the latest examination stale.
func (l *looker) change() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed++
}

// close ends the examination that runs, and begins no other.
func (l *looker) close() {
	l.mu.Lock()
	l.closed = true
	running := l.running
	if running != nil {
		l.stop()
	}
	l.mu.Unlock()
	if running != nil {
		<-running
	}
}
