package jobcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A change is a command that changes one job, or all that its flags select.
type change struct {
	host       *Host
	verb, done string        // "cancel", "canceled"
	from       []queue.State // states of jobs that it can change
	usual      []queue.State // those that it changes without --state
	most       int           // bound of --batch
	check      func() error  // of the command's own flags; may be nil
	// one changes a job and prints what became of it; nil: as all does. all changes the selected jobs.
	one func(ctx context.Context, s *Session, cmd *cobra.Command, id string) error
	all func(ctx context.Context, s *Session, sel queueadmin.Selection, cfg *queueadmin.BulkConfig) (
		queueadmin.BulkResult, error)
	// print prints what became of the selected jobs; nil: their number.
	print func(cmd *cobra.Command, done queueadmin.BulkResult) error

	flags selectFlags
	yes   bool
	batch int
}

// maxBatch is the bound of queueadmin.BulkConfig.Batch.
const maxBatch = 5000

// command makes the command. adds adds flags of its own.
func (c *change) command(short, long string, adds ...func(cmd *cobra.Command)) *cobra.Command {
	cmd := &cobra.Command{Use: c.verb + " [ID]", Short: short, Long: long, Args: cobra.MaximumNArgs(1)}
	open := c.host.Place(cmd)
	c.flags.add(cmd, c.from, c.host.All)
	if c.host.All {
		c.flags.addAll(cmd)
		cmd.Flags().IntVar(&c.batch, "batch", 0, "how many jobs one transaction changes (default 1000; of retry 100)")
	}
	cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask before many jobs are changed")
	for _, add := range adds {
		add(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		sel, err := c.selection(args)
		if err == nil {
			err = c.checkFlags(cmd)
		}
		if err != nil {
			return err
		}
		return open(cmd, true, func(ctx context.Context, s *Session) error {
			if len(args) == 1 {
				return c.changeOne(ctx, s, cmd, args[0])
			}
			total, err := c.confirm(ctx, s, cmd, sel)
			if err != nil {
				return err
			}
			return c.changeAll(ctx, s, cmd, sel, total)
		})
	}
	return cmd
}

// checkFlags finds what is wrong before anybody is asked.
func (c *change) checkFlags(cmd *cobra.Command) error {
	if most := cmp.Or(c.most, maxBatch); cmd.Flags().Changed("batch") && (c.batch < 1 || c.batch > most) {
		return usage.Errorf("--batch is %d; it must be within 1 and %d", c.batch, most)
	}
	if c.check == nil {
		return nil
	}
	return c.check()
}

// selection returns what the flags select; the error is that they select nothing, or beside an id.
func (c *change) selection(args []string) (queueadmin.Selection, error) {
	if err := c.flags.empty(); err != nil {
		return queueadmin.Selection{}, err
	}
	switch chooses := c.flags.chooses(); {
	case len(args) == 1 && (chooses || len(c.flags.states) > 0):
		return queueadmin.Selection{}, usage.Errorf("give a job's id or flags that select jobs, not both")
	case len(args) == 0 && !chooses:
		return queueadmin.Selection{}, usage.Errorf(
			"give a job's id, see \"%s list\"; or flags that select jobs, such as --type %s", c.host.Name, c.example())
	}
	sel, err := c.flags.selection(c.from, "to "+c.verb+" there are only")
	if len(sel.States) == 0 {
		sel.States = c.usual
	}
	return sel, err
}

func (c *change) example() string {
	if len(c.host.Types) > 0 {
		return c.host.Types[0]
	}
	return "greet"
}

func (c *change) changeOne(ctx context.Context, s *Session, cmd *cobra.Command, typed string) error {
	id, err := c.host.resolve(ctx, s, typed, " --state "+strings.Join(cmdline.Texts(c.usual), ","))
	if err != nil {
		return err
	}
	if c.one != nil {
		return c.one(ctx, s, cmd, id)
	}
	done, err := c.all(ctx, s, queueadmin.Selection{JobIDs: []string{id}}, nil)
	if err == nil && done.Changed == 0 {
		err = c.unchanged(ctx, s, id)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: %s\n", id, c.done)
	return err
}

// unchanged is why a job was left as it is.
func (c *change) unchanged(ctx context.Context, s *Session, id string) error {
	job, err := s.Queue.Job(ctx, id)
	if err != nil {
		return err
	}
	if slices.Contains(c.from, job.State) {
		return usage.Errorf("job %s is left as it is: it is as asked for already, or is held by %s%s", id,
			"a move to another database or by a flow that has not ended", c.why(ctx, s, id))
	}
	return usage.Errorf("job %s is left as it is: it is %s, and only jobs that are %s can be %s", id, job.State,
		strings.Join(cmdline.Texts(c.from), " or "), c.done)
}

// why is the first reason why a queued job does not run.
func (c *change) why(ctx context.Context, s *Session, id string) string {
	e, err := queueadmin.Explain(ctx, s.Queue, id)
	if err != nil || e.Job.State != queue.StateQueued || len(e.Reasons) == 0 {
		return ""
	}
	return "; " + e.Reasons[0].Text
}

// confirm shows how many jobs of which types and states are selected, asks, and returns their number.
func (c *change) confirm(
	ctx context.Context, s *Session, cmd *cobra.Command, sel queueadmin.Selection,
) (int, error) {
	total, text, err := c.count(ctx, s, sel)
	if err != nil {
		return 0, err
	}
	if total == 0 {
		return 0, c.host.noteUnknownTypes(ctx, s, cmd, sel.Types)
	}
	if _, err := fmt.Fprint(cmd.OutOrStdout(), text); err != nil || c.yes {
		return total, err
	}
	answer := make(chan error, 1)
	go func() { // ends with the program if nobody answers
		answer <- cmdline.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), cmdline.Question{
			Text: c.verb + " " + printer.Count(total, "job", "jobs") + "?", Refused: "no job was " + c.done,
		})
	}()
	select {
	case err := <-answer:
		return total, err
	case <-ctx.Done():
		return total, ctx.Err()
	}
}

func (c *change) count(
	ctx context.Context, s *Session, sel queueadmin.Selection,
) (total int, text string, err error) {
	groups := sel.Types
	if len(groups) == 0 {
		groups = []string{""}
	}
	var b strings.Builder
	for _, jobType := range groups {
		name := jobType
		if sel.Types = []string{jobType}; jobType == "" {
			if sel.Types, name = nil, "selected"; sel.Key != "" {
				name = "key " + sel.Key
			}
		}
		counts, err := queueadmin.Count(ctx, s.Queue, sel)
		if err != nil {
			return 0, "", err
		}
		var kinds []string
		for _, state := range sel.States {
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

func (c *change) changeAll(
	ctx context.Context, s *Session, cmd *cobra.Command, sel queueadmin.Selection, total int,
) error {
	bar := printer.NewProgress(cmd.ErrOrStderr()).Start(strings.ToUpper(c.verb[:1])+c.verb[1:], total).Of("job", "jobs")
	done, err := c.all(ctx, s, sel, &queueadmin.BulkConfig{Batch: c.batch,
		Progress: func(done queueadmin.BulkResult) { bar.Set(done.Selected) }})
	bar.Done()
	if c.print != nil {
		return errors.Join(err, c.print(cmd, done))
	}
	_, printed := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", printer.Count(done.Changed, "job", "jobs"), c.done)
	return errors.Join(err, printed)
}
