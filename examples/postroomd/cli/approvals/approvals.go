package approvals

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

// New makes the command approvals with its own commands.
func New() *cobra.Command {
	return command.Group("approvals", "Decide about the actions that wait for a person", approvalsList(),
		approvalsShow(), approvalsEdit(), approvalsApprove(), approvalsReject(), approvalsRenew())
}

// listed is a request in a list.
type listed struct {
	webapi.Approval
	Access string `json:"access,omitempty"` // why it cannot be done by this machine, and what to do
}

func approvalsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the actions that wait for a person", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	limit := command.LimitFlag(cmd, app.MaxListed)
	group := cmd.Flags().String("group", "", "only the requests of this group")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			waiting, err := h.Ledger.Approvals(ctx, safety.Filter{Group: *group, Limit: *limit})
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			lacking, err := view.LackingAccess(ctx, h)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(waiting, func(w safety.Waiting) listed {
					return listed{webapi.NewApproval(w, nil, names.Name), lacking[w.Action.AccountID]}
				}))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "ACTION", "WHY IT WAITS", "FROM", "SUBJECT", "EXPIRES")
			grouped := map[string]int{}
			for _, w := range waiting {
				grouped[w.Approval.Group]++
			}
			for _, w := range waiting {
				why := strings.Join(reasons.Plain(w.Approval.Reasons), "; ")
				switch n := grouped[w.Approval.Group]; {
				case webapi.IsAltered(w):
					why = view.AlteredNote
				case w.Approval.Group == "" || *group != "" || n == 1:
				case n == 0:
					continue // it was listed with the first
				default:
					why += fmt.Sprintf(" (and %d more: --group %s)", n-1, w.Approval.Group)
					grouped[w.Approval.Group] = 0
				}
				if access := lacking[w.Action.AccountID]; access != "" {
					why += "; " + access
				}
				t.Row(printer.ShortID(w.Action.ID), app.Describe(w.Action, names), why, printer.Short(w.Decision.Sender, 30),
					printer.Short(w.Decision.Subject, 50), printer.Minute(w.Approval.ExpiresAt))
			}
			return t.Flush("nothing waits for approval")
		})
	}
	return cmd
}

func approvalsApprove() *cobra.Command {
	cmd := &cobra.Command{Use: "approve [ID...]",
		Short: "Allow actions; they are done at once, unless everything is stopped", Args: cobra.ArbitraryArgs}
	cmd.Long = "Allow actions; they are done at once. One that sends a message is allowed to send the bytes that 'postroomd approvals show'\n" +
		"prints, and no others. If they cannot be composed, nothing is allowed.\n\n" +
		"In place of ids, --all-of, --older-than, --kind and --group choose actions; together they choose what all of them do. What is\n" +
		"chosen is listed, and answered as it was then after a confirmation."
	place := command.NewEnvironmentFlags(cmd)
	several := &batch{verb: "approve", answer: func(ctx context.Context, h *app.App, tx queue.Tx,
		shown safety.Approval) error {
		_, err := h.Ledger.ApproveRequest(ctx, tx, shown, app.CurrentUser())
		return err
	}}
	several.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := several.check(args); err != nil {
			return err
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			if len(args) != 1 || several.dryRun {
				return several.run(ctx, cmd, h, args)
			}
			id, err := h.ResolveAction(ctx, args[0])
			if err != nil {
				return err
			}
			if err := command.WithinQuota(ctx, func(ctx context.Context) error { return h.FreezeContent(ctx, id) }); err != nil {
				return err
			}
			return answerRequest(ctx, h, cmd, id, func(ctx context.Context, tx queue.Tx, id string) error {
				_, err := h.Ledger.Approve(ctx, tx, id, app.CurrentUser())
				// An earlier answer that was interrupted is carried out now.
				state, ok := errors.AsType[*safety.StateError](err)
				if ok && (state.State == postroom.ActionQueued || state.State == postroom.ActionExecuting) {
					return nil
				}
				return err
			})
		})
	}
	return cmd
}

