package gmailtest

import (
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Call is one request that reached the server.
type Call struct {
	Method  Method    `json:"method"`
	Account string    `json:"account"` // the address of the mailbox; empty if the token was refused
	At      time.Time `json:"at"`      // when it arrived
	Verb    string    `json:"verb"`    // of HTTP
	Path    string    `json:"path"`
	Query   string    `json:"query"`
	Body    string    `json:"body"`   // of the request: its first 4,096 bytes
	Status  int       `json:"status"` // of the response; 0 if the call had no effect
	Units   int       `json:"units"`  // quota units; 0 if the call was refused
	Cut     bool      `json:"cut"`    // the caller got no response
}

// maxCalls bounds the logs of calls and of pushes. Counts are not bounded.
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

// maxBody bounds the stored part of a request.
const maxBody = 4096

// A heard body stores the beginning of the bytes that are read from it.
type heard struct {
	io.ReadCloser
	beginning []byte
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.beginning = append(h.beginning, p[:min(n, maxBody-len(h.beginning))]...)
	return n, err
}

// Calls returns the last calls in the order of their responses: at least 5,000, if there were as many.
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
