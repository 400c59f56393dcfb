// Package cli is the command line of queuectl. Its groups of commands are packages beside it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/admincmd"
	"github.com/postroom-go/postroom/examples/queuectl/flowcmd"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/examples/queuectl/limitcmd"
	"github.com/postroom-go/postroom/examples/queuectl/schedulecmd"
	"github.com/postroom-go/postroom/queue"
)

// The exit statuses, for monitoring.
const (
	ExitFailed   = 1 // it was tried and failed
	ExitUsage    = 2 // the request is invalid: nothing was written
	ExitFindings = 3 // doctor or verify have found a problem

	exitInterrupted = 130 // the convention of shells for SIGINT
)

const long = `Queuectl shows and changes the queue of any program, by the DSN of its database.

The database is the path of an SQLite file, or a URL such as postgres://user@host/database. It is that of --database,
or of $QUEUECTL_DATABASE. It may be in use. Values that a Codec has encoded are shown as they are stored.

The exit status is 0 if all went well, 1 if the command failed, 2 if the request is invalid, 3 if doctor or verify
have found a problem, and 130 if it was interrupted.`

// Run runs the command of the arguments, and returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	d := &database{}
	root := newRoot(d)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(stderr, "queuectl: interrupted; what was done so far stays, and the same command does the rest")
		return exitInterrupted
	}
	_, _ = fmt.Fprintln(stderr, "queuectl:", printer.PrintableLines(err.Error()))
	switch {
	case errors.Is(err, jobcmd.ErrFindings):
		return ExitFindings
	case !d.named || isWrong(err):
		return ExitUsage
	}
	return ExitFailed
}

// isWrong reports whether an error is about what was asked for.
func isWrong(err error) bool {
	_, wrong := errors.AsType[usage.Error](err)
	return wrong || errors.Is(err, queue.ErrInvalidFilter) || errors.Is(err, queue.ErrInvalidLimit) ||
		errors.Is(err, queue.ErrInvalidSchedule) || errors.Is(err, queue.ErrScheduleNotFound)
}

func newRoot(d *database) *cobra.Command {
	root := &cobra.Command{
		Use: "queuectl", Short: "Shows and changes the queue of any program", Long: long,
		Args: cobra.ArbitraryArgs, // so that RunE sees a word that is no command
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdline.UnknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		// Errors are printed once, by Run; the usage of a command is for --help.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.PersistentFlags().StringVar(&d.dsn, "database", "",
		"the database: the path of an SQLite file, or a URL as postgres://user@host/database (default: $QUEUECTL_DATABASE)")
	root.PersistentFlags().BoolVar(&d.pooled, "pooled", false,
		"the server is behind a pooler in transaction mode, such as PgBouncer")
	root.PersistentFlags().StringVar(&d.schema, "schema", "",
		"the schema of the queue's tables on PostgreSQL (default: that of the search_path)")
	root.PersistentFlags().StringVar(&d.prefix, "table-prefix", "",
		"what the names of the queue's tables begin with on SQLite")
	h := &jobcmd.Host{Name: "queuectl", All: true, Place: func(*cobra.Command) jobcmd.Opener { return d.withQueue }}
	root.AddCommand(h.Basic()...)
	root.AddCommand(h.Operate()...)
	root.AddCommand(limitcmd.New(h.Place)...)
	root.AddCommand(schedulecmd.New(h.Place), flowcmd.New(h.Place))
	root.AddCommand(admincmd.New(h.Place)...)
	root.AddCommand(admincmd.NewMigrate(d.withPlan, d.withAny), admincmd.NewMove(d.withTables, d.openTarget),
		admincmd.NewImport(h.Place, d.read))
	d.completes(root)
	refusesUnknownShells(root)
	return root
}
