package app

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
)

// maxLabelDescription bounds what is said to a model about a label, in characters.
const maxLabelDescription = 500

// PauseMailbox keeps the jobs of a mailbox from running, until [App.ResumeMailbox]. by and why, which may be empty, are
// its reason.
func (h *App) PauseMailbox(ctx context.Context, accountID, by, why string) error {
	return h.recorded(ctx, events.Event{Kind: MailboxPaused, AccountID: accountID, By: by, Why: why},
		func(ctx context.Context, tx queue.Tx) error {
			return h.Mail.Pause(ctx, tx, h.Queue, accountID, strings.TrimSuffix("paused by "+by+": "+why, ": "))
		})
}

// ResumeMailbox lets the jobs of a mailbox run again.
func (h *App) ResumeMailbox(ctx context.Context, accountID, by string) error {
	return h.recorded(ctx, events.Event{Kind: MailboxResumed, AccountID: accountID, By: by},
		func(ctx context.Context, tx queue.Tx) error { return h.Mail.Resume(ctx, tx, h.Queue, accountID) })
}

// A LabelPatch changes what models know of a label. A nil field stays as it is.
type LabelPatch struct {
	Description *string // what they are told, in at most 500 characters
	ForModels   *bool   // whether they may choose the label
}

// DescribeLabel changes what models know of a label of a mailbox, and returns the label. A long description, and
// a patch that changes nothing, are a [usage.Error].
func (h *App) DescribeLabel(ctx context.Context, accountID, labelID string, p LabelPatch, by string) (
	l postroom.Label, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		all, err := h.Mail.LabelsTx(ctx, tx, accountID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(l postroom.Label) bool { return l.ID == labelID })
		if i < 0 {
			return fmt.Errorf("label %s: %w", labelID, postroom.ErrNotFound)
		}
		if l, err = p.apply(all[i]); err != nil {
			return err
		}
		if err := h.Mail.DescribeLabel(ctx, tx, accountID, l.ID, l.Description, l.AvailableToClassifier); err != nil {
			return err
		}
		why := map[bool]string{true: "models may use it", false: "models may not use it"}[l.AvailableToClassifier]
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: LabelDescribed, AccountID: accountID, By: by,
			Why: fmt.Sprintf("%s: %q; %s", l.Name, l.Description, why)})
	})
	return l, err
}

func (p LabelPatch) apply(l postroom.Label) (postroom.Label, error) {
	if p == (LabelPatch{}) {
		return l, usage.Errorf("say what is to change: the description, or whether models may use the label")
	}
	if p.Description != nil {
		l.Description = strings.TrimSpace(*p.Description)
		if n := utf8.RuneCountInString(l.Description); n > maxLabelDescription {
			return l, usage.Errorf("the description of a label has at most %d characters, and this has %d", maxLabelDescription, n)
		}
	}
	if p.ForModels != nil {
		l.AvailableToClassifier = *p.ForModels
	}
	return l, nil
}

// AdoptMailbox makes the account of a mailbox that a person has signed in to, keeps what was granted, and lets its jobs
// run, also those that were left to other machines.
func (h *App) AdoptMailbox(ctx context.Context, grant auth.Grant, by string) error {
	var id string
	err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		id, err = h.EnsureAccount(ctx, tx, grant.Email)
		if err == nil {
			err = h.Mail.SetScopes(ctx, tx, id, grant.Scopes)
		}
		if err != nil {
			return err
		}
		if err := h.Mail.Resume(ctx, tx, h.Queue, id); err != nil {
			return err
		}
		return h.Ledger.Events().Add(ctx, tx, events.Event{Kind: MailboxSignedIn, AccountID: id, By: by})
	})
	if err != nil {
		return err
	}
	return h.Backlog.TakeUp(ctx, id, true)
}

