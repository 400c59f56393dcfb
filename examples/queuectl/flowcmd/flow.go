// Package flowcmd has the commands that show and change flows.
package flowcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

type placer = func(*cobra.Command) jobcmd.Opener

// New makes the command flows with its own commands.
func New(place placer) *cobra.Command {
	return cmdline.Group("flows", "Show, cancel and retry flows", list(place), show(place),
		change(place, "cancel", "Cancel all jobs of a flow that have not ended", flow.Cancel),
		change(place, "retry", "Run the failed and the canceled jobs of a flow that has ended again", flow.Retry))
}

// states are those of flows.
var states = []flow.State{flow.Running, flow.Canceling, flow.Completed, flow.Failed, flow.Canceled}

const (
	mostListed = 1000
	page       = 1000 // how many flows are read at once
)

func list(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List flows, newest first", Args: cobra.NoArgs}
	open := place(cmd)
	var only []string
	cmd.Flags().StringSliceVar(&only, "state", nil, "only these states: "+strings.Join(cmdline.Texts(states), ", "))
	cmdline.WholeLists(cmd.Flags(), "state")
	limit := cmdline.LimitFlag(cmd, mostListed)
	asJSON := cmdline.JSONFlag(cmd)
	completion := cobra.FixedCompletions(cmdline.Texts(states), cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc("state", completion); err != nil {
		panic(err) // there is no such flag
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, state := range only {
			if !slices.Contains(states, flow.State(state)) {
				return usage.Errorf("--state %s: the states are %s", state, strings.Join(cmdline.Texts(states), ", "))
			}
		}
		if cmd.Flags().Changed("state") && len(only) == 0 {
			return usage.Errorf("--state has no value; leave it out, or say what it selects")
		}
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			flows, err := listed(ctx, s.Queue, only, *limit)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(flows, viewOf))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "NAME", "STATE", "NODES", "ENDED", "CREATED", "FINISHED")
			for i := range flows {
				f := &flows[i]
				t.Row(printer.ShortID(f.ID), f.Name, f.State, f.Nodes, f.Ended, printer.Minute(f.CreatedAt),
					printer.Minute(f.FinishedAt))
			}
			return t.Flush("no flows")
		})
	}
	return cmd
}

// listed returns at most limit flows in the states, or in all if there are none.
func listed(ctx context.Context, q *queue.Queue, only []string, limit int) (flows []flow.Status, err error) {
	for before, more := "", true; more; {
		some, err := flow.List(ctx, q, before, page)
		if err != nil {
			return nil, err
		}
		for i := range some {
			if len(only) == 0 || slices.Contains(only, string(some[i].State)) {
				flows = append(flows, some[i])
			}
			before = some[i].ID
		}
		more = len(some) == page && len(flows) < limit
	}
	return flows[:min(limit, len(flows))], nil
}

func show(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a flow with its nodes and their counts of jobs",
		Args: cobra.ExactArgs(1)}
	open := place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			f, err := find(ctx, s.Queue, args[0])
			if err != nil {
				return err
			}
			nodes, err := flow.Nodes(ctx, s.Queue, f.ID)
			if err != nil {
				return err
			}
			if *asJSON {
				v := viewOf(*f)
				v.NodeList = printer.List(nodes, nodeOf)
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return printFlow(cmd, f, nodes)
		})
	}
	return cmd
}

func printFlow(cmd *cobra.Command, f *flow.Status, nodes []flow.Node) error {
	fields := printer.NewFields(cmd.OutOrStdout())
	fields.Add("id", f.ID)
	fields.Add("name", f.Name)
	fields.Add("state", f.State)
	fields.Add("nodes", fmt.Sprintf("%d of %d have ended", f.Ended, f.Nodes))
	fields.Add("deadline", printer.Clock(f.Deadline))
	fields.Add("created", printer.Clock(f.CreatedAt))
	fields.Add("finished", printer.Clock(f.FinishedAt))
	if err := fields.Flush(); err != nil {
		return err
	}
	t := printer.NewTable(cmd.OutOrStdout(), "NODE", "STATE", "JOBS", "COMPLETED", "FAILED", "CANCELED", "LEFT", "AFTER")
	for i := range nodes {
		n := &nodes[i]
		var after []string
		for _, e := range n.After {
			after = append(after, e.Name+printer.Unless(e.Policy == defaultPolicy, " ("+string(e.Policy)+")"))
		}
		t.Row(n.Name, n.State, n.Total, n.Completed, n.Failed, n.Canceled, n.Left(), strings.Join(after, ", "))
	}
	return t.Flush("no nodes")
}

func change(
	place placer, use, short string, do func(ctx context.Context, q *queue.Queue, id string) error,
) *cobra.Command {
	cmd := &cobra.Command{Use: use + " ID", Short: short, Args: cobra.ExactArgs(1)}
	open := place(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return open(cmd, true, func(ctx context.Context, s *jobcmd.Session) error {
			f, err := find(ctx, s.Queue, args[0])
			if err != nil {
				return err
			}
			switch err := do(ctx, s.Queue, f.ID); {
			case errors.Is(err, queue.ErrNotFinished):
				return usage.Errorf("flow %s has not ended: it is %s; only flows that have ended are retried", f.ID, f.State)
			case errors.Is(err, queue.ErrFinished):
				return usage.Errorf("flow %s is %s: there is no job to %s", f.ID, f.State, use)
			case err != nil:
				return err
			}
			if f, err = flow.Get(ctx, s.Queue, f.ID); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "flow %s: %s\n", f.ID, f.State)
			return err
		})
	}
	return cmd
}

const selectIDs = `
SELECT id
FROM %s
WHERE id LIKE $1 ESCAPE '!'
  OR id LIKE $2 ESCAPE '!'
ORDER BY id
LIMIT 2`

// find returns the flow of an id, or the only one whose id begins or ends so.
func find(ctx context.Context, q *queue.Queue, typed string) (*flow.Status, error) {
	begins, ends, ok := jobcmd.Patterns(typed)
	if !ok {
		return nil, notFound(typed)
	}
	var ids []string
	query := fmt.Sprintf(selectIDs, queue.Table(q.DB(), "job_flows"))
	if err := q.DB().Reader().SelectContext(ctx, &ids, query, begins, ends); err != nil {
		return nil, fmt.Errorf("find flow %q: %w", typed, err)
	}
	switch len(ids) {
	case 0:
		return nil, notFound(typed)
	case 1:
		return flow.Get(ctx, q, ids[0])
	}
	return nil, usage.Errorf("flow %q: it could be %s; give more of it", typed, strings.Join(ids, " or "))
}

func notFound(typed string) error {
	return usage.Errorf("there is no flow %s; 'queuectl flows list' lists them", typed)
}
