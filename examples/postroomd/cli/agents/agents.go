// Package agents is the group of commands about agents and their runs.
package agents

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/llm/agent"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("agents", "See what agents have done, run one, and stop one", agentsList(), agentsShow(),
		agentsRun(), agentsReplay(), agentsCancel(), agentsProfiles(), agentsResume(), agentsSchedule(), agentsUnschedule())
	cmd.Long = "See what agents have done, run one, and stop one. A rule starts an agent by the action run_agent, and a\n" +
		"schedule has one tell you what waits; paths.agents is the folder of their profiles."
	return cmd
}

func agentsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the runs of agents, the newest first, and their schedules",
		Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	profile := cmd.Flags().String("profile", "", "only those of this profile")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v := struct {
				runs.Page
				runs.Schedules
			}{}
			var err error
			if v.Page, err = runs.NewPage(ctx, h, agent.Filter{Profile: *profile, Limit: *limit}); err != nil {
				return err
			}
			v.Schedules, err = runs.NewSchedules(ctx, h, "")
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "STARTED", "AGENT", "STATE", "COST", "MAILBOX", "WHY")
			for _, r := range v.Page.List {
				t.Row(printer.ShortID(r.ID), printer.Minute(r.StartedAt), r.Profile, r.Words(), r.Cost, r.Mailbox,
					printer.Short(r.Reason, 80))
			}
			if err := t.Flush("no runs"); err != nil {
				return err
			}
			return printSchedules(cmd, v.Schedules)
		})
	}
	return cmd
}

func agentsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show RUN", Short: "Show a run with its calls and their results", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			r, err := h.FindRun(ctx, "", args[0])
			if err != nil {
				return err
			}
			return show(ctx, cmd, h, &r, *asJSON)
		})
	}
	return cmd
}

func show(ctx context.Context, cmd *cobra.Command, h *app.App, r *agent.Run, asJSON bool) error {
	v, err := runs.New(ctx, h, r)
	switch {
	case err != nil:
		return err
	case asJSON:
		return printer.JSON(cmd.OutOrStdout(), v)
	}
	return v.Print(cmd.OutOrStdout())
}

func agentsRun() *cobra.Command {
	cmd := &cobra.Command{Use: "run PROFILE MESSAGE", Short: "Have an agent work on a stored message",
		Args: cobra.ExactArgs(2),
		Long: "Have an agent work on a stored message, also if it has before; the limits of the profile hold.\n" +
			"What it proposes goes through the gate, as a model's decision. The id is Gmail's, as\n" +
			"'postroomd mail list' has it, or ours."}
	place, address := command.NewEnvironmentFlags(cmd), command.MailboxFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			if err := h.Agents.Check(args[0]); err != nil {
				return err
			}
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			m, err := h.FindMessage(ctx, account, args[1])
			if err != nil {
				return err
			}
			return run(ctx, cmd, h, m, args[0])
		})
	}
	return cmd
}

func run(ctx context.Context, cmd *cobra.Command, h *app.App, m *postroom.Message, profile string) error {
	jobID, err := h.Agents.Run(ctx, m, profile)
	if err != nil {
		return err
	}
	var ended *agent.Run
	_, err = h.CarryOut(ctx, func(ctx context.Context) (bool, error) {
		list, err := h.Agents.Runs(ctx, agent.Filter{AccountID: m.AccountID, MessageID: m.ID, Profile: profile, Limit: 10})
		for i := range list {
			if list[i].JobID == jobID && list[i].State != agent.StateRunning {
				ended = &list[i]
			}
		}
		return ended != nil, err
	})
	if err != nil {
		return err
	}
	if ended == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(),
			"the job is enqueued; 'postroomd agents list' has the run once a postroomd works on it")
		return err
	}
	return show(ctx, cmd, h, ended, false)
}

func agentsReplay() *cobra.Command {
	cmd := &cobra.Command{Use: "replay RUN", Short: "Repeat a run with a model, and carry nothing out",
		Args: cobra.ExactArgs(1),
		Long: "Repeat a run with a model of the configuration, by the name of its section, and carry nothing\nout:\n\n" +
			"    postroomd agents replay 18c2 --model llm_better"}
	place := command.NewEnvironmentFlags(cmd)
	model := cmd.Flags().String("model", "llm", "llm, llm_better or llm_fallback")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			r, err := h.FindRun(ctx, "", args[0])
			if err != nil {
				return err
			}
			if r, err = h.Agents.Replay(ctx, r.ID, *model); err != nil {
				return err
			}
			return show(ctx, cmd, h, &r, *asJSON)
		})
	}
	return cmd
}

func agentsCancel() *cobra.Command {
	return change("cancel RUN", "End a run that is under way; no outcome is recorded",
		func(ctx context.Context, h *app.App, typed string) (string, error) {
			r, err := h.FindRun(ctx, "", typed)
			if err == nil {
				err = h.Agents.Stop(ctx, r.ID, "canceled by "+app.CurrentUser())
			}
			return "canceled", err
		})
}

func agentsResume() *cobra.Command {
	return change("resume PROFILE", "Let a profile work again that failures have paused",
		func(ctx context.Context, h *app.App, name string) (string, error) {
			return "it works on mail that arrives from now on; 'postroomd agents run' has it work on what it has left alone",
				h.Agents.Continue(ctx, name)
		})
}

func agentsProfiles() *cobra.Command {
	cmd := &cobra.Command{Use: "profiles", Short: "List the profiles, and whether they work", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			v, err := runs.NewProfiles(ctx, h, "")
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "AGENT", "MODEL", "OUTCOMES", "RUNS", "COST", "FAILURES", "PAUSED")
			for _, p := range v.List {
				t.Row(p.Name, p.Model, strings.Join(p.Outcomes, ","), strconv.Itoa(p.Used.Runs), p.Used.Cost,
					strconv.Itoa(p.Failures),
					strings.TrimSpace(printer.Minute(p.PausedAt)+" "+p.Reason))
			}
			return t.Flush("no agents")
		})
	}
	return cmd
}

// change makes a command that does something with its argument, and prints what was done.
func change(use, short string, do func(ctx context.Context, h *app.App, typed string) (string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			done, err := do(ctx, h, args[0])
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			}
			return err
		})
	}
	return cmd
}