func approvalsReject() *cobra.Command {
	cmd := &cobra.Command{Use: "reject [ID...]", Short: "Refuse actions; they are never done", Args: cobra.ArbitraryArgs}
	cmd.Long = "Refuse actions; they are never done. In place of ids, --all-of, --older-than, --kind and --group choose those that wait; together\n" +
		"they choose what all of them do. What is chosen is listed, and answered as it was then after a confirmation."
	place := command.NewEnvironmentFlags(cmd)
	why := cmd.Flags().String("why", "", "the reason, for the record")
	again := cmd.Flags().Bool("ask-again", false,
		"ask the model once more, with --why in your words; what it has wanted is never done")
	several := &batch{verb: "reject", answer: func(ctx context.Context, h *app.App, tx queue.Tx,
		shown safety.Approval) error {
		_, err := h.Ledger.RejectRequest(ctx, tx, shown, app.CurrentUser(), *why)
		return err
	}}
	several.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := several.check(args); err != nil {
			return err
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			if *again && (len(args) != 1 || several.dryRun) {
				return usage.Errorf("--ask-again is about one action: give its id")
			}
			if len(args) != 1 || several.dryRun {
				return several.run(ctx, cmd, h, args)
			}
			if *again {
				return askAgain(ctx, h, cmd, args[0], *why)
			}
			return answerRequest(ctx, h, cmd, args[0], func(ctx context.Context, tx queue.Tx, id string) error {
				_, err := h.Ledger.Reject(ctx, tx, id, app.CurrentUser(), *why)
				return err
			})
		})
	}
	return cmd
}

func approvalsRenew() *cobra.Command {
	cmd := &cobra.Command{
		Use: "renew ID", Short: "Ask again about an action whose request has expired", Args: cobra.ExactArgs(1),
		Long: "Ask again about an action whose request has expired. What somebody has altered in the database since is not asked again:\n" +
			"reject it.",
	}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			id, err := h.ResolveAction(ctx, args[0])
			if err != nil {
				return err
			}
			err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.Ledger.Renew(ctx, tx, id) })
			switch {
			case errors.Is(err, safety.ErrState):
				return usage.Wrap(err)
			case errors.Is(err, safety.ErrAltered):
				return usage.Errorf("%w: 'postroomd approvals reject'; 'postroomd audit verify' says more", err)
			case err != nil:
				return err
			}
			return printOutcome(ctx, h, cmd, id, "")
		})
	}
	return cmd
}

// answerRequest answers a request, runs the jobs that follow, and prints the outcome.
func answerRequest(ctx context.Context, h *app.App, cmd *cobra.Command, prefix string,
	answer func(context.Context, queue.Tx, string) error) error {
	id, err := h.ResolveAction(ctx, prefix)
	if err != nil {
		return err
	}
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return answer(ctx, tx, id) })
	if errors.Is(err, safety.ErrState) {
		return usage.Wrap(err)
	}
	if errors.Is(err, safety.ErrAltered) {
		return usage.Errorf("%w: 'postroomd approvals reject'; 'postroomd audit verify' says more", err)
	}
	if errors.Is(err, safety.ErrInvalidDecision) {
		return usage.Errorf("%w; 'postroomd approvals reject' ends the action", err)
	}
	if errors.Is(err, safety.ErrApprovalVoid) || errors.Is(err, safety.ErrApprovalExpired) {
		return usage.Errorf("%w; 'postroomd approvals renew' asks again", err)
	}
	if err != nil {
		return err
	}
	done, err := h.CarryOut(ctx, func(ctx context.Context) (bool, error) {
		return allSettled(ctx, h, []string{id})
	})
	if err != nil {
		return err
	}
	rest, err := whyLater(ctx, h, id, done)
	if err != nil {
		return err
	}
	return printOutcome(ctx, h, cmd, id, rest)
}

// allSettled reports whether all actions have ended or are held.
func allSettled(ctx context.Context, h *app.App, ids []string) (bool, error) {
	for _, id := range ids {
		a, err := h.Ledger.Action(ctx, id)
		if err != nil {
			return false, err
		}
		if a.State != postroom.ActionQueued && a.State != postroom.ActionExecuting {
			continue
		}
		if err := h.Ledger.HeldAction(ctx, id); !errors.Is(err, postroom.ErrHeld) {
			return false, err
		}
	}
	return true, nil
}

// whyLater explains why an action has not ended. settled is the result of allSettled.
func whyLater(ctx context.Context, h *app.App, id string, settled bool) (string, error) {
	err := h.Ledger.HeldAction(ctx, id)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case ok && held.Until.IsZero():
		return "; it waits: " + printer.Printable(held.Reason), nil
	case ok:
		return "; it waits until " + printer.Clock(held.Until) + ": " + printer.Printable(held.Reason), nil
	}
	return printer.Unless(settled, command.CarriedOutLater), err
}

func printOutcome(ctx context.Context, h *app.App, cmd *cobra.Command, actionID, rest string) error {
	a, err := h.Ledger.Action(ctx, actionID)
	if err != nil {
		return err
	}
	names, err := h.LabelNames(ctx)
	if err != nil {
		return err
	}
	if a.State == postroom.ActionFailed {
		return fmt.Errorf("action %s (%s) failed: %s", a.ID, app.Describe(a, names), a.Error)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "action %s (%s): %s%s\n", a.ID, app.Describe(a, names), a.State.Words(), rest)
	return err
}
