package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages, one for each command, into a folder",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o750); err != nil {
				return err
			}
			header := &doc.GenManHeader{Section: "1", Source: "Postroom " + telemetry.Version(), Manual: "Postroom"}
			cmd.Root().DisableAutoGenTag = true
			if err := doc.GenManTree(cmd.Root(), header, args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "written; to read: man -l %s/postroomd.1\n", args[0])
			return err
		},
	}
}
