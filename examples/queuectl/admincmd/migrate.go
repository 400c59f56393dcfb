package admincmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// An opener calls fn with the database of the flags.
type opener = func(cmd *cobra.Command, fn func(ctx context.Context, db queue.DB) error) error

// NewMigrate makes the command migrate with its own commands. look opens a database to read its migrations.
func NewMigrate(look, open opener) *cobra.Command {
	return cmdline.Group("migrate", "Show, apply and print the migrations of the queue's tables, or remove them",
		migrateStatus(look), migrateUp(open), migrateSQL(look), migrateRemove(open))
}

func migrateStatus(open opener) *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "List the migrations", Args: cobra.NoArgs}
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return open(cmd, func(ctx context.Context, db queue.DB) error {
			all, err := queue.Migrations(ctx, db)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(all, func(m queue.Migration) migration {
					return migration{m.Version, m.Name, m.Applied}
				}))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "VERSION", "NAME", "STATE")
			for _, m := range all {
				state := "pending"
				if m.Applied {
					state = "applied"
				}
				t.Row(m.Version, m.Name, state)
			}
			return t.Flush("no migrations")
		})
	}
	return cmd
}

// A migration is a migration as JSON.
type migration struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
	Applied bool   `json:"applied"`
}

func migrateUp(open opener) *cobra.Command {
	return &cobra.Command{Use: "up", Args: cobra.NoArgs,
		Short: "Apply the migrations that are pending, in one transaction",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return open(cmd, func(ctx context.Context, db queue.DB) error {
				if err := queue.Migrate(ctx, db); err != nil {
					return err
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "the tables are up to date")
				return err
			})
		}}
}

func migrateSQL(open opener) *cobra.Command {
	return &cobra.Command{Use: "sql", Short: "Print the SQL of the migrations that are pending", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return open(cmd, func(ctx context.Context, db queue.DB) error {
				all, err := queue.Migrations(ctx, db)
				if err != nil {
					return err
				}
				for _, m := range all {
					if m.Applied {
						continue
					}
					if _, err := fmt.Fprintf(cmd.OutOrStdout(), "BEGIN;\n\n%s\nCOMMIT;\n\n", m.SQL); err != nil {
						return err
					}
				}
				return nil
			})
		}}
}

func migrateRemove(open opener) *cobra.Command {
	cmd := &cobra.Command{Use: "remove", Args: cobra.NoArgs,
		Short: "Remove the queue's tables with all jobs, and nothing else"}
	force := cmd.Flags().Bool("force", false, "also while dispatchers run, or jobs have not ended: those are lost")
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return open(cmd, func(ctx context.Context, db queue.DB) error {
			if !*yes {
				if err := cmdline.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), cmdline.Question{
					Text: "Remove the tables of the queue (" + queue.Table(db, "jobs") +
						", …), with all jobs, schedules and limits?", Refused: "nothing was removed",
				}); err != nil {
					return err
				}
			}
			if err := queueadmin.Uninstall(ctx, db, &queueadmin.UninstallOptions{Force: *force}); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "the queue's tables are removed")
			return err
		})
	}
	return cmd
}
