package schedulecmd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue"
)

// edits are what the flags of the command edit change.
type edits struct {
	cron, zone, catchUp, payload string
	priority                     int
}

func edit(place placer) *cobra.Command {
	cmd := &cobra.Command{Use: "edit NAME", Args: cobra.ExactArgs(1),
		Short: "Change when a schedule fires, or its job",
		Long: "Change when a schedule fires, or its job. What no flag names stays. A program that sets its schedules when it starts sets\n" +
			"this one back."}
	open := place(cmd)
	var e edits
	cmd.Flags().StringVar(&e.cron, "cron", "", `when it fires, as "0 7 * * MON" or "@every 90m"`)
	cmd.Flags().StringVar(&e.zone, "zone", "", "the time zone of --cron, such as Europe/Berlin")
	cmd.Flags().StringVar(&e.catchUp, "catch-up", "", "what is done about missed instants: once, skip or all")
	cmd.Flags().StringVar(&e.payload, "payload", "", "the payload of the job, as JSON")
	cmd.Flags().IntVar(&e.priority, "priority", 0, "the priority of the job")
	cmd.MarkFlagsOneRequired("cron", "zone", "catch-up", "payload", "priority")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := e.check(cmd); err != nil {
			return err
		}
		return open(cmd, true, func(ctx context.Context, s *jobcmd.Session) error {
			all, err := s.Queue.Schedules(ctx)
			if err != nil {
				return err
			}
			at := slices.IndexFunc(all, func(s queue.StoredSchedule) bool { return s.Name == args[0] })
			if at < 0 {
				return usage.Errorf("there is no schedule %s; 'queuectl schedules list' lists them", args[0])
			}
			edited := all[at].Schedule
			e.apply(cmd, &edited)
			if err := s.Queue.SetSchedule(ctx, edited); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "schedule %s: changed\n", args[0])
			return err
		})
	}
	return cmd
}

// check refuses flags without a value, which would leave what they name as it is.
func (e *edits) check(cmd *cobra.Command) error {
	for _, flag := range []struct{ name, value, such string }{
		{"cron", e.cron, "when it fires"}, {"zone", e.zone, "a time zone, such as UTC"},
		{"catch-up", e.catchUp, "once, skip or all"}, {"payload", e.payload, "JSON, such as null"},
	} {
		if cmd.Flags().Changed(flag.name) && flag.value == "" {
			return usage.Errorf("--%s has no value; leave it out, or give %s", flag.name, flag.such)
		}
	}
	if e.payload != "" && !json.Valid([]byte(e.payload)) {
		return usage.Errorf("--payload is not JSON")
	}
	return nil
}

func (e *edits) apply(cmd *cobra.Command, s *queue.Schedule) {
	if e.cron != "" {
		s.Cron = e.cron
	}
	if e.zone != "" {
		s.Zone = e.zone
	}
	if e.catchUp != "" {
		s.CatchUp = queue.CatchUp(e.catchUp)
	}
	if e.payload != "" {
		s.Job.Payload = json.RawMessage(e.payload)
	}
	if cmd.Flags().Changed("priority") {
		s.Job.Priority = e.priority
	}
}
