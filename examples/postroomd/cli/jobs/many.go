package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
)

// batchSize is how many jobs are changed between two looks at the progress.
const batchSize = 1000

// A manyJobs is a command that changes all jobs that its flags select.
type manyJobs struct {
	verb, done string        // "cancel", "canceled"
	from       []queue.State // states of jobs that it can change
	usual      []queue.State // those that it changes without --state
	one        func(ctx context.Context, h *app.App, cmd *cobra.Command, prefix string) error
	all        func(ctx context.Context, h *app.App, cmd *cobra.Command, filter queue.Filter, total int) error

	states, types *[]string
	key           *string
	yes           *bool
}

// command makes the command.
func (m *manyJobs) command(short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: m.verb + " [ID]", Short: short, Long: long, Args: cobra.MaximumNArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	m.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		filter, err := m.filter(args)
		if err != nil {
			return err
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			if len(args) == 1 {
				return m.one(ctx, h, cmd, args[0])
			}
			total, err := m.confirm(ctx, h, cmd, filter)
			if err != nil {
				return err
			}
			return m.all(ctx, h, cmd, filter, total)
		})
	}
	return cmd
}

// flags adds the flags that select jobs.
func (m *manyJobs) flags(cmd *cobra.Command) {
	m.types = cmd.Flags().StringSlice("type", nil, "all jobs of these types, such as classify")
	m.states = cmd.Flags().StringSlice("state", nil, "only these states: "+strings.Join(command.Texts(m.from), ", "))
	m.key = cmd.Flags().String("key", "", "all jobs whose key has this name")
	m.yes = cmd.Flags().Bool("yes", false, "do not ask before many jobs are changed")
}

// filter returns what the flags select; the error is that they select nothing, or beside an id.
func (m *manyJobs) filter(args []string) (queue.Filter, error) {
	f := queue.Filter{Types: *m.types, Key: *m.key, States: m.usual}
	selects := len(f.Types) > 0 || f.Key != ""
	switch {
	case len(args) == 1 && (selects || len(*m.states) > 0):
		return f, usage.Errorf("give a job's id or flags that select jobs, not both")
	case len(args) == 0 && !selects:
		return f, usage.Errorf("give a job's id, see \"postroomd jobs list\"; or flags that select jobs, such as " +
			"--type ingest.gmail")
	}
	if len(*m.states) > 0 {
		f.States = nil
	}
	for _, s := range *m.states {
		if !slices.Contains(m.from, queue.State(s)) {
			return f, usage.Errorf("--state %s: %s", s,
				suggest.Instead(s, command.Texts(m.from), "to "+m.verb+" there are only"))
		}
		f.States = append(f.States, queue.State(s))
	}
	return f, nil
}

// confirm shows how many jobs of which types and states the filter selects, asks, and returns their number.
func (m *manyJobs) confirm(ctx context.Context, h *app.App, cmd *cobra.Command, filter queue.Filter) (int, error) {
	total, text, err := m.count(ctx, h, filter)
	if err != nil {
		return 0, err
	}
	if total == 0 {
		return 0, noteUnknownTypes(ctx, h, cmd, filter.Types)
	}
	if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil || *m.yes {
		return total, err
	}
	return total, command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{
		Text: m.verb + " " + printer.Count(total, "job", "jobs") + "?", Refused: "no job was " + m.done,
	})
}

func (m *manyJobs) count(ctx context.Context, h *app.App, filter queue.Filter) (total int, text string, err error) {
	groups := filter.Types
	if len(groups) == 0 {
		groups = []string{""}
	}
	var b strings.Builder
	for _, jobType := range groups {
		name := jobType
		if filter.Types = []string{jobType}; jobType == "" {
			filter.Types, name = nil, "key "+filter.Key
		}
		counts, err := h.Queue.Counts(ctx, filter)
		if err != nil {
			return 0, "", err
		}
		var kinds []string
		for _, state := range filter.States {
			if n := counts[state]; n > 0 {
				kinds, total = append(kinds, fmt.Sprintf("%d %s", n, state)), total+n
			}
		}
		if len(kinds) > 0 {
			fmt.Fprintf(&b, "  %s: %s\n", printer.Printable(name), strings.Join(kinds, ", "))
		}
	}
	return total, b.String(), nil
}

// cancelMany cancels all jobs of the filter, in batches.
func cancelMany(ctx context.Context, h *app.App, cmd *cobra.Command, filter queue.Filter, total int) error {
	bar := printer.NewProgress(cmd.ErrOrStderr()).Start("Canceling", total).Of("job", "jobs")
	canceled := 0
	filter.Limit = batchSize
	for {
		n, err := h.Queue.CancelAll(ctx, filter)
		canceled += n
		if bar.Set(canceled); n == 0 || err != nil {
			bar.Done()
			_, printed := fmt.Fprintf(cmd.OutOrStdout(), "%s canceled\n", printer.Count(canceled, "job", "jobs"))
			return errors.Join(err, printed)
		}
	}
}

// A retried counts what became of the jobs of jobs retry.
type retried struct{ queued, keyTaken, final int }

// retryMany retries all jobs of the filter, newest first, and lets be those that cannot be.
func retryMany(ctx context.Context, h *app.App, cmd *cobra.Command, filter queue.Filter, total int) error {
	bar := printer.NewProgress(cmd.ErrOrStderr()).Start("Retrying", total).Of("job", "jobs")
	var r retried
	filter.Limit = batchSize
	for seen := 0; ; {
		jobs, err := h.Queue.Jobs(ctx, filter)
		for i := range jobs {
			if err != nil {
				break
			}
			filter.Before = jobs[i].ID
			err = r.retry(ctx, h, jobs[i].ID)
		}
		seen += len(jobs)
		if bar.Set(seen); len(jobs) < batchSize || err != nil {
			bar.Done()
			return errors.Join(err, r.print(cmd.OutOrStdout()))
		}
	}
}

func (r *retried) retry(ctx context.Context, h *app.App, id string) error {
	err := h.CheckRetry(ctx, id)
	if _, refused := errors.AsType[usage.Error](err); refused {
		r.final++
		return nil
	}
	if err == nil {
		err = h.Queue.Retry(ctx, id)
	}
	switch {
	case err == nil:
		r.queued++
	case errors.Is(err, queue.ErrKeyConflict):
		r.keyTaken++
	case errors.Is(err, queue.ErrNotFinished), errors.Is(err, queue.ErrFinished), errors.Is(err, queue.ErrJobNotFound):
		// It has changed since it was listed.
	default:
		return err
	}
	return nil
}

func (r *retried) print(out io.Writer) error {
	text := printer.Count(r.queued, "job is", "jobs are") + " to be run again"
	if r.queued > 0 {
		text += command.CarriedOutLater
	}
	if r.keyTaken > 0 {
		text += "\n" + printer.Count(r.keyTaken, "job is", "jobs are") + " left, since another has taken the key"
	}
	if r.final > 0 {
		text += "\n" + printer.Count(r.final, "job is", "jobs are") + " left, since the action has ended for good"
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
