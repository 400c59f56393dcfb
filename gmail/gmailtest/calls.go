package gmailtest

import (
	"maps"
	"slices"
	"sync"
)

// A Call is one request that reached the server.
type Call struct {
	Method Method
	Verb   string // of HTTP
	Path   string
	Query  string
	Status int  // of the answer; 0 when nothing was done
	Units  int  // spent of the quota; 0 when the call was refused
	Cut    bool // the caller got no answer
}

// maxCalls bounds the log of calls; counts go on.
const maxCalls = 10_000

type callLog struct {
	mu     sync.Mutex
	recent []Call
	counts map[Method]int
	units  int
}

func (l *callLog) add(call Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recent) >= maxCalls {
		l.recent = slices.Delete(l.recent, 0, maxCalls/2)
	}
	l.recent = append(l.recent, call)
	if l.counts == nil {
		l.counts = map[Method]int{}
	}
	l.counts[call.Method]++
	l.units += call.Units
}

// Calls returns the last calls in the order in which they were answered: at least 5,000, if there were as many.
func (s *Server) Calls() []Call {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return slices.Clone(s.calls.recent)
}

// Counts returns the number of calls of each method.
func (s *Server) Counts() map[Method]int {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return maps.Clone(s.calls.counts)
}

// Units returns the quota units spent by all calls.
func (s *Server) Units() int {
	s.calls.mu.Lock()
	defer s.calls.mu.Unlock()
	return s.calls.units
}
