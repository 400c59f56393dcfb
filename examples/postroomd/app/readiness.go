package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// A Readiness has the reasons why the daemon is not ready. The zero readiness is for a starting daemon.
type Readiness struct {
	mu    sync.Mutex
	state readyState
	fault string             // why the accounts cannot be looked at
	each  map[string]awaited // What is awaited for each account, by its address
	lacks map[string]string  // What this machine lacks to work on an account, by its address; others may set it up
}

type readyState int

const (
	readyLooking readyState = iota
	readyAwaits             // What each needs
	readyReached            // Config then on the daemon continues with the accounts that are set up
	readyStops
)

// An awaited is a condition that the daemon waits for, with its job if there is one.
type awaited struct {
	address string
	what    string // follows the address
	jobID   string
}

// missing lists what is awaited, by address; nothing if the daemon is ready.
func (r *Readiness) missing() []awaited {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.state == readyReached:
		return nil
	case r.state == readyStops:
		return []awaited{{what: "postroomd stops"}}
	case r.fault != "":
		return []awaited{{what: r.fault}}
	case r.state == readyLooking:
		return []awaited{{what: "they are being looked for"}}
	}
	return slices.SortedFunc(maps.Values(r.each), func(a, b awaited) int { return strings.Compare(a.address, b.address) })
}

func (r *Readiness) stops() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = readyStops
}

// fails records why the accounts cannot be looked at; nil if they can.
func (r *Readiness) fails(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = ""
	if err != nil {
		r.fault = err.Error()
	}
}

// awaits records what an account needs.
func (r *Readiness) awaits(address, what, jobID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.each == nil {
		r.each = map[string]awaited{}
	}
	r.each[address] = awaited{address, what, jobID}
}

// awaitsOnly forgets what other accounts needed. If no account needs anything, the daemon is ready.
func (r *Readiness) awaitsOnly(addresses []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.each, func(address string, _ awaited) bool { return !slices.Contains(addresses, address) })
	switch {
	case r.state >= readyReached:
	case len(addresses) == 0 && r.fault == "":
		r.state = readyReached
	default:
		r.state = readyAwaits
	}
}

// lacksCredentials records what this machine lacks to work on accounts.
func (r *Readiness) lacksCredentials(lacks map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lacks = lacks
}

// MissingCredentials describes the accounts that this machine has no access to, one in each line; empty if there are none.
func (r *Readiness) MissingCredentials() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := make([]string, 0, len(r.lacks))
	for _, address := range slices.Sorted(maps.Keys(r.lacks)) {
		lines = append(lines, address+": "+r.lacks[address])
	}
	return strings.Join(lines, "\n")
}

// NotReady describes the missing accounts and the reasons, one in each line; empty if all are set up.
func (h *App) NotReady(ctx context.Context, r *Readiness) string {
	missing := r.missing()
	lines := make([]string, len(missing))
	for i, a := range missing {
		lines[i] = h.explainAwaited(ctx, a)
	}
	return strings.Join(lines, "\n")
}

func (h *App) explainAwaited(ctx context.Context, a awaited) string {
	if a.address == "" {
		return a.what
	}
	if lost := h.signedOut(ctx, a.address); lost != "" {
		return lost
	}
	if a.jobID != "" {
		if job, err := h.Queue.Job(ctx, a.jobID); err == nil {
			return strings.TrimSuffix(fmt.Sprintf("%s%s: job %s (%s) is %s: %s", a.address, a.what, job.ID, job.Type, job.State, LastFailure(job)), ": ")
		}
	}
	return a.address + a.what
}

// signedOut says of the mailbox that is waited for that its grant is gone, if so: nothing else brings it further.
func (h *App) signedOut(ctx context.Context, address string) string {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return ""
	}
	for _, a := range accounts {
		if a.State == mailstore.AccountReauthorize && a.Email == address {
			return a.Email + " has lost its grant: " + h.Env.HowToSignIn(a)
		}
	}
	return ""
}

// LastFailure describes why the last attempt of a job failed; empty if none did.
func LastFailure(job *queue.Job) string {
	if job.LastError != "" {
		return "the last attempt failed: " + job.LastError
	}
	return ""
}
