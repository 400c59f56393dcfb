// Package archivecmd is the group of commands about the archive of mail.
package archivecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/queue"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("archive", "Copy all mail into a folder, verify the copies, and bring mail back", list(), show(), run(),
		verify(), rebuild(), export(), restore(), undoRestore())
	cmd.Long = "Copy all mail into the folder of archive.url, byte for byte, verify the copies, and bring mail back: into Gmail, or as\n" +
		"files. 'postroomd run' copies what is new each day."
	return cmd
}

// A runner does the work of a command.
type runner func(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service) error

// with makes a command that needs the archive, and enqueues jobs or not.
func with(cmd *cobra.Command, enqueues bool, fn runner) *cobra.Command {
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		begin := command.WithReader
		if enqueues {
			begin = command.WithWriter
		}
		return begin(cmd, place, func(ctx context.Context, h *app.App) error {
			if h.Archive == nil {
				return mailarchive.ErrOff
			}
			return fn(ctx, cmd, h, h.Archive)
		})
	}
	return cmd
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the archives, and how they are", Args: cobra.NoArgs}
	cmd.Long = "List the archives, and how they are. Keep the head of one elsewhere: a folder that has another chain was altered."
	asJSON := command.JSONFlag(cmd)
	return with(cmd, false, func(ctx context.Context, cmd *cobra.Command, _ *app.App, a *mailarchive.Service) error {
		archives, err := a.List(ctx)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), archives)
		}
		t := printer.NewTable(cmd.OutOrStdout(), "MAILBOX", "ARCHIVE", "HEAD", "FAULT")
		for i := range archives {
			s := &archives[i]
			t.Row(s.Email, mailarchive.Words(s, printer.Minute), mailarchive.Head(s), printer.Printable(mailarchive.FaultOf(s)))
		}
		return t.Flush("nothing is archived yet")
	})
}

func run() *cobra.Command {
	cmd := &cobra.Command{Use: "run", Short: "Copy what is new in a mailbox now", Args: cobra.NoArgs}
	cmd.Long = "Copy what is new in a mailbox now. The jobs run in 'postroomd run'; 'archive list' says how far they are."
	address := command.MailboxFlag(cmd)
	return with(cmd, true, func(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service) error {
		account, err := command.Mailbox(ctx, h, *address)
		if err != nil {
			return err
		}
		done, err := carryOut(ctx, h, archive.NewRunJob(account.ID))
		if err != nil {
			return err
		}
		if !done {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is being copied%s\n", account.Email, command.CarriedOutLater)
			return err
		}
		s, err := a.Status(ctx, account.ID)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", account.Email, mailarchive.Words(&s, printer.Minute))
		return err
	})
}

// carryOut enqueues a job and reports whether it, and what it has enqueued to go on, has ended. An error after the end
// is that of the job.
func carryOut(ctx context.Context, h *app.App, job queue.NewJob) (bool, error) {
	if _, err := h.Queue.Enqueue(ctx, job); err != nil {
		return false, err
	}
	return h.CarryOut(ctx, func(ctx context.Context) (bool, error) { return ended(ctx, h.Queue, job) })
}

// ended reports whether the last of the jobs that have the key of a job has ended; with an error if it has failed.
func ended(ctx context.Context, q *queue.Queue, job queue.NewJob) (bool, error) {
	last, err := q.Jobs(ctx, queue.Filter{Types: []string{job.Type}, Key: job.Key.Name, Limit: 1})
	if err != nil || len(last) == 0 {
		return false, err
	}
	switch state := last[0].State; {
	case !state.Finished():
		return false, nil
	case state != queue.StateCompleted:
		return true, fmt.Errorf("job %s %s: %s", last[0].ID, state, last[0].LastError)
	}
	return true, nil
}

// source returns the archive of an address or an id, or the only one.
func source(ctx context.Context, a *mailarchive.Service, name string) (archive.Status, error) {
	known, err := a.List(ctx)
	if err != nil {
		return archive.Status{}, err
	}
	var names []string
	for i := range known {
		if strings.EqualFold(known[i].Email, name) || known[i].AccountID == name || name == "" && len(known) == 1 {
			return known[i], nil
		}
		names = append(names, known[i].Email)
	}
	if name == "" && len(names) > 0 {
		return archive.Status{}, usage.Errorf("there are %d archives; name one with --archive, see 'archive list'", len(names))
	}
	return archive.Status{}, usage.Errorf("there is no archive %s; %s", name,
		command.Instead(name, names, "the archives are of"))
}

func archiveFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("archive", "",
		"the address of the archive, or its id; may be left out where there is one")
}

func verify() *cobra.Command {
	cmd := &cobra.Command{Use: "verify", Short: "Read copies, and name those that are missing or altered",
		Args: cobra.NoArgs}
	cmd.Long = "Read copies, and name those that are missing or altered: a fiftieth, those that were verified longest ago, or all. Fails\n" +
		"if something is not right. While Gmail has a message, the next 'archive run' writes its copy again."
	all := cmd.Flags().Bool("all", false, "read all copies, and look for files that belong to none")
	name := archiveFlag(cmd)
	return with(cmd, false, func(ctx context.Context, cmd *cobra.Command, _ *app.App, a *mailarchive.Service) error {
		s, err := source(ctx, a, *name)
		if err != nil {
			return err
		}
		checked, _, chain := a.Verify(ctx, s.AccountID, *all)
		if chain != nil && !errors.Is(chain, archive.ErrChain) {
			return chain
		}
		faults, err := a.Faults(ctx, s.AccountID, app.MaxMailListed)
		if err != nil {
			return err
		}
		out := printer.NewFields(cmd.OutOrStdout())
		out.Add("verified", printer.Count(checked, "message", "messages"))
		if s.Removed > 0 {
			out.Add("removed", fmt.Sprintf("%s on purpose (archive.keep); Gmail no longer has %d of them",
				printer.Count(s.Removed, "message", "messages"), s.RemovedGone))
		}
		if chain != nil {
			out.Add("fault", printer.Printable(chain.Error()))
		}
		for _, f := range faults {
			out.Add("fault", printer.Printable(fmt.Sprintf("message %s: %s (%s)", f.MessageID, f.Reason, f.Object)))
		}
		if *all {
			left, err := a.FindLeftovers(ctx, s.AccountID)
			if err != nil {
				return err
			}
			out.Add("orphans", left.Orphans)
			for _, name := range left.Examples {
				out.Add("foreign", printer.Printable(name))
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if n := len(faults); n > 0 || chain != nil {
			return usage.Errorf("the archive of %s is not right", s.Email)
		}
		return nil
	})
}

func rebuild() *cobra.Command {
	cmd := &cobra.Command{Use: "rebuild", Short: "Make the index again from the folder alone", Args: cobra.NoArgs}
	cmd.Long = "Make the index again from the folder alone, of all archives in it, as after the loss of the database. The folder is\n" +
		"trusted: compare the head that 'archive list' shows with one that was kept elsewhere. No postroomd may run meanwhile."
	return with(cmd, false, func(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service) (err error) {
		release, err := h.Env.Lock(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
		if err := a.Lock(); err != nil {
			return err
		}
		ids, err := a.Accounts(ctx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := a.Rebuild(ctx, id); err != nil {
				return err
			}
			s, err := a.Status(ctx, id)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, head %s\n", printer.Printable(s.Email),
				printer.Count(s.Messages, "message", "messages"), mailarchive.Head(&s))
			if err != nil {
				return err
			}
		}
		if len(ids) == 0 {
			return usage.Errorf("the folder of archive.url holds no archive")
		}
		return nil
	})
}
