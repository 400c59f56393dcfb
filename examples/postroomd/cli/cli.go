// Package cli is the command line of postroomd. Its groups of commands are packages below it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/accounts"
	agentscmd "github.com/postroom-go/postroom/examples/postroomd/cli/agents"
	"github.com/postroom-go/postroom/examples/postroomd/cli/approvals"
	"github.com/postroom-go/postroom/examples/postroomd/cli/archivecmd"
	"github.com/postroom-go/postroom/examples/postroomd/cli/audit"
	awaycmd "github.com/postroom-go/postroom/examples/postroomd/cli/away"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/cli/decisions"
	draftscmd "github.com/postroom-go/postroom/examples/postroomd/cli/drafts"
	enrichmentcmd "github.com/postroom-go/postroom/examples/postroomd/cli/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/cli/instructions"
	"github.com/postroom-go/postroom/examples/postroomd/cli/jobs"
	labelscmd "github.com/postroom-go/postroom/examples/postroomd/cli/labels"
	learncmd "github.com/postroom-go/postroom/examples/postroomd/cli/learn"
	"github.com/postroom-go/postroom/examples/postroomd/cli/lists"
	mailcmd "github.com/postroom-go/postroom/examples/postroomd/cli/mail"
	notescmd "github.com/postroom-go/postroom/examples/postroomd/cli/notes"
	reminderscmd "github.com/postroom-go/postroom/examples/postroomd/cli/reminders"
	rulescmd "github.com/postroom-go/postroom/examples/postroomd/cli/rules"
	statisticscmd "github.com/postroom-go/postroom/examples/postroomd/cli/statistics"
	taskscmd "github.com/postroom-go/postroom/examples/postroomd/cli/tasks"
	tokenscmd "github.com/postroom-go/postroom/examples/postroomd/cli/tokens"
	undocmd "github.com/postroom-go/postroom/examples/postroomd/cli/undo"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

// Exit statuses.
const (
	exitFailed = 1 // it was tried and failed
	exitUsage  = 2 // the request is invalid: nothing was written

	exitInterrupted = 130 // the convention of shells for SIGINT
)

// Run runs the command of the arguments, and returns the exit status.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran := false
	root.PersistentPreRun = func(*cobra.Command, []string) { ran = true }
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		_, _ = fmt.Fprintln(stderr, "postroomd: interrupted; run the same command again and it goes on where it was")
		return exitInterrupted
	}
	_, _ = fmt.Fprintln(stderr, "postroomd:", printer.PrintableLines(err.Error()))
	var wrong usage.Error
	if !ran || errors.As(err, &wrong) {
		return exitUsage
	}
	return exitFailed
}

func rootCommand(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:     "postroomd",
		Version: telemetry.Version(),
		Short:   "Sorts a mailbox by rules, safely, and takes it back when asked",
		Args:    cobra.ArbitraryArgs, // so that RunE sees a word that is no command
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.UnknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		// Errors are printed once, by run; the usage of a command is for --help.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(args)
	root.AddCommand(demoCommand(), runCommand(), pageCommand(), actionsCommand(), approvals.New(), undocmd.New(),
		stopCommand(), resumeCommand(), digestCommand(), audit.New(), mailcmd.New(), explainCommand(), decisions.New(),
		instructions.New(),
		instructions.NewMoved("directions"), instructions.NewMoved("llm-rules"), costCommand(), jobs.New(),
		taskscmd.New(), notescmd.New(), reminderscmd.New(), statisticscmd.New(), draftscmd.New(), awaycmd.New(), lists.New(),
		enrichmentcmd.New(), learncmd.New(), archivecmd.New(), agentscmd.New(), rulescmd.New(),
		configCommand(), accounts.NewAuth(), accounts.New(), statusCommand(), healthcheckCommand(), mcpCommand(),
		openAPICommand(), tokenscmd.New(), labelscmd.New(),
		manCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// The flags are those of the intended command, so unknown flags are ignored here.
		if found, rest, _ := root.Find(args); found == cmd && cmd.HasSubCommands() && len(rest) > 0 &&
			!strings.HasPrefix(rest[0], "-") {
			return command.UnknownCommand(cmd, rest[0])
		}
		return flagFault(cmd, err)
	})
	namesArguments(root)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		completes(root) // a shell asks; cobra keeps for good what is registered
	}
	return root
}

// programName returns the command that runs this program: "go run" leaves it in a folder that is gone when it ends.
func programName() string {
	if exe, err := os.Executable(); err == nil && strings.Contains(exe, "go-build") {
		return "go run ./examples/postroomd"
	}
	return "postroomd"
}
