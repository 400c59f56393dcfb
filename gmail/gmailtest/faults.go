package gmailtest

import (
	"net/http"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/faults"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// For tests that import this package alone; package faults describes them.
type (
	// Fault is [faults.Fault].
	Fault = faults.Fault
	// Cut is [faults.Cut].
	Cut = faults.Cut
	// Gate is [faults.Gate].
	Gate = faults.Gate
)

// The times at which a connection is cut.
const (
	NoCut     = faults.NoCut
	CutBefore = faults.CutBefore // before the call takes effect
	CutAfter  = faults.CutAfter  // after the call took effect
)

// NewGate makes a closed gate.
func NewGate() *Gate { return faults.NewGate() }

// Fault adds faults. If several select a call, the first that is due applies, and all of them count the call.
func (s *Server) Fault(list ...Fault) { s.faults.Add(list...) }

// ClearFaults removes all faults.
func (s *Server) ClearFaults() { s.faults.Clear() }

// hold holds a call as its fault says. It returns false if the caller gave up, or the server closed the connection.
func hold(r *http.Request, fault Fault) bool {
	if !fault.Holds() {
		return true
	}
	readAhead(r)
	return fault.Hold(r.Context())
}

// faultError returns the response of a fault with a status.
func faultError(f Fault, now time.Time) error {
	e := &wire.Error{Status: f.Status, Reason: f.Reason, Message: f.Message, RetryAfter: f.RetryAfter}
	if e.Reason == "" {
		e.Reason = wire.DefaultReason(f.Status)
	}
	switch {
	case e.Message != "":
	case f.RetryAfter <= 0 || e.Reason == "dailyLimitExceeded": // Gmail does not give its end
		e.Message = http.StatusText(f.Status)
	case e.Domain() == "usageLimits":
		e.Message = retryText(overQuota(f.Status), now.Add(f.RetryAfter))
	default:
		e.Message = retryText(http.StatusText(f.Status), now.Add(f.RetryAfter))
	}
	return e
}
