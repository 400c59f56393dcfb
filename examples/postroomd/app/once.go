package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// An OneRun sorts the mailboxes until nothing is left to do: it is what the demo does, and run --once.
type OneRun struct {
	App      *App
	Rules    *rulesfile.File // nil: the stored rules stay
	Progress *printer.Progress

	Began     time.Time
	Mailboxes []string
	// OldMailSorted are the ids of the accounts where a person has had the rules applied to old mail.
	OldMailSorted []string
	Faults        map[string]error // why mailboxes could not be set up, by the ids of their accounts
}

// NewOneRun makes a run by these rules; nil means those of the environment.
func NewOneRun(h *App, file *rulesfile.File, out *printer.Progress) *OneRun {
	h.demo = file
	return &OneRun{App: h, Rules: file, Progress: out}
}

// Run sorts the mailboxes. That one of them cannot be worked on is no error, and stands in the summary.
func (o *OneRun) Run(ctx context.Context) error {
	accounts, err := o.App.Worked(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		o.Mailboxes = append(o.Mailboxes, a.ID)
	}
	o.Began = time.Now()
	return o.Again(ctx)
}

// Again sorts them once more, for what was enqueued since.
func (o *OneRun) Again(ctx context.Context) error {
	stop, err := o.watch(ctx)
	if err != nil {
		return err
	}
	o.Faults, err = o.App.RunUntilIdle(ctx, o.Mailboxes...)
	stop()
	for id, fault := range o.Faults {
		if waits, ok := errors.AsType[*pipeline.WaitingError](fault); ok {
			o.Faults[id] = fmt.Errorf("%w; 'postroomd jobs explain %s' says why", fault, waits.JobID)
		}
	}
	return err
}

// Worked returns the mailboxes to work on: as run does, the one of the configuration, which is made, and those that
// are signed in to. An address of the configuration without a token names one of these.
func (h *App) Worked(ctx context.Context) ([]mailstore.Account, error) {
	g := h.Env.Config.Gmail
	if g.Token != "" {
		if _, err := h.OpenConfiguredAccount(ctx); err != nil {
			return nil, err
		}
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	accounts = slices.DeleteFunc(accounts, func(a mailstore.Account) bool {
		return a.State == mailstore.AccountRemoving || g.Token == "" && g.Address != "" &&
			!strings.EqualFold(a.Email, g.Address)
	})
	switch {
	case len(accounts) > 0:
		return accounts, nil
	case g.Address != "":
		return nil, usage.Errorf("there is no mailbox %s here yet; 'postroomd auth login' adds one", g.Address)
	}
	return nil, usage.Errorf("there is no mailbox here yet; 'postroomd auth login' adds one")
}

// watch shows the progress of the run until stopped.
func (o *OneRun) watch(ctx context.Context) (stop func(), err error) {
	total := 0
	if o.App.Server != nil {
		if total, err = o.App.Server.Count(ctx); err != nil {
			return nil, err
		}
	}
	bar := o.Progress.Start("Sorting", total)
	look := func(ctx context.Context) {
		if n, err := o.known(ctx); err == nil {
			bar.Set(n)
		}
	}
	watching, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			began := time.Now()
			look(watching)
			select {
			case <-watching.Done():
				return
			case <-time.After(untilLook(time.Since(began))):
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		look(ctx)
		bar.Done()
	}, nil
}

// untilLook is how long the progress is not looked at after a look that took so long: looks at large mailboxes take a
// twentieth of the time, at most.
func untilLook(took time.Duration) time.Duration { return max(250*time.Millisecond, 19*took) }

// Known returns the number of messages of all mailboxes that are stored, broken ones included.
func (o *OneRun) known(ctx context.Context) (total int, err error) {
	for _, id := range o.Mailboxes {
		n, err := o.App.CountMail(ctx, id)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
