package archivecmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/queue"
)

// selectionFlags select messages.
type selectionFlags struct {
	since, until, label string
	gone                bool
	ids                 []string
}

func newSelectionFlags(cmd *cobra.Command) *selectionFlags {
	f := new(selectionFlags)
	cmd.Flags().StringVar(&f.since, "since", "", "only mail received on this day or later, as 2026-11-27")
	cmd.Flags().StringVar(&f.until, "until", "", "only mail received before this day")
	cmd.Flags().StringVar(&f.label, "label", "", "only mail with this label")
	cmd.Flags().BoolVar(&f.gone, "gone", false, "only mail that Gmail no longer has")
	cmd.Flags().StringSliceVar(&f.ids, "id", nil, "only the messages of these ids, as Gmail gives them")
	return f
}

func (f *selectionFlags) selection() (s archive.Selection, err error) {
	s = archive.Selection{Label: f.label, GoneOnly: f.gone, MessageIDs: f.ids}
	for _, day := range []struct {
		text string
		at   *time.Time
	}{{f.since, &s.Since}, {f.until, &s.Until}} {
		if day.text == "" {
			continue
		}
		if *day.at, err = time.ParseInLocation(time.DateOnly, day.text, time.Local); err != nil {
			return s, usage.Errorf("%q is no day; write it as 2026-11-27", day.text)
		}
	}
	return s, nil
}

func export() *cobra.Command {
	cmd := &cobra.Command{Use: "export", Short: "Write archived mail as mbox, Maildir or zip", Args: cobra.NoArgs}
	cmd.Long = "Write archived mail as mbox, Maildir or zip, without Gmail. What is missing or altered is left out and named.\n\n" +
		"    postroomd archive export --format maildir --to ~/mail --label Work"
	name := archiveFlag(cmd)
	to := cmd.Flags().String("to", "", "the file or folder to write, which must not exist yet; required")
	format := cmd.Flags().String("format", string(archive.Mbox), "mbox, maildir or zip")
	chosen := newSelectionFlags(cmd)
	return with(cmd, false, func(ctx context.Context, cmd *cobra.Command, _ *app.App, a *mailarchive.Service) error {
		if *to == "" {
			return usage.Errorf("name what to write with --to")
		}
		selection, err := chosen.selection()
		if err != nil {
			return err
		}
		s, err := source(ctx, a, *name)
		if err != nil {
			return err
		}
		done, err := a.Export(ctx, s.AccountID, selection, archive.Format(*format), *to)
		if err != nil {
			return usage.Wrap(err)
		}
		out := printer.NewFields(cmd.OutOrStdout())
		out.Add("written", printer.Count(done.Messages, "message", "messages"))
		for _, f := range done.Faults {
			out.Add("left out", printer.Printable(fmt.Sprintf("message %s: %s (%s)", f.MessageID, f.Reason, f.Object)))
		}
		if err := out.Flush(); err != nil || done.Faulty == 0 {
			return err
		}
		return usage.Errorf("%s left out", printer.Count(done.Faulty, "message was", "messages were"))
	})
}

func restore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore", Short: "Put archived mail back into a mailbox", Args: cobra.NoArgs}
	cmd.Long = "Put archived mail back into a mailbox: what it does not have, with its labels, and not as new mail. You see how much,\n" +
		"and are asked. 'archive undo-restore' moves what was put back to the trash.\n\n" +
		"    postroomd archive restore --gone --since 2026-11-01"
	address := command.MailboxFlag(cmd)
	name := archiveFlag(cmd)
	add := cmd.Flags().String("add-label", "Postroom/Restored", "a label that each message gets besides its own")
	dry := cmd.Flags().Bool("dry-run", false, "ask Gmail what is missing, and change nothing")
	yes := cmd.Flags().Bool("yes", false, "do not ask before it is done")
	chosen := newSelectionFlags(cmd)
	return with(cmd, true, func(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service) error {
		selection, err := chosen.selection()
		if err != nil {
			return err
		}
		account, err := command.Mailbox(ctx, h, *address)
		if err != nil {
			return err
		}
		if *name == "" {
			*name = account.ID
		}
		from, err := source(ctx, a, *name)
		if err != nil {
			return err
		}
		r := archive.Restore{ID: time.Now().UTC().Format("20060102T150405.000"), Source: from.AccountID,
			AccountID: account.ID, Selection: selection, Label: *add, DryRun: *dry}
		if !*dry && !*yes {
			if err := ask(ctx, cmd, a, r, account.Email); err != nil {
				return err
			}
		}
		return bringBack(ctx, cmd, h, a, r)
	})
}

// ask asks a person about a restore.
func ask(ctx context.Context, cmd *cobra.Command, a *mailarchive.Service, r archive.Restore, email string) error {
	n := 0
	for _, err := range a.Entries(ctx, r.Source, "", r.Selection) {
		if err != nil {
			return err
		}
		n++
	}
	return command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{
		Text:    fmt.Sprintf("put what %s lacks of %s back?", email, printer.Count(n, "message", "messages")),
		Instead: ", or --dry-run to look only", Refused: "nothing was done"})
}

func bringBack(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service, r archive.Restore) error {
	job, err := archive.NewRestoreJob(r)
	if err != nil {
		return usage.Wrap(err)
	}
	return carryOutAndReport(ctx, cmd, h, a, job, r.ID)
}

// carryOutAndReport carries out the job of a restore, and says how far it has come also if it has failed.
func carryOutAndReport(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service, job queue.NewJob,
	id string) error {
	done, err := carryOut(ctx, h, job)
	if err != nil && !done {
		return err
	}
	return errors.Join(report(ctx, cmd, a, id, done), err)
}

// report prints what became of a restore.
func report(ctx context.Context, cmd *cobra.Command, a *mailarchive.Service, id string, done bool) error {
	found, err := a.RestoreReport(ctx, id)
	if err != nil {
		return err
	}
	out := printer.NewFields(cmd.OutOrStdout())
	out.Add("restore", id+printer.Unless(done, command.CarriedOutLater))
	for _, outcome := range []archive.Outcome{archive.Restored, archive.Missing, archive.There, archive.Faulty,
		archive.Undone} {
		if n := found[outcome]; n > 0 {
			out.Add(string(outcome), printer.Count(n, "message", "messages"))
		}
	}
	return out.Flush()
}

func undoRestore() *cobra.Command {
	cmd := &cobra.Command{Use: "undo-restore", Short: "Move what a restore has put back to the trash", Args: cobra.NoArgs}
	address := command.MailboxFlag(cmd)
	id := cmd.Flags().String("restore", "", "the id of the restore, as 'archive restore' has printed it; required")
	look := cmd.Flags().Bool("dry-run", false, "only say what the restore has done")
	return with(cmd, true, func(ctx context.Context, cmd *cobra.Command, h *app.App, a *mailarchive.Service) error {
		if *id == "" {
			return usage.Errorf("name the restore with --restore")
		}
		account, err := command.Mailbox(ctx, h, *address)
		if err != nil || *look {
			if err == nil {
				err = report(ctx, cmd, a, *id, true)
			}
			return err
		}
		return carryOutAndReport(ctx, cmd, h, a, archive.NewUndoRestoreJob(*id, account.ID), *id)
	})
}
