package discordtest

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Cut is a connection that is closed without an answer.
type Cut int

// When a connection is cut.
const (
	NoCut     Cut = iota
	CutBefore     // nothing was done
	CutAfter      // what was asked was done, and the caller does not learn it
)

// A Fault is a failure of some REST calls. A call that meets one first waits for its Gate, then is cut or answered with its
// Status.
type Fault struct {
	// Method and Path choose calls: of this method, with this text in the path. Both empty: every call.
	Method string
	Path   string

	// Nth is the first of the chosen calls that fails, counted from 1 since the fault was set. Zero means 1.
	Nth int
	// Times is the number of calls in a row that fail. Zero means 1; a negative number means all that follow.
	Times int

	// Status is the answer's, 400 and up; nothing is done then. Zero: the fault sets no status.
	Status int
	// Code and Message are Discord's words for it. Default 0, and the text of the status.
	Code    int
	Message string
	// RetryAfter is of a Status of 429: how long to wait, in the body and the header.
	RetryAfter time.Duration
	// Global is of a Status of 429: it is about all calls of the bot.
	Global bool

	// ResetAfter, if not zero, lets the call do its work and says in the answer that it was the last one that the limit allows for
	// this time.
	ResetAfter time.Duration

	// Cut closes the connection in place of an answer.
	Cut Cut

	// Gate holds the call until the channel is closed, or the caller gives up. Nil: it does not wait.
	Gate <-chan struct{}
}

// Fault adds faults. If several choose a call, the first that is due applies; all of them count the call.
func (s *Server) Fault(faults ...Fault) { s.faults.add(faults) }

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.faults.clear() }

type faults struct {
	mu   sync.Mutex
	list []*countedFault
}

type countedFault struct {
	Fault
	seen int
}

func (f *faults) add(list []Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range list {
		fault.Nth = max(fault.Nth, 1)
		fault.Times = cmp.Or(fault.Times, 1)
		f.list = append(f.list, &countedFault{Fault: fault})
	}
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// due gives the fault of a call; one that does nothing when all is well.
func (f *faults) due(method, path string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found *countedFault
	for _, fault := range f.list {
		if fault.count(method, path) && found == nil {
			found = fault
		}
	}
	if found == nil {
		return Fault{}
	}
	return found.Fault
}

// count counts the call and reports whether it fails.
func (f *countedFault) count(method, path string) bool {
	if f.Method != "" && f.Method != method || !strings.Contains(path, f.Path) {
		return false
	}
	f.seen++
	return f.seen >= f.Nth && (f.Times < 0 || f.seen < f.Nth+f.Times)
}

// hold holds a call; it is false when the caller gave up.
func (f *Fault) hold(ctx context.Context) bool {
	if f.Gate == nil {
		return true
	}
	select {
	case <-f.Gate:
		return true
	case <-ctx.Done():
		return false
	}
}

// write answers with the status.
func (f *Fault) write(w http.ResponseWriter) {
	message := cmp.Or(f.Message, strconv.Itoa(f.Status)+": "+http.StatusText(f.Status))
	if f.Status != http.StatusTooManyRequests {
		answer(w, nil, refuse(f.Status, f.Code, message))
		return
	}
	seconds := f.RetryAfter.Seconds()
	header := w.Header()
	header.Set("Retry-After", strconv.FormatFloat(seconds, 'f', 3, 64))
	header.Set("X-Ratelimit-Reset-After", strconv.FormatFloat(seconds, 'f', 3, 64))
	header.Set("X-Ratelimit-Remaining", "0")
	if f.Global {
		header.Set("X-Ratelimit-Global", "true")
	}
	header.Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(`{"message":"You are being rate limited.","retry_after":` + strconv.FormatFloat(seconds, 'f', 3, 64) +
		`,"global":` + strconv.FormatBool(f.Global) + `}`)) // the caller may have gone
}

// limits says in the header how many calls are left.
func (f *Fault) limits(header http.Header) {
	remaining, after := "4", "1.000"
	if f.ResetAfter != 0 {
		remaining, after = "0", strconv.FormatFloat(f.ResetAfter.Seconds(), 'f', 3, 64)
	}
	header.Set("X-Ratelimit-Limit", "5")
	header.Set("X-Ratelimit-Remaining", remaining)
	header.Set("X-Ratelimit-Reset-After", after)
}
