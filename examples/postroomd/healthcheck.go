package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthcheckCommand is for containers, which run a program inside to check their health.
func healthcheckCommand() *cobra.Command {
	var from configFlags
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the postroomd that runs on this machine for its health; fail unless it is healthy",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := from.load(cmd)
			if err != nil {
				return err
			}
			address := fmt.Sprintf("http://127.0.0.1:%d/healthz", l.Config.App.Port)
			request, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, address, nil)
			if err != nil {
				return err
			}
			answer, err := (&http.Client{Timeout: 2 * probePatience, Transport: &http.Transport{Proxy: nil, IdleConnTimeout: time.Second}}).Do(request)
			if err != nil {
				return fmt.Errorf("%w; no postroomd runs with app.port %d", err, l.Config.App.Port)
			}
			_, err = io.Copy(cmd.OutOrStdout(), io.LimitReader(answer.Body, 1<<16))
			err = errors.Join(err, answer.Body.Close())
			if err == nil && answer.StatusCode != http.StatusOK {
				err = fmt.Errorf("it is not healthy: %s", answer.Status)
			}
			return err
		},
	}
	from.register(cmd)
	return cmd
}
