// Package browsertest opens pages in a real browser, for tests.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/costtest"
)

// NewTab opens a tab of a headless Chromium, with cookies and storage of its own, that is closed at the end of the
// test, or after five minutes. Without Chromium the test is skipped, except under CI, where it fails. Under the race
// detector it is skipped as well, with what follows of its test: most of that time is the browser's. CI runs it
// without.
func NewTab(t *testing.T) context.Context {
	t.Helper()
	costtest.SkipUnderRace(t)
	path := Chromium(t)
	if shared.on {
		browser, err := shared.open(path)
		require.NoError(t, err)
		ctx, stop := context.WithTimeout(browser, longest)
		t.Cleanup(stop)
		ctx, closeTab := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
		t.Cleanup(closeTab)
		return ctx
	}
	ctx, stop := context.WithTimeout(context.Background(), longest)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx, options(path, t.TempDir())...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	return ctx
}

// longest is how long a tab is open at most.
const longest = 5 * time.Minute

func options(path, folder string) []chromedp.ExecAllocatorOption {
	return append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(folder),
		chromedp.NoSandbox, // nothing is loaded but the test's own pages, and root has no sandbox
		chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		// Pages are open too briefly for what the compilers of scripts find out to pay.
		chromedp.Flag("js-flags", "--no-opt --no-maglev"),
	)
}

// Chromium returns the path of the browser. If there is none, the test is skipped, except under CI, where it fails.
// Chromium's headless shell comes first: it draws the same pages in half of the time.
func Chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	message := "pages are not tested in a browser: install Chromium, as by apt-get install chromium-headless-shell"
	if os.Getenv("CI") != "" {
		require.Fail(t, message)
	}
	t.Skip(message)
	return ""
}

// Until evaluates an expression repeatedly until it is true, also on following pages, and on pages without scripts.
func Until(tab context.Context, t *testing.T, expression string) {
	t.Helper()
	require.Eventually(t, func() bool {
		value, err := chromedp.Run(tab, chromedp.Evaluate[bool](expression))
		return err == nil && value
	}, 5*time.Minute, 20*time.Millisecond, expression)
}
