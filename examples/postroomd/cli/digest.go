package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
)

func digestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "digest",
		Short: "Print the digest of now: what was done since the last one",
		Long: "Print the digest of now, of all mailboxes: what came and what was done since the last digest, what waits for you, whose first\n" +
			"message came, what failed, and what the models cost. notify.digest says when it is sent, and notify.digest_to where to.",
		Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	send := cmd.Flags().Bool("send", false, "also have the running postroomd send it now, where notify.digest_to says")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		open := command.WithReader
		if *send {
			open = command.WithWriter
		}
		return open(cmd, place, func(ctx context.Context, h *app.App) error {
			return printDigest(ctx, h, cmd.OutOrStdout(), *send)
		})
	}
	return cmd
}

func printDigest(ctx context.Context, h *app.App, w io.Writer, send bool) error {
	now := time.Now()
	d, err := h.NewDigest(ctx, now)
	if err != nil {
		return err
	}
	if d.IsEmpty() {
		_, err := fmt.Fprintf(w, "There is nothing new since %s, and no digest.\n", d.From.Format("2006-01-02 15:04"))
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\n\n%s", d.Title(), d.Text()); err != nil || !send {
		return err
	}
	if err := h.SendDigest(ctx, now); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, "\nIt is sent by the postroomd that runs, or by the next that does.")
	return err
}
