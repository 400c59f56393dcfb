package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/gmail/auth/tokenstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// Machines that share a database need not all have access to each mailbox: what one lacks says nothing about the others. Jobs that
// come to a machine without access are given back, and a machine with access takes them up.

// isShared reports whether other machines may work on the same mailboxes.
func (s *site) isShared() bool { return s.cfg.Paths.Database.Postgres() }

// lacks says that this machine has no access to a mailbox, and what to do; empty if it has, or if that cannot be told without a
// question. On one machine, a grant that is gone is not lacking: the account is to sign in again.
func (s *site) lacks(ctx context.Context, a gmail.Account) string {
	g := s.cfg.Gmail
	switch {
	case s.demo, s.byToken(a), g.Token == "" && g.ClientID == "":
		return ""
	case g.ClientID != "" && (!s.isShared() || s.hasGrant(ctx, a.Email)):
		return ""
	}
	return string(gmail.ClassNoAccess) + ": " + s.giveAccess(a)
}

// hasGrant reports whether a grant for the address is on this machine, or may be. It asks for no passphrase.
func (s *site) hasGrant(ctx context.Context, email string) bool {
	place := s.tokenPlace()
	used, err := agefile.Used(place.Dir)
	if err == nil && (used || place.Kind == tokenstore.File) && place.Kind != tokenstore.Keychain {
		emails, err := agefile.Addresses(place.Dir)
		return err != nil || slices.Contains(emails, strings.ToLower(email))
	}
	tokens, err := s.quietTokens(ctx)
	if err == nil {
		_, err = tokens.Load(ctx, email)
	}
	return !errors.Is(err, auth.ErrNoGrant)
}

// giveAccess is what to do about a mailbox that this machine has no access to.
func (s *site) giveAccess(a gmail.Account) string {
	g := s.cfg.Gmail
	remove := "'postroomd accounts remove " + a.Email + "'"
	signIn := "sign in on this machine with 'postroomd auth login " + a.Email + "'"
	switch {
	case g.ClientID == "" && g.Token == "":
		return "set gmail.address and gmail.token, or gmail.client_id"
	case g.ClientID == "" && s.isShared():
		return fmt.Sprintf("gmail.token is that of %s; a postroomd with the token of this mailbox works on it, and if there is none, %s removes it", g.Address, remove)
	case g.ClientID == "":
		return fmt.Sprintf("gmail.token is that of %s; set gmail.address and gmail.token to those of this mailbox, or gmail.client_id to sign in to it, "+
			"and if its address was a mistake, %s removes it", g.Address, remove)
	case tokenstore.Kind(g.Tokens) == tokenstore.Keychain:
		return signIn
	}
	return fmt.Sprintf("%s, or stop postroomd here, copy the folder %s from a machine that is signed in, and set gmail.passphrase to that machine's", signIn, s.folder.tokens())
}

// lackError is the error of calls for a mailbox that this machine has no token for.
func (s *site) lackError(a gmail.Account) error {
	return &gmail.Error{Op: "use account " + a.Email, Class: gmail.ClassNoAccess, Hint: s.giveAccess(a)}
}

// A hintingCarrier says in the errors about a missing grant what to do here.
type hintingCarrier struct {
	http.RoundTripper
	hint string
}

func (c hintingCarrier) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.RoundTripper.RoundTrip(r)
	if lacks, ok := errors.AsType[*gmail.Error](err); ok && lacks.Class == gmail.ClassNoAccess {
		own := *lacks
		own.Hint = c.hint
		err = &own
	}
	return answer, err
}

// leaveToOthers is the middleware that gives back jobs of mailboxes that this machine has no access to. Those of package gmail do so
// by themselves; an undo does not know how often it was given back.
func leaveToOthers(next queue.HandlerFunc) queue.HandlerFunc {
	return func(ctx context.Context, a *queue.Attempt) error {
		err := next(ctx, a)
		if gmail.ClassOf(err) != gmail.ClassNoAccess {
			return err
		}
		return queue.Defer(err, attempts.Held(a.Job.Interruptions, time.Time{}, time.Now()))
	}
}

// takeUpMargin is how soon a job is due that is left alone: another process may have claimed it, and must not be interrupted.
const takeUpMargin = 2 * time.Second

// isLeft reports whether a job waits because a process had no access to its mailbox.
func isLeft(j *queue.Job, now time.Time) bool {
	return j.Interruptions > 0 && j.NotBefore.Sub(now) > takeUpMargin && strings.Contains(j.LastError, string(gmail.ClassNoAccess))
}

// takeUp makes jobs due that processes without access to the account have given back, on a machine that has access: all of them, or
// those among the newest. A process without access may be the first to claim a job again and again, and they wait longer each time.
func (h *host) takeUp(ctx context.Context, accountID string, all bool) error {
	now, filter := time.Now(), queue.Filter{LimitKey: gmail.LimitKey(accountID), States: []queue.State{queue.StateQueued}, Limit: laterPage}
	left := func(j *queue.Job) bool { return isLeft(j, now) }
	var jobs []queue.Job
	var err error
	if all {
		jobs, err = h.queued(ctx, filter, left)
	} else {
		jobs, err = h.queue.Jobs(ctx, filter)
	}
	if err != nil {
		return err
	}
	var ids []string
	for i := range jobs {
		if left(&jobs[i]) {
			ids = append(ids, jobs[i].ID)
		}
	}
	return h.makeDue(ctx, ids)
}

// reach returns an error if this machine has no access to the mailbox, and takes up what others have left otherwise.
func (p *pipeline) reach(ctx context.Context) error {
	account, err := p.mail.Account(ctx, p.accountID)
	if err != nil {
		return err
	}
	if lack := p.lacks(ctx, account); lack != "" {
		return errors.New(lack)
	}
	return p.takeUp(ctx, p.accountID, true)
}
