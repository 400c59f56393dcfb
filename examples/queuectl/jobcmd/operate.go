package jobcmd

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

var (
	queuedStates     = []queue.State{queue.StateQueued}
	unfinishedStates = []queue.State{queue.StateQueued, queue.StateRunning}
	finishedStates   = []queue.State{queue.StateCompleted, queue.StateFailed, queue.StateCanceled}
)

func (h *Host) cancel() *cobra.Command {
	var reason string
	c := &change{host: h, verb: "cancel", done: "canceled", from: unfinishedStates, usual: unfinishedStates,
		all: func(ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig) (
			queueadmin.BulkResult, error,
		) {
			return queueadmin.Cancel(ctx, s.Queue, sel, reason, cfg)
		}}
	return c.command("Cancel a queued or running job, or all that are selected",
		"Cancel a queued or running job. Without an id, the flags select jobs: all queued and running ones that match are canceled,\n"+
			"once you have seen how many and said yes."+h.CancelNote,
		func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&reason, "reason", "", "why, which the jobs then show as their error")
		})
}

func (h *Host) runNow() *cobra.Command {
	c := &change{host: h, verb: "run-now", done: "made due", from: queuedStates, usual: queuedStates,
		all: func(ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig) (
			queueadmin.BulkResult, error,
		) {
			return queueadmin.RunNow(ctx, s.Queue, sel, cfg)
		}}
	return c.command("Make a job due that waits for its time or for its next attempt, or all that are selected", "")
}

func (h *Host) reschedule() *cobra.Command {
	var f timeFlags
	c := &change{host: h, verb: "reschedule", done: "rescheduled", from: queuedStates, usual: queuedStates,
		check: func() error {
			_, err := f.instant()
			return err
		},
		all: func(ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig) (
			queueadmin.BulkResult, error,
		) {
			when, err := f.instant()
			if err != nil {
				return queueadmin.BulkResult{}, err
			}
			return queueadmin.Reschedule(ctx, s.Queue, sel, when, cfg)
		}}
	return c.command("Set when a queued job is due, or all that are selected", "", f.add)
}

// timeFlags say when jobs are due.
type timeFlags struct {
	at    string
	in    time.Duration
	given *pflag.FlagSet
}

func (f *timeFlags) add(cmd *cobra.Command) {
	f.given = cmd.Flags()
	f.given.StringVar(&f.at, "at", "", "when, such as 2026-01-31T07:00:00Z")
	f.given.DurationVar(&f.in, "in", 0, "from now, such as 30m")
	cmd.MarkFlagsOneRequired("at", "in")
	cmd.MarkFlagsMutuallyExclusive("at", "in")
}

func (f *timeFlags) instant() (time.Time, error) {
	if !f.given.Changed("at") {
		if f.in < 0 {
			return time.Time{}, usage.Errorf("--in %v has passed; run-now makes jobs due at once", f.in)
		}
		return time.Now().Add(f.in), nil
	}
	when, err := time.Parse(time.RFC3339, f.at)
	if err != nil {
		return when, usage.Errorf("--at %s: write a time as 2026-01-31T07:00:00Z or 2026-01-31T07:00:00+01:00", f.at)
	}
	return when, nil
}

func (h *Host) priority() *cobra.Command {
	var to int
	c := &change{host: h, verb: "priority", done: "changed", from: queuedStates, usual: queuedStates,
		check: func() error {
			if int64(int32(to)) != int64(to) {
				return usage.Errorf("--to is %d; it must be within %d and %d", to, math.MinInt32, math.MaxInt32)
			}
			return nil
		},
		all: func(ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig) (
			queueadmin.BulkResult, error,
		) {
			return queueadmin.SetPriority(ctx, s.Queue, sel, to, cfg)
		}}
	return c.command("Set the priority of a queued job, or of all that are selected", "",
		func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&to, "to", 0, "the priority; higher ones run first, and 0 is usual")
			if err := cmd.MarkFlagRequired("to"); err != nil {
				panic(err) // there is no such flag
			}
		})
}

func (h *Host) remove() *cobra.Command {
	c := &change{host: h, verb: "delete", done: "deleted", from: finishedStates, usual: finishedStates,
		all: func(ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig) (
			queueadmin.BulkResult, error,
		) {
			return queueadmin.Delete(ctx, s.Queue, sel, cfg)
		}}
	return c.command("Delete a finished job with all that is kept about it, or all that are selected",
		"Delete a finished job with its result, steps, attempts and log. Without an id, the flags select jobs: all finished ones that\n"+
			"match are deleted, once you have seen how many and said yes. Keys that outlive their jobs stay taken.")
}
