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

// A Cut says when a connection is closed without a response.
type Cut int

// The times at which a connection is cut.
const (
	NoCut     Cut = iota
	CutBefore     // before the call takes effect
	CutAfter      // after the call took effect
)

// A Fault is a failure of some REST calls. An affected call first waits for its Gate. Then it is cut or gets the
// Status as its response.
type Fault struct {
	// Method and Path select the calls with the method and with the text in the path. Both empty: every call.
	Method string
	Path   string

	// Nth is the first of the selected calls that fails, counted from 1 since the fault was set. Zero means 1.
	Nth int
	// Times is the number of consecutive calls that fail. Zero means 1; a negative number means all further ones.
	Times int

	// Status is the response's status, 400 and up; the call then has no effect. Zero: the fault sets no status.
	Status int
	// Code and Message are Discord's code and message. Default 0, and the text of the status.
	Code    int
	Message string
	// RetryAfter is how long to wait, in the body and the header, for a Status of 429.
	RetryAfter time.Duration
	// Global reports, for a Status of 429, that the limit applies to all calls of the bot.
	Global bool

	// ResetAfter, if not zero, lets the call take effect. Its response says that it was the last one that the limit
	// allows for this time.
	ResetAfter time.Duration

	// Cut closes the connection in place of a response.
	Cut Cut

	// Gate holds the call until the channel is closed or the caller gives up. Nil: the call does not wait.
	Gate <-chan struct{}
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

// due returns the fault of a call, or a fault without effect if there is none.
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

// hold holds a call. It returns false if the caller gave up.
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
	_, _ = w.Write([]byte(`{"message":"You are being rate limited.","retry_after":` +
		strconv.FormatFloat(seconds, 'f', 3, 64) +
		`,"global":` + strconv.FormatBool(f.Global) + `}`)) // the caller may have gone
}

// limits sets the header fields with the number of remaining calls.
func (f *Fault) limits(header http.Header) {
	remaining, after := "4", "1.000"
	if f.ResetAfter != 0 {
		remaining, after = "0", strconv.FormatFloat(f.ResetAfter.Seconds(), 'f', 3, 64)
	}
	header.Set("X-Ratelimit-Limit", "5")
	header.Set("X-Ratelimit-Remaining", remaining)
	header.Set("X-Ratelimit-Reset-After", after)
}
