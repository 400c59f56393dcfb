package gmailtest

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Cut says when a connection is closed without a response.
type Cut int

// The times at which a connection is cut.
const (
	NoCut     Cut = iota
	CutBefore     // before the call takes effect
	CutAfter      // after the call took effect
)

// A Fault is a failure of some calls.
//
// An affected call first passes its Gate and Delay. Then it is cut or gets the Status as its response. A fault with none of these
// lets its calls pass; in a script it stands for successful calls.
type Fault struct {
	// Method and Path select the calls of the method with the text in the path. Both empty: every call, including those of OAuth.
	Method Method
	Path   string
	// Account selects calls to the mailbox of this address. Empty: all mailboxes.
	Account string

	// Nth is the first of the selected calls that fails, counted from 1 since the fault was set. Zero means 1.
	Nth int
	// Times is the number of consecutive calls that fail. Zero means 1; a negative number means all further ones.
	Times int

	// Status is the response's status, 400 and up; the call then has no effect. Zero: the fault sets no status.
	Status int
	// Reason and Message are Google's reason and message. Default: the usual ones for Status.
	Reason  string
	Message string
	// Body replaces Google's JSON, for example with the page of a proxy.
	Body string
	// RetryAfter is the header field of that name, rounded up to seconds. A default Message contains the time as well, except for
	// the reason dailyLimitExceeded. Zero leaves both out.
	RetryAfter time.Duration

	// Cut closes the connection in place of a response.
	Cut Cut

	// Truncate sends the first half of the response with the full Content-Length, and closes the connection.
	Truncate bool

	// Delay holds the call for the time, or until the caller gives up. Unlike a Gate, it needs no action of the test.
	Delay time.Duration

	// Gate holds the call until it is opened, or the caller gives up.
	Gate *Gate
}

// Fault adds faults. If several select a call, the first that is due applies, and all of them count the call.
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

func (f *faults) add(faults []Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range faults {
		fault.Nth = max(fault.Nth, 1)
		if fault.Times == 0 {
			fault.Times = 1
		}
		f.list = append(f.list, &countedFault{Fault: fault})
	}
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// due returns the fault of a call, or a fault without effect if there is none.
func (f *faults) due(method Method, path, account string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found *countedFault
	for _, fault := range f.list {
		if fault.count(method, path, account) && found == nil {
			found = fault
		}
	}
	if found == nil {
		return Fault{}
	}
	return found.Fault
}

// count counts the call and reports whether it fails.
func (f *countedFault) count(method Method, path, account string) bool {
	if f.Method != "" && f.Method != method || !strings.Contains(path, f.Path) || f.Account != "" && !strings.EqualFold(f.Account, account) {
		return false
	}
	f.seen++
	return f.seen >= f.Nth && (f.Times < 0 || f.seen < f.Nth+f.Times)
}

func (f Fault) apiError(now time.Time) error {
	e := &apiError{status: f.Status, reason: f.Reason, message: f.Message, retryAfter: f.RetryAfter}
	if e.reason == "" {
		if e.reason = reasons[f.Status]; e.reason == "" {
			e.reason = "backendError"
		}
	}
	switch {
	case e.message != "":
	case f.RetryAfter <= 0 || e.reason == "dailyLimitExceeded": // Gmail does not give its end
		e.message = http.StatusText(f.Status)
	case e.domain() == "usageLimits":
		e.message = retryText(overQuota(f.Status), now.Add(f.RetryAfter))
	default:
		e.message = retryText(http.StatusText(f.Status), now.Add(f.RetryAfter))
	}
	return e
}

// hold holds a call. It returns false if the caller gave up, or the server closed the connection.
func (f Fault) hold(r *http.Request) bool {
	if f.Gate == nil && f.Delay <= 0 {
		return true
	}
	readAhead(r)
	ctx := r.Context()
	if !f.Gate.wait(ctx) {
		return false
	}
	if f.Delay <= 0 {
		return true
	}
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
