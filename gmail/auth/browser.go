package auth

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"time"
)

// openTimeout bounds the wait for the command that opens a browser to fail.
var openTimeout = 3 * time.Second

// OpenBrowser opens the address in the person's browser, for LoginConfig.Open. It returns when the command that
// starts the browser ends, or after 3 seconds: without a desktop that command is the browser itself. On a machine
// without a screen it returns an error; print the address instead.
func OpenBrowser(ctx context.Context, address string) error {
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("auth: open a browser: %q is not an http or https address", address)
	}
	name, args := opener(runtime.GOOS)
	command := exec.CommandContext(context.WithoutCancel(ctx), name, append(args, address)...) //nolint:gosec // a web address, checked above
	if err := command.Start(); err != nil {
		return fmt.Errorf("auth: open a browser with %s: %w", name, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	timer := time.NewTimer(openTimeout)
	defer timer.Stop()
	select {
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("auth: open a browser with %s: %w", name, err)
		}
		return nil
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("auth: open a browser with %s: %w", name, context.Cause(ctx))
	}
}

// opener returns the program that opens addresses.
func opener(system string) (name string, args []string) {
	switch system {
	case "windows":
		return "rundll32", []string{"url.dll,FileProtocolHandler"}
	case "darwin":
		return "open", nil
	}
	return "xdg-open", nil
}
