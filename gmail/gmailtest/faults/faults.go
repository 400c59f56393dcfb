// Package faults has the failures that tests script for the calls of the fake Gmail: which calls they select, what
// the caller gets, and gates that hold calls. Package gmailtest carries them out and has the same types under its own
// name.
package faults

import (
	"context"
	"strings"
	"sync"
	"time"
)

// A Method is a method of the API by Google's name for it, without "gmail.users.", or an endpoint of OAuth.
type Method string

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
// An affected call first passes its Gate and Delay. Then it is cut or gets the Status as its response. A fault with
// none of these lets its calls pass; in a script it stands for successful calls.
type Fault struct {
	// Method and Path select the calls of the method with the text in the path. Both empty: every call, including those
	// of OAuth.
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
	// RetryAfter is the header field of that name, rounded up to seconds. A default Message contains the time as well,
	// except for the reason dailyLimitExceeded. Zero leaves both out.
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

// A Script is a list of faults with the number of calls that each has selected. The zero Script is empty and ready to
// use. It is safe for concurrent use.
type Script struct {
	mu   sync.Mutex
	list []*countedFault
}

type countedFault struct {
	Fault
	seen int
}

// Add adds faults. If several select a call, the first that is due applies, and all of them count the call.
func (s *Script) Add(list ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range list {
		fault.Nth = max(fault.Nth, 1)
		if fault.Times == 0 {
			fault.Times = 1
		}
		s.list = append(s.list, &countedFault{Fault: fault})
	}
}

// Clear removes all faults.
func (s *Script) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = nil
}

// Due counts a call and returns its fault, or a fault without effect if there is none.
func (s *Script) Due(method Method, path, account string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *countedFault
	for _, fault := range s.list {
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
	if f.Method != "" && f.Method != method || !strings.Contains(path, f.Path) || f.Account != "" &&
		!strings.EqualFold(f.Account, account) {
		return false
	}
	f.seen++
	return f.seen >= f.Nth && (f.Times < 0 || f.seen < f.Nth+f.Times)
}

// Holds reports whether the fault holds its call before anything else.
func (f Fault) Holds() bool { return f.Gate != nil || f.Delay > 0 }

// Hold holds a call. It returns false if the caller gave up, or the server closed the connection.
func (f Fault) Hold(ctx context.Context) bool {
	if !f.Gate.Pass(ctx) {
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
