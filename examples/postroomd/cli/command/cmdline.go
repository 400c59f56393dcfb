package command

import (
	"bufio"
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
)

// The parts of commands that know nothing of postroomd, by the names that its commands use.

// A Question must be answered with yes before a command continues.
type Question = cmdline.Question

// Group is a command that only has subcommands.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	return cmdline.Group(use, short, below...)
}

// UnknownCommand suggests commands for the word.
func UnknownCommand(cmd *cobra.Command, word string) error { return cmdline.UnknownCommand(cmd, word) }

// JSONFlag adds the flag --json to a command.
func JSONFlag(cmd *cobra.Command) *bool { return cmdline.JSONFlag(cmd) }

// LimitFlag adds the flag --limit to a command.
func LimitFlag(cmd *cobra.Command, most int) *int { return cmdline.LimitFlag(cmd, most) }

// Confirm asks the question on a terminal.
func Confirm(in io.Reader, out io.Writer, q Question) error { return cmdline.Confirm(in, out, q) }

// CanAsk reports whether a question can be asked in passing.
func CanAsk(in io.Reader, out io.Writer) bool { return cmdline.CanAsk(in, out) }

// Ask asks a question in passing; see [cmdline.Ask].
func Ask(ctx context.Context, in *bufio.Reader, out io.Writer, text string,
	within time.Duration) (yes, answered bool, err error) {
	return cmdline.Ask(ctx, in, out, text, within)
}

// Texts are the values as texts.
func Texts[T ~string](values []T) []string { return cmdline.Texts(values) }
