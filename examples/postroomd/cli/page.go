package cli

import (
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

func pageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "page",
		Short: "Print an address that signs in to the page",
		Long: `Print an address that signs a browser in to the page of the postroomd that runs here. It works once; run
the command again for another browser.`,
		Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := place.Existing(cmd)
		if err != nil {
			return err
		}
		address, err := s.Folder.Page()
		switch {
		case err != nil:
			return err
		case s.Folder == "":
			return usage.Errorf("without a data folder only the log of 'postroomd run' has the address; set paths.data")
		case !isServed(cmd, address):
			return usage.Errorf("no postroomd serves the page of %s now: start 'postroomd run', or 'postroomd demo' with "+
				"--dashboard", string(s.Folder))
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), address)
		return err
	}
	return cmd
}

// isServed reports whether somebody listens at the address: one that was killed has left it behind.
func isServed(cmd *cobra.Command, address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(cmd.Context(), "tcp", u.Host)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
