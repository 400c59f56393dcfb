package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A pipeline sorts one mailbox: that of the demo, or those of run.
type pipeline struct {
	*host
	rules     *rules.File // nil: the stored rules are unchanged
	out       *progress
	accountID string
}

// once sorts the mailbox until nothing is left to do.
func (p *pipeline) once(ctx context.Context, cutShort error) (*summary, error) {
	var err error
	if p.accountID, err = p.onlyAccount(ctx); err != nil {
		return nil, err
	}
	before, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	stop, err := p.watch(ctx)
	if err != nil {
		return nil, err
	}
	err = p.sort(ctx, p.process, p.process)
	stop()
	if err != nil {
		return nil, err
	}
	return p.summarize(ctx, before, cutShort)
}

// onlyAccount returns the configured account, or the only one that is signed in to.
func (h *host) onlyAccount(ctx context.Context) (accountID string, err error) {
	if h.cfg.Gmail.Address != "" {
		return h.openAccount(ctx)
	}
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return "", err
	}
	if len(accounts) == 0 {
		return "", usage("there is no mailbox here yet; 'postroomd auth login' adds one")
	}
	if len(accounts) != 1 {
		return "", usage("there are %d mailboxes; name the one to work on by gmail.address, as in --set gmail.address=ada@example.org", len(accounts))
	}
	return accounts[0].ID, nil
}

// openAccount creates the configured account, or returns the existing one.
func (h *host) openAccount(ctx context.Context) (accountID string, err error) {
	err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		accountID, err = h.mail.EnsureAccount(ctx, tx, h.cfg.Gmail.Address)
		return err
	})
	return accountID, err
}

// sort starts the pipeline: first the labels that the rules need, then a backfill, then the changes since it began. It waits for
// the labels' job, since rules refer to labels by their ids.
func (p *pipeline) sort(ctx context.Context, await, start func(context.Context, queue.NewJob) error) error {
	if err := p.takeRules(ctx, await); err != nil {
		return err
	}
	account, err := p.mail.Account(ctx, p.accountID)
	if err != nil {
		return err
	}
	switch backfill := account.Backfill; backfill.State {
	case gmail.BackfillNone:
		err = start(ctx, gmail.NewBackfillJob(p.accountID, p.cfg.Gmail.Backfill, ""))
	case gmail.BackfillFailed:
		err = start(ctx, gmail.NewBackfillJob(p.accountID, backfill.Query, backfill.Page))
	}
	if err != nil {
		return err
	}
	if p.cfg.Gmail.Topic != "" {
		if err := start(ctx, gmail.NewWatchJob(p.accountID)); err != nil {
			return err
		}
	}
	return start(ctx, gmail.NewHistorySyncJob(p.accountID, 0))
}

// process enqueues a job and runs jobs until nothing is left to do.
func (p *pipeline) process(ctx context.Context, job queue.NewJob) error {
	if _, err := p.queue.Enqueue(ctx, job); err != nil {
		return err
	}
	return p.runJobs(ctx)
}

// takeRules creates the labels of the user's rules, and stores the rules. It reads the file again if that has changed meanwhile.
func (p *pipeline) takeRules(ctx context.Context, await func(context.Context, queue.NewJob) error) error {
	for {
		var labels []string
		if p.rules != nil {
			labels = p.rules.NeededLabels(kinds)
		}
		if err := await(ctx, gmail.NewLabelsSyncJob(p.accountID, labels...)); err != nil || p.rules == nil {
			return err
		}
		err := p.importRules(ctx)
		if !errors.Is(err, errOtherRules) {
			return err
		}
		if p.rules, err = p.readRules(); err != nil {
			return err
		}
	}
}

var errOtherRules = errors.New("the rules file has been changed since it was read")

// importRules converts label names in the user's rules to ids and stores the rules, unless the file has changed since it was
// read: a proposal that a person has accepted meanwhile is not reverted. See changeRules.
func (p *pipeline) importRules(ctx context.Context) error {
	id, err := p.labelIDs(ctx, p.accountID)
	if err != nil {
		return err
	}
	p.rules.ResolveLabels(id)
	return p.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if path := string(p.cfg.Paths.Rules); path != "" {
			if err := p.host.rules.Lock(ctx, tx); err != nil {
				return err
			}
			switch there, err := os.ReadFile(path); {
			case err != nil:
				return err
			case string(there) != p.rules.Source:
				return errOtherRules
			}
		}
		_, err := p.host.rules.ImportFile(ctx, tx, p.accountID, p.rules)
		return err
	})
}

// labelIDs returns a function that finds the id of a label of the account by its name.
func (h *host) labelIDs(ctx context.Context, accountID string) (id func(name string) (string, bool), err error) {
	labels, err := h.mail.Labels(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return func(name string) (string, bool) {
		i := slices.IndexFunc(labels, func(l postroom.Label) bool { return strings.EqualFold(l.Name, name) })
		if i < 0 {
			return "", false
		}
		return labels[i].ID, true
	}, nil
}

// watch shows the progress of the pipeline until stopped.
func (p *pipeline) watch(ctx context.Context) (stop func(), err error) {
	total := 0
	if p.server != nil {
		if total, err = p.server.Count(ctx); err != nil {
			return nil, err
		}
	}
	bar := p.out.start("Sorting", total)
	look := func(ctx context.Context) {
		if n, err := p.known(ctx); err == nil {
			bar.set(n)
		}
	}
	watching, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(250 * time.Millisecond)
		defer ticker.Stop()
		for {
			look(watching)
			select {
			case <-watching.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() {
		cancel()
		<-ended
		look(ctx)
		bar.done()
	}, nil
}

// known returns the number of messages that the pipeline has ingested, including broken ones.
func (p *pipeline) known(ctx context.Context) (int, error) { return p.countMail(ctx, p.accountID) }

func (h *host) countMail(ctx context.Context, accountID string) (int, error) {
	read, err := h.mail.CountMessages(ctx, accountID)
	if err != nil {
		return 0, err
	}
	broken, err := h.mail.Broken(ctx, accountID)
	return read + len(broken), err
}
