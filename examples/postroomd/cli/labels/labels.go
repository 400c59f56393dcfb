// Package labels is the group of commands about the labels of a mailbox.
package labels

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view/labels"
)

// New makes the command.
func New() *cobra.Command {
	return command.Group("labels", "See the labels of a mailbox, and say which of them a model may use",
		list(), describe())
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the labels, as they were at the last sync", Args: cobra.NoArgs}
	address := command.MailboxFlag(cmd)
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			v, err := labels.Of(ctx, h, account.ID)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "LABEL", "KIND", "MODELS", "WHAT IT IS FOR")
			for _, l := range v.Labels {
				t.Row(l.Name, l.Type, printer.Unless(!l.ForModels, "may use it"), printer.Short(l.Description, 80))
			}
			return t.Flush("no labels")
		})
	}
	return cmd
}

func describe() *cobra.Command {
	cmd := &cobra.Command{Use: "describe LABEL [TEXT]", Args: cobra.RangeArgs(1, 2),
		Short: "Tell a model what a label is for, and whether it may use it",
		Long: "Tell a model what a label is for, and whether it may use it. What is left out stays.\n\n" +
			"    postroomd labels describe Travel 'Tickets, hotels and hire cars' --models"}
	address := command.MailboxFlag(cmd)
	place := command.NewEnvironmentFlags(cmd)
	models := cmd.Flags().Bool("models", false, "a model may use it; --models=false: it may not (default as it is)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			v, err := labels.Of(ctx, h, account.ID)
			if err != nil {
				return err
			}
			l, err := find(v.Labels, args[0])
			if err != nil {
				return err
			}
			patch := app.LabelPatch{}
			if len(args) > 1 {
				patch.Description = &args[1]
			}
			if cmd.Flags().Changed("models") {
				patch.ForModels = models
			}
			said, err := h.DescribeLabel(ctx, account.ID, l.ID, patch, app.CurrentUser())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", printer.Printable(said.Name),
				map[bool]string{true: "a model may use it", false: "models do not use it"}[said.AvailableToClassifier])
			return err
		})
	}
	return cmd
}

// find returns the label of a name or an id.
func find(list []labels.Label, typed string) (labels.Label, error) {
	at := slices.IndexFunc(list, func(l labels.Label) bool { return l.Name == typed || l.ID == typed })
	if at >= 0 {
		return list[at], nil
	}
	var own []string
	for _, l := range list {
		if l.Type == postroom.LabelUser {
			own = append(own, l.Name)
		}
	}
	return labels.Label{}, usage.Errorf("there is no label %s; %s", printer.Printable(typed),
		command.Instead(typed, own, "the labels are"))
}
