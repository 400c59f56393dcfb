package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// proposalPatience is how long a person who presses a key waits.
const proposalPatience = 2 * time.Second

// completes has a shell propose states, and the types and schedules of the database that the line names.
func (d *database) completes(root *cobra.Command) {
	states := cobra.FixedCompletions(cmdline.Texts(queue.States()), cobra.ShellCompDirectiveNoFileComp)
	for _, c := range root.Commands() {
		if c.Flags().Lookup("state") != nil && c.Name() != "import" {
			register(c, "state", states)
		}
		if c.Flags().Lookup("type") != nil {
			register(c, "type", d.proposes(types))
		}
		for _, sub := range c.Commands() {
			switch {
			case sub.Flags().Lookup("type") != nil:
				register(sub, "type", d.proposes(types))
			case c.Name() == "schedules" && sub.Name() != "list":
				sub.ValidArgsFunction = d.proposes(schedules)
			}
		}
	}
}

// refusesUnknownShells has the command completion, which is cobra's, refuse a word that is no shell.
func refusesUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			c.Args, c.RunE = cobra.ArbitraryArgs, root.RunE
		}
	}
}

func register(c *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, fn); err != nil {
		panic(err) // it is registered twice
	}
}

// proposes proposes what read returns; nothing where the database cannot be read, since an error has no place there.
func (d *database) proposes(read func(ctx context.Context, q *queue.Queue) ([]string, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), proposalPatience)
		defer cancel()
		if len(args) == 0 {
			_ = d.withTablesIn(ctx, cmd, func(ctx context.Context, db queue.DB) error {
				q, err := queue.New(db, nil)
				if err == nil {
					names, err = read(ctx, q)
				}
				return err
			})
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

func types(ctx context.Context, q *queue.Queue) ([]string, error) {
	stats, err := queueadmin.ReadStats(ctx, q, &queueadmin.StatsRequest{MaxCount: 1})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(stats.Types))
	for i := range stats.Types {
		names[i] = stats.Types[i].Type
	}
	return names, nil
}

func schedules(ctx context.Context, q *queue.Queue) ([]string, error) {
	all, err := q.Schedules(ctx)
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names, err
}
