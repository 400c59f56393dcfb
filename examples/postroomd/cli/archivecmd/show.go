package archivecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/internal/webui"
)

func show() *cobra.Command {
	cmd := &cobra.Command{Use: "show", Short: "Show an archive: how it is, and how much of each month it has",
		Args: cobra.NoArgs}
	name := archiveFlag(cmd)
	asJSON := command.JSONFlag(cmd)
	return with(cmd, false, func(ctx context.Context, cmd *cobra.Command, _ *app.App, a *mailarchive.Service) error {
		s, err := source(ctx, a, *name)
		if err != nil {
			return err
		}
		v, err := a.View(ctx, &s)
		if err != nil {
			return err
		}
		if *asJSON {
			return printer.JSON(cmd.OutOrStdout(), v)
		}
		out := printer.NewFields(cmd.OutOrStdout())
		out.Add("mailbox", v.Mailbox)
		out.Add("archive", mailarchive.Words(&s, printer.Minute))
		out.Add("size", webui.Size(int(v.Bytes)))
		out.Add("gone", v.Gone)
		out.Add("head", v.Head)
		out.Add("fault", v.Fault)
		for _, f := range v.Faults {
			out.Add("fault", "message "+f.MessageID+": "+f.Reason+" ("+f.Object+")")
		}
		if err := out.Flush(); err != nil {
			return err
		}
		t := printer.NewTable(cmd.OutOrStdout(), "MONTH", "MESSAGES", "SIZE", "GONE", "FAULTS", "REMOVED")
		for _, m := range v.Months {
			t.Row(m.Name(), m.Messages, webui.Size(int(m.Bytes)), m.Gone, m.Faults, m.Removed)
		}
		return t.Flush("nothing is archived yet")
	})
}
