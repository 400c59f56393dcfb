// Package notes is the group of commands about notes.
package notes

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/notes"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("notes", "See the notes that were written about mail", list(), show())
	cmd.Long = "See the notes that were written about mail. The action add_note of rules and models writes them into the folder\n" +
		"notes.folder; undoing it removes a note that nobody has edited."
	return cmd
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the notes, the latest first", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := view.NewNotes(ctx, h, notes.Filter{Limit: *limit})
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "MADE", "FILE", "NOTE")
			for _, n := range v.List {
				t.Row(printer.ShortID(n.ID), printer.Minute(n.CreatedAt), cmp.Or(n.Path, "removed by hand"),
					printer.Short(n.Text, 60))
			}
			return t.Flush("no notes")
		})
	}
	return cmd
}

func show() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a note and the path of its file", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			id, err := h.ResolveNote(ctx, args[0])
			if err != nil {
				return err
			}
			v, err := view.NewNote(ctx, h, id)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return view.PrintNote(cmd.OutOrStdout(), v, string(h.Env.Config.Notes.Folder))
		})
	}
	return cmd
}