// BeginSignIn returns the address where Google asks a person about a mailbox, which need not be known here, and waits
// for the answer in the background: a grant adds the mailbox, or lets its jobs run again. Google sends the browser back
// to this machine. A sign-in to the mailbox that waits already is ended. What is no address is a [usage.Error], and
// so is a mailbox that is being removed.
func (h *App) BeginSignIn(ctx context.Context, email, by string) (address string, err error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email {
		return "", usage.Errorf("%q is no address of a mailbox, such as ada@example.org.", email)
	}
	account, err := h.Mail.AccountByEmail(ctx, email)
	switch {
	case err == nil && account.State == mailstore.AccountRemoving:
		return "", usage.Errorf("%s is being removed: sign in once that has ended.", email)
	case err != nil && !errors.Is(err, postroom.ErrNotFound):
		return "", err
	}
	login := auth.LoginConfig{Email: email, Scopes: h.Env.Scopes()}
	if login.App, err = h.Env.OAuthApp(); err != nil {
		return "", err
	}
	if login.Tokens, err = h.Env.Tokens(ctx); err != nil {
		return "", err
	}
	background, err := h.signIns.begin(email)
	if err != nil {
		return "", err
	}
	asks, failed := make(chan string, 1), make(chan error, 1)
	login.Open = func(_ context.Context, at string) error {
		asks <- at
		return nil
	}
	go func() {
		defer h.signIns.wait.Done()
		result, err := auth.Login(background, login)
		if err == nil {
			err = h.AdoptMailbox(background, result.Grant, by)
		}
		if err != nil {
			h.Log.WarnContext(background, "nobody has signed in to the mailbox", "email", email, "error", err)
		}
		failed <- err
	}()
	select {
	case at := <-asks:
		return at, nil
	case err := <-failed:
		return "", err
	}
}

// signIns are the sign-ins that wait for their person: one a mailbox. The zero value has none.
type signIns struct {
	mu     sync.Mutex
	closed bool
	open   map[string]context.CancelFunc // by the addresses of mailboxes
	wait   sync.WaitGroup
}

// begin returns the context of a sign-in to a mailbox, and ends the one before it. The error is that of a closed App.
func (s *signIns) begin(email string) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("postroomd is ending")
	}
	if end, ok := s.open[email]; ok {
		end()
	}
	if s.open == nil {
		s.open = map[string]context.CancelFunc{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.open[email] = cancel
	s.wait.Add(1)
	return ctx, nil
}

// close ends all of them, and waits for that.
func (s *signIns) close() {
	s.mu.Lock()
	s.closed = true
	for _, end := range s.open {
		end()
	}
	s.mu.Unlock()
	s.wait.Wait()
}

// MaxSignOut is how long [App.SignOutMailbox] may take: Google is asked.
const MaxSignOut = time.Minute

// ErrNotRevoked reports that nobody was signed out.
var ErrNotRevoked = errors.New("Google has not taken back what was granted, and nothing has changed") //nolint:staticcheck // a name

// SignOutMailbox takes back at Google what was granted for a mailbox, forgets it here, and keeps its jobs from running
// until somebody signs in again. At Google that ends what other machines were granted as well. If Google does not take
// it back, that is [ErrNotRevoked]; with anyway it is forgotten here all the same, and revoked is false. A mailbox that
// nobody is signed in to here is a [usage.Error]. A caller that goes away does not part what is taken back from what is
// forgotten.
func (h *App) SignOutMailbox(ctx context.Context, email, by string, anyway bool) (revoked bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), MaxSignOut)
	defer cancel()
	program, err := h.Env.OAuthApp()
	if err != nil {
		return false, err
	}
	tokens, err := h.Env.ExistingTokens(ctx)
	if err == nil {
		err = auth.Revoke(ctx, program, tokens, email)
	}
	if errors.Is(err, auth.ErrNoGrant) {
		return false, usage.Errorf("%s: %w; 'postroomd auth list' lists those there are", email, err)
	}
	revoked = err == nil || errors.Is(err, auth.ErrNotDeleted)
	reason := "revoked by " + by
	if !revoked {
		if tokens == nil {
			return false, err
		}
		if !anyway {
			return false, fmt.Errorf("%w: %w", ErrNotRevoked, err)
		}
		h.Log.WarnContext(ctx, "Google has not taken a grant back, which is forgotten here", "email", email, "error", err)
		if err := tokens.Delete(ctx, email); err != nil {
			return false, fmt.Errorf("forget the grant of %s: %w", email, err)
		}
		reason, err = "signed out by "+by, nil
	}
	return revoked, errors.Join(err, h.leaveToOwner(ctx, email, by, reason))
}

