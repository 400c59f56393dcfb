package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

// A readiness has the reasons why the daemon is not ready. The zero readiness is for a starting daemon.
type readiness struct{ why atomic.Pointer[awaited] }

// An awaited is a condition that the daemon waits for, with its job if there is one.
type awaited struct{ what, jobID string }

func (r *readiness) missing() awaited {
	if why := r.why.Load(); why != nil {
		return *why
	}
	return awaited{what: "they are being looked for"}
}

func (r *readiness) is(what string) { r.why.Store(&awaited{what: what}) }
func (r *readiness) reached()       { r.is("") }
func (r *readiness) stops()         { r.is("postroomd stops") }

// awaits records a condition for a daemon that has not been ready yet: after that it continues with the accounts that are set up.
func (r *readiness) awaits(what string) {
	if r.missing().what != "" {
		r.is(what)
	}
}

// awaitsJob records the job of a condition.
func (r *readiness) awaitsJob(id string) {
	if now := r.missing(); now.what != "" {
		r.why.Store(&awaited{now.what, id})
	}
}

// notReady describes the missing accounts and the reasons; empty if all are set up.
func (h *host) notReady(ctx context.Context, r *readiness) string {
	now := r.missing()
	if lost := h.signedOut(ctx, now.what); lost != "" {
		return lost
	}
	if now.jobID == "" {
		return now.what
	}
	job, err := h.queue.Job(ctx, now.jobID)
	if err != nil {
		return now.what
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: job %s (%s) is %s: %s", now.what, job.ID, job.Type, job.State, lastWords(job)), ": ")
}

// signedOut says of the mailbox that is waited for that its grant is gone, if so: nothing else brings it further.
func (h *host) signedOut(ctx context.Context, what string) string {
	if what == "" {
		return ""
	}
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return ""
	}
	for _, a := range accounts {
		if a.State == gmail.AccountReauthorize && strings.HasPrefix(what, a.Email) {
			return a.Email + " has lost its grant: " + h.signIn(a)
		}
	}
	return ""
}

func lastWords(job *queue.Job) string {
	if job.LastError != "" {
		return "the last attempt failed: " + job.LastError
	}
	return ""
}
