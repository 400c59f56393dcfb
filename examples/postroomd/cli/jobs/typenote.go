package jobs

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
)

// noteUnknownTypes prints a note for each unknown type without jobs, which may be mistyped. It is not an error:
// another program on the database may have registered the type.
func noteUnknownTypes(ctx context.Context, h *app.App, cmd *cobra.Command, types []string) error {
	for _, t := range types {
		if slices.Contains(app.JobTypes, t) {
			continue
		}
		jobs, err := h.Queue.Jobs(ctx, queue.Filter{Types: []string{t}, Limit: 1})
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			cmd.PrintErrf("no job has the type %s; %s\n", printer.Printable(t),
				suggest.Instead(t, app.JobTypes, "those of postroomd are"))
		}
	}
	return nil
}
