// Package limitcmd has the commands that pause jobs and limit how many run.
package limitcmd

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue"
)

// New makes the commands pause, resume and limits.
func New(place func(*cobra.Command) jobcmd.Opener) []*cobra.Command {
	return []*cobra.Command{
		pause(place, "pause", "Let no job of a type or a limit key start; what runs goes on", "paused",
			(*queue.Queue).Pause),
		pause(place, "resume", "End a pause", "resumed", (*queue.Queue).Resume),
		cmdline.Group("limits", "Show, set and remove limits", list(place), set(place), remove(place)),
	}
}

// targetFlags are the flags that name a target.
type targetFlags struct {
	jobType, key, prefix string
	all                  bool
}

func (f *targetFlags) add(cmd *cobra.Command, all bool) {
	cmd.Flags().StringVar(&f.jobType, "type", "", "the jobs of this type")
	cmd.Flags().StringVar(&f.key, "key", "", "the jobs of this limit key")
	cmd.Flags().StringVar(&f.prefix, "prefix", "", "the jobs of each limit key with this prefix, each key by itself")
	names := []string{"type", "key", "prefix"}
	if all {
		cmd.Flags().BoolVar(&f.all, "all", false, "all jobs")
		names = append(names, "all")
	}
	cmd.MarkFlagsOneRequired(names...)
	cmd.MarkFlagsMutuallyExclusive(names...)
}

func (f *targetFlags) target() (queue.Target, error) {
	if name := f.jobType + f.key + f.prefix; !utf8.ValidString(name) {
		return queue.Target{}, usage.Errorf("the name %q holds bytes that are no text", name)
	}
	switch {
	case f.all:
		return queue.ForAll(), nil
	case f.jobType != "":
		return queue.ForType(f.jobType), nil
	case f.key != "":
		return queue.ForKey(f.key), nil
	case f.prefix != "":
		return queue.ForKeyPrefix(f.prefix), nil
	}
	return queue.Target{}, usage.Errorf("the name is empty; name a type, a limit key or a prefix of limit keys")
}

func pause(
	place func(*cobra.Command) jobcmd.Opener, use, short, done string,
	do func(*queue.Queue, context.Context, queue.Target) error,
) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs}
	open := place(cmd)
	var flags targetFlags
	flags.add(cmd, true)
	cmd.RunE = changing(open, &flags, func(ctx context.Context, q *queue.Queue, t queue.Target) (string, error) {
		return done, do(q, ctx, t)
	})
	return cmd
}

// changing changes something about the target of the flags, and prints what.
func changing(
	open jobcmd.Opener, flags *targetFlags,
	do func(ctx context.Context, q *queue.Queue, t queue.Target) (done string, err error),
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		target, err := flags.target()
		if err != nil {
			return err
		}
		return open(cmd, true, func(ctx context.Context, s *jobcmd.Session) error {
			done, err := do(ctx, s.Queue, target)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s: %s\n", target.Kind, printer.Printable(target.Name), done)
			if err != nil || flags.jobType == "" {
				return err
			}
			return jobcmd.NoteUnknownType(ctx, s, cmd, flags.jobType, " so far")
		})
	}
}

// A limit is a limit or a pause as JSON.
type limit struct {
	Kind       queue.TargetKind `json:"kind"`
	Name       string           `json:"name"`
	Paused     bool             `json:"paused"`
	MaxRunning int              `json:"max_running,omitempty"`
	Rate       int              `json:"rate,omitempty"`
	PerSeconds float64          `json:"per_seconds,omitempty"`
	Burst      int              `json:"burst,omitempty"`
}

func list(place func(*cobra.Command) jobcmd.Opener) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List limits and pauses", Args: cobra.NoArgs}
	open := place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			limits, err := s.Queue.Limits(ctx)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(limits, func(l queue.LimitStatus) limit {
					return limit{l.Kind, l.Name, l.Paused, l.MaxRunning, l.Rate, l.Per.Seconds(), l.Burst}
				}))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "KIND", "NAME", "RUNNING", "STARTS", "PAUSED")
			for _, l := range limits {
				t.Row(l.Kind, l.Name, running(l.Limit), starts(l.Limit), printer.Unless(!l.Paused, "paused"))
			}
			return t.Flush("no limits")
		})
	}
	return cmd
}

func running(l queue.Limit) string {
	return printer.Unless(l.MaxRunning == 0, fmt.Sprint("at most ", l.MaxRunning))
}

func starts(l queue.Limit) string {
	return printer.Unless(l.Rate == 0, fmt.Sprintf("%d in %v, %d at once", l.Rate, l.Per, l.Burst))
}

func remove(place func(*cobra.Command) jobcmd.Opener) *cobra.Command {
	cmd := &cobra.Command{Use: "remove", Short: "Remove a limit; a pause stays", Args: cobra.NoArgs}
	open := place(cmd)
	var flags targetFlags
	flags.add(cmd, false)
	cmd.RunE = changing(open, &flags, func(ctx context.Context, q *queue.Queue, t queue.Target) (string, error) {
		return "not limited", q.RemoveLimit(ctx, t)
	})
	return cmd
}
