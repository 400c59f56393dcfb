// Postroomd sorts a mailbox by rules, keeps a ledger of its actions, asks a person before dangerous ones, and can undo actions.
//
// "postroomd demo" runs the whole pipeline against a Gmail of its own, loaded with a sample mailbox or with yours. "postroomd
// run" works on the mailbox of its configuration until it is stopped. The other commands show and change the results of these
// two.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
)

// Exit statuses.
const (
	exitFailed = 1 // it was tried and failed
	exitUsage  = 2 // the request is invalid: nothing was written

	exitInterrupted = 130 // the convention of shells for SIGINT
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
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
		Use:   "postroomd",
		Short: "Sorts a mailbox by rules, safely, and takes it back when asked",
		Args:  cobra.ArbitraryArgs, // so that RunE sees a word that is no command
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
		// Errors are printed once, by run; the usage of a command is for --help.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(args)
	root.AddCommand(demoCommand(), runCommand(), actionsCommand(), approvalsCommand(), undoCommand(), stopCommand(), resumeCommand(), auditCommand(), mailCommand(), explainCommand(), decisionsCommand(), instructionsCommand(), directionsCommand("directions"), directionsCommand("llm-rules"), costCommand(), jobsCommand(), rulesCommand(), configCommand(), authCommand(), accountsCommand(), statusCommand(), healthcheckCommand(), manCommand())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// The flags are those of the intended command, so unknown flags are ignored here.
		if found, rest, _ := root.Find(args); found == cmd && cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return unknownCommand(cmd, rest[0])
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

// group is a command that only has subcommands. An unknown word is an error.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return usage.Errorf("%s needs a command; see %s --help", cmd.CommandPath(), cmd.CommandPath())
	}}
	cmd.AddCommand(below...)
	return cmd
}

// unknownCommand suggests commands for the word.
func unknownCommand(cmd *cobra.Command, word string) error {
	cmd.SuggestionsMinimumDistance = 2
	meant := ""
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		if best := slices.Index(near, suggest.Nearest(word, near)); best > 0 {
			near[0], near[best] = near[best], near[0]
		}
		meant = "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage.Errorf("unknown command %q for %q%s; see %s --help", word, cmd.CommandPath(), meant, cmd.CommandPath())
}
