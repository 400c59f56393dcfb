package admincmd

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A Target says where the new database of a move is. Schema and Prefix may be empty.
type Target struct{ DSN, Schema, Prefix string }

// mostMoved is the bound of queueadmin.MoveConfig.Batch.
const mostMoved = 10_000

// NewMove makes the command move. at opens the new database.
func NewMove(open opener, at func(ctx context.Context, to Target) (interface {
	queue.DB
	io.Closer
}, error)) *cobra.Command {
	cmd := &cobra.Command{Use: "move", Args: cobra.NoArgs,
		Short: "Move all jobs, schedules and limits to another database, while both are in use",
		Long: "Move all jobs, schedules and limits to another database, while both are in use. Each job can be claimed in one database only. If\n" +
			"it is interrupted, run it again. Let the programs enqueue into the new database then, and run it once more.\n\n" +
			"--schema and --table-prefix are about the old database, --to-schema and --to-table-prefix about the new one. Both may be queues of\n" +
			"one database.",
		Example: "  queuectl --database app.db --table-prefix mail_ move --to mail.db\n" +
			"  queuectl --database postgres://host/app move --to postgres://host/app --to-schema mail"}
	var to Target
	cmd.Flags().StringVar(&to.DSN, "to", "", "the database to move to, which has the queue's tables")
	cmd.Flags().StringVar(&to.Schema, "to-schema", "",
		"the schema of the new tables on PostgreSQL (default: that of the search_path)")
	cmd.Flags().StringVar(&to.Prefix, "to-table-prefix", "",
		"what the names of the new tables begin with on SQLite (default: nothing)")
	batch := cmd.Flags().Int("batch", 0, "how many jobs move at a time (default 500)")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		panic(err) // there is no such flag
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("batch") && (*batch < 1 || *batch > mostMoved) {
			return usage.Errorf("--batch is %d; it must be within 1 and %d", *batch, mostMoved)
		}
		return open(cmd, func(ctx context.Context, db queue.DB) error {
			target, err := at(ctx, to)
			if err != nil {
				return err
			}
			defer target.Close()
			return move(ctx, cmd, db, target, *batch)
		})
	}
	return cmd
}

func move(ctx context.Context, cmd *cobra.Command, from, to queue.DB, batch int) error {
	r, err := queueadmin.Move(ctx, from, to, &queueadmin.MoveConfig{Batch: batch})
	if errors.Is(err, queueadmin.ErrSameDatabase) {
		return usage.Errorf("the queue of --to is the one of --database: nothing is moved")
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "moved %s, %s and %s\n", printer.Count(r.Jobs, "job", "jobs"),
		printer.Count(r.Keys, "key", "keys"), printer.Count(r.Schedules, "schedule", "schedules"))
	for _, key := range r.KeysTaken {
		cmd.PrintErrf("the key %s was taken in the new database; its job runs without it\n", printer.Printable(key))
	}
	return err
}
