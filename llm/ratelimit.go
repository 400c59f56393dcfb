package llm

import "time"

// Limits are the rate limits that a provider reports with its answer; nil where it reports none.
type Limits struct {
	Requests *Allowance
	Tokens   *Allowance
}

// An Allowance is the rest of a limit.
type Allowance struct {
	Limit     int64 // 0 when the provider does not say
	Remaining int64
	// Reset is the time until the limit is full again; 0 when the provider does not say.
	Reset time.Duration
}

// wait is the time until a call that the limits allow; 0 when they allow one now.
func (l Limits) wait() time.Duration {
	var wait time.Duration
	for _, a := range []*Allowance{l.Requests, l.Tokens} {
		if a != nil && a.Remaining <= 0 {
			wait = max(wait, a.Reset)
		}
	}
	return wait
}
