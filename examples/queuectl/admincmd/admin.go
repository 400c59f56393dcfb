// Package admincmd has the commands that examine a queue as a whole, and its database.
package admincmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

type placer = func(*cobra.Command) jobcmd.Opener

// New makes the commands verify, stats and watch.
func New(place placer) []*cobra.Command {
	return []*cobra.Command{verify(place), stats(place), watch(place)}
}

func verify(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "verify", Short: "Check the invariants of the tables", Args: cobra.NoArgs}
	open := place(cmd)
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			violations, err := queueadmin.Verify(ctx, s.Queue)
			switch {
			case err != nil:
				return err
			case *asJSON:
				err = printer.JSON(cmd.OutOrStdout(), printer.List(violations, newViolation))
			case len(violations) == 0:
				_, err = fmt.Fprintln(cmd.OutOrStdout(), "the tables are sound")
			default:
				err = jobcmd.PrintLines(cmd, violations)
			}
			if err == nil && len(violations) > 0 {
				return jobcmd.ErrFindings
			}
			return err
		})
	}
	return cmd
}

// A violation is a row that breaks an invariant as JSON.
type violation struct {
	Subject string `json:"subject"`
	Rule    string `json:"rule"`
}

func newViolation(v queueadmin.Violation) violation { return violation{v.Subject, v.Rule} }

func stats(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "stats", Short: "Count jobs by type, and show their times and the workers",
		Args: cobra.NoArgs}
	open := place(cmd)
	window := cmd.Flags().Duration("window", time.Hour, "how far back times and finished jobs count, 1m to 744h")
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *window < time.Minute || *window > 31*24*time.Hour {
			return usage.Errorf("--window is %v; it must be within 1m and 744h", *window)
		}
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			read, err := queueadmin.ReadStats(ctx, s.Queue, &queueadmin.StatsRequest{Window: *window})
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), newStats(read))
			}
			if err := printTypes(cmd, read); err != nil {
				return err
			}
			return printWorkers(cmd, read)
		})
	}
	return cmd
}

func printTypes(cmd *cobra.Command, read *queueadmin.Stats) error {
	count := func(n int) string { return counted(n, read.MaxCount) }
	t := printer.NewTable(cmd.OutOrStdout(), "TYPE", "READY", "LATER", "LIMITED", "RUNNING", "DONE", "FAILED", "CANCELED",
		"WAIT P95", "RUN P95", "OLDEST")
	for _, s := range read.Types {
		oldest := ""
		if !s.OldestDue.IsZero() {
			oldest = read.At.Sub(s.OldestDue).Round(time.Second).String()
		}
		t.Row(s.Type, count(s.Ready), count(s.Scheduled), count(s.Limited), count(s.Running), count(s.Completed),
			count(s.Failed), count(s.Canceled), short(s.Wait.P95), short(s.Run.P95), oldest)
	}
	return t.Flush("no jobs")
}

func printWorkers(cmd *cobra.Command, read *queueadmin.Stats) error {
	if len(read.Workers) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "no workers")
		return err
	}
	t := printer.NewTable(cmd.OutOrStdout(), "WORKER", "RUNNING", "BEAT", "TYPES")
	for _, w := range read.Workers {
		beat := printer.Clock(w.BeatAt)
		if w.Beat < 0 {
			beat = "dead"
		}
		t.Row(w.ID, w.Running, beat, strings.Join(w.Types, ", "))
	}
	return t.Flush("no workers")
}

// counted is a count that goes no further than most.
func counted(n, most int) string {
	if n >= most {
		return fmt.Sprintf("%d+", n)
	}
	return strconv.Itoa(n)
}

func short(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.Round(time.Millisecond).String()
}

func watch(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "watch", Args: cobra.NoArgs,
		Short: "Show the counts of jobs again and again, until it is interrupted",
		Long: "Show the counts of jobs again and again, until it is interrupted. With --json each reading is a line; on a terminal the table\n" +
			"is drawn anew."}
	open := place(cmd)
	interval := cmd.Flags().Duration("interval", 2*time.Second, "how often, at least 200ms")
	times := cmd.Flags().Int("times", 0, "end after so many readings; 0: never")
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *interval < 200*time.Millisecond || *times < 0 {
			return usage.Errorf("--interval is %v and --times %d; they must be at least 200ms and 0", *interval, *times)
		}
		return open(cmd, false, func(ctx context.Context, s *jobcmd.Session) error {
			tick := time.NewTicker(*interval)
			defer tick.Stop()
			for n := 1; ; n++ {
				read, err := queueadmin.ReadStats(ctx, s.Queue, nil)
				if err != nil {
					return err
				}
				if err := printReading(cmd, read, *asJSON); err != nil || n == *times {
					return err
				}
				select {
				case <-ctx.Done():
					return nil // that is how it ends
				case <-tick.C:
				}
			}
		})
	}
	return cmd
}

// clearScreen has a terminal begin anew.
const clearScreen = "\x1b[H\x1b[2J"

func printReading(cmd *cobra.Command, read *queueadmin.Stats, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		return printLine(out, newStats(read))
	}
	if printer.IsTerminal(out) {
		if _, err := fmt.Fprint(out, clearScreen); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out, printer.Clock(read.At)); err != nil {
		return err
	}
	return printTypes(cmd, read)
}
