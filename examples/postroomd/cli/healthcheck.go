package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

// healthcheckCommand is for containers, which run a program inside to check their health.
func healthcheckCommand() *cobra.Command {
	var from command.ConfigFlags
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the postroomd that runs on this machine for its health; fail unless it is healthy",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := from.Load(cmd)
			if err != nil {
				return err
			}
			port := l.Config.App.Port
			if port == 0 {
				return usage.Errorf(
					"app.port is 0: postroomd listens on a port that the system chooses, which nobody else knows; set app.port")
			}
			address := "http://" + l.Config.App.OwnAddress() + "/healthz"
			request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, address, nil)
			if err != nil {
				return err
			}
			request.Host = "127.0.0.1" // it is asked from inside, wherever it listens
			answer, err := (&http.Client{Timeout: 2 * app.ProbeTimeout,
				Transport: &http.Transport{Proxy: nil, IdleConnTimeout: time.Second}}).Do(request)
			if err != nil {
				return fmt.Errorf("%w; no postroomd runs with app.port %d", err, port)
			}
			body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
			if err := errors.Join(err, answer.Body.Close()); err != nil {
				return err
			}
			var said view.Health
			if json.Unmarshal(body, &said) != nil || said.Status == "" || said.Database == "" {
				return fmt.Errorf("what listens on app.port %d is no postroomd: it answers %s; stop it, or set another port",
					port, answer.Status)
			}
			if _, err := cmd.OutOrStdout().Write(body); err != nil {
				return err
			}
			if answer.StatusCode != http.StatusOK {
				return fmt.Errorf("it is not healthy: %s", answer.Status)
			}
			return nil
		},
	}
	from.Register(cmd)
	return cmd
}
