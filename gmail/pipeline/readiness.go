package pipeline

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// An Awaited is a condition that a running pipeline waits for.
type Awaited struct {
	Account string // the address; empty for what concerns all accounts
	What    string // follows the address
	JobID   string // the job that is waited for; empty if there is none
}

// Stopping is the What of a pipeline that stops.
const Stopping = "it stops"

// Awaited lists what a running pipeline waits for until all accounts are set up, by address; nothing from then on, when
// it goes on with those that are, until it stops. It is for checks of readiness.
func (p *Pipeline) Awaited() []Awaited { return p.ready.missing() }

// Inaccessible says of the accounts that other processes on the database work on what this one lacks, by address.
func (p *Pipeline) Inaccessible() map[string]string {
	p.ready.mu.Lock()
	defer p.ready.mu.Unlock()
	return maps.Clone(p.ready.lacks)
}

// A readiness has the reasons why the pipeline is not ready. The zero readiness is for a starting one.
type readiness struct {
	mu    sync.Mutex
	state readyState
	fault string             // why the accounts cannot be looked at
	each  map[string]Awaited // what is awaited for each account, by its address
	lacks map[string]string  // what this process lacks to work on an account, by its address; others may set it up
}

type readyState int

const (
	readyLooking readyState = iota
	readyAwaits             // what each needs
	readyReached            // from then on the pipeline continues with the accounts that are set up
	readyStops
)

func (r *readiness) missing() []Awaited {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state == readyReached:
		return nil
	case r.state == readyStops:
		return []Awaited{{What: Stopping}}
	case r.fault != "":
		return []Awaited{{What: r.fault}}
	case r.state == readyLooking:
		return []Awaited{{What: "they are being looked for"}}
	}
	return slices.SortedFunc(maps.Values(r.each), func(a, b Awaited) int { return strings.Compare(a.Account, b.Account) })
}

// starts begins anew: a pipeline may run again.
func (r *readiness) starts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.fault, r.each = readyLooking, "", nil
}

func (r *readiness) stops() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = readyStops
}

// fails records why the accounts cannot be looked at; nil if they can.
func (r *readiness) fails(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = ""
	if err != nil {
		r.fault = err.Error()
	}
}

// awaits records what an account needs.
func (r *readiness) awaits(address, what, jobID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.each == nil {
		r.each = map[string]Awaited{}
	}
	r.each[address] = Awaited{address, what, jobID}
}

// awaitsOnly forgets what other accounts needed. If no account needs anything, the pipeline is ready.
func (r *readiness) awaitsOnly(addresses []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.each, func(address string, _ Awaited) bool { return !slices.Contains(addresses, address) })
	switch {
	case r.state >= readyReached:
	case len(addresses) == 0 && r.fault == "":
		r.state = readyReached
	default:
		r.state = readyAwaits
	}
}

// lacksCredentials records what this process lacks to work on accounts.
func (r *readiness) lacksCredentials(lacks map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lacks = lacks
}
