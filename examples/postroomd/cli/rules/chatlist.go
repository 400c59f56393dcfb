package rules

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

func rulesChatList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the sessions, the latest first", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			list, err := view.NewChatSessions(ctx, h, "", *limit)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), list)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "SESSION", "LAST", "FOR", "BY", "ABOUT")
			for _, s := range list {
				t.Row(printer.ShortID(s.ID), printer.Minute(s.UpdatedAt), s.For, s.By, printer.Short(s.About, 60))
			}
			return t.Flush("no sessions")
		})
	}
	return cmd
}

func rulesChatShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show SESSION",
		Short: "Show what was said in a session, and what became of the proposals", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			session, err := findSession(ctx, h, args[0])
			if err != nil {
				return err
			}
			chat, err := h.NewRulesChat("")
			if err != nil {
				return err
			}
			said, err := chat.Messages(ctx, session.ID)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), printer.List(said, view.NewChatMessage))
			}
			r := printer.NewReport(cmd.OutOrStdout())
			for _, m := range said {
				view.NewChatMessage(m).Print(r, session.By)
			}
			return r.Flush()
		})
	}
	return cmd
}

func rulesChatAccept() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept SESSION NUMBER", Short: "Make the proposal of a message, the latest of a session, the rules",
		Args: cobra.ExactArgs(2),
		Long: "Make the proposal of a message, the latest of a session, the rules. The file that paths.rules names is written; its comments stay.\n" +
			"'postroomd rules restore' goes back.",
	}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			s, err := findSession(ctx, h, args[0])
			if err != nil {
				return err
			}
			number, err := strconv.Atoi(args[1])
			if err != nil {
				return usage.Errorf("%q is no number of a message; 'postroomd rules chat show %s' has them", args[1], s.ID)
			}
			return acceptProposal(ctx, h, cmd.OutOrStdout(), s, number)
		})
	}
	return cmd
}

func rulesChatDrop() *cobra.Command {
	cmd := &cobra.Command{Use: "drop SESSION", Short: "Delete a session with what it proposes; accepted rules stay",
		Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			talk, err := resumeTalk(ctx, h, args[0])
			if err != nil {
				return err
			}
			if err := talk.Drop(ctx); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "session %s is deleted\n", talk.Session.ID)
			return err
		})
	}
	return cmd
}

func acceptProposal(ctx context.Context, h *app.App, out io.Writer, s ruleschat.Session, number int) error {
	talk, err := h.ResumeTalk(ctx, s.ID)
	if err != nil {
		return err
	}
	done, path, err := talk.Accept(ctx, app.CurrentUser(), number)
	if err != nil {
		return err
	}
	if path != "" {
		if _, err := fmt.Fprintf(out, "%s is written\n", path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s added, %d changed, %d removed; 'postroomd rules history' lists the versions\n",
		printer.Count(done.Added, "rule is", "rules are"), done.Changed, done.Removed)
	return err
}