// leaveToOwner keeps the jobs of a mailbox from running until somebody signs in again.
func (h *App) leaveToOwner(ctx context.Context, email, by, reason string) error {
	account, err := h.Mail.AccountByEmail(ctx, email)
	if errors.Is(err, postroom.ErrNotFound) || err == nil && account.State == mailstore.AccountRemoving {
		return nil
	}
	if err != nil {
		return err
	}
	defer h.Clients.Forget(account.ID) // it has what was granted
	return h.recorded(ctx, events.Event{Kind: MailboxSignedOut, AccountID: account.ID, By: by},
		func(ctx context.Context, tx queue.Tx) error {
			return h.Mail.SignOut(ctx, tx, h.Queue, account.ID, reason)
		})
}

// Work is what is done for a mailbox at its time, and can be done now.
type Work string

// The kinds of work.
const (
	WorkSync      Work = "sync"      // read what is new at Gmail
	WorkLabels    Work = "labels"    // read the labels from Gmail
	WorkReconcile Work = "reconcile" // compare the stored mail with Gmail

	WorkArchive    Work = "archive"    // copy what is new into the archive
	WorkVerify     Work = "verify"     // read a part of the copies
	WorkVerifyEach Work = "verify-all" // read all copies
)

// StartWork has work of a mailbox done now. A job of it that has not ended is the one that does it; a new one has a tag
// that names who has asked.
func (h *App) StartWork(ctx context.Context, accountID string, work Work, by string) (started queue.EnqueueResult,
	err error) {
	var job queue.NewJob
	switch work {
	case WorkSync:
		job = gmail.NewHistorySyncJob(accountID, 0)
	case WorkLabels:
		job = gmail.NewLabelsSyncJob(accountID)
	case WorkReconcile:
		job = gmail.NewReconcileJob(accountID)
	case WorkArchive:
		job = archive.NewRunJob(accountID)
	case WorkVerify, WorkVerifyEach:
		job = archive.NewVerifyJob(accountID, work == WorkVerifyEach)
	default:
		return started, usage.Errorf("%q is no work of a mailbox: choose sync, labels, reconcile, archive, verify or verify-all.",
			work)
	}
	if h.Archive == nil && (work == WorkArchive || work == WorkVerify || work == WorkVerifyEach) {
		return started, mailarchive.ErrOff
	}
	job.Tags = append(job.Tags, askedBy(by))
	if started, err = h.Queue.Enqueue(ctx, job); err == nil {
		h.logAsked(ctx, by, "work", work, "account", accountID, "job", started.ID)
	}
	return started, err
}

// maxTag bounds a tag of a job, in bytes.
const maxTag = 100

// askedBy is the tag of a job that somebody has asked for.
func askedBy(by string) string {
	tag := "asked for by " + by
	return strings.ToValidUTF8(tag[:min(len(tag), maxTag)], "")
}

func (h *App) logAsked(ctx context.Context, by string, what ...any) {
	h.Log.InfoContext(ctx, "it is done now, since somebody has asked for it", append([]any{"by", by}, what...)...)
}

// SchedulesOf are the schedules of a mailbox.
func (h *App) SchedulesOf(ctx context.Context, accountID string) ([]queue.StoredSchedule, error) {
	all, err := h.Queue.Schedules(ctx)
	return slices.DeleteFunc(all, func(s queue.StoredSchedule) bool {
		return !strings.HasSuffix(s.Name, ":"+accountID)
	}), err
}

// FireSchedule does now what a schedule does at its time, which stays. The log names who has asked.
func (h *App) FireSchedule(ctx context.Context, name, by string) (started queue.EnqueueResult, err error) {
	if started, err = h.Queue.FireSchedule(ctx, name); err == nil {
		h.logAsked(ctx, by, "schedule", name, "job", started.ID)
	}
	return started, err
}
