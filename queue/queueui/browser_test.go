package queueui_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
)

// A browser is a tab of a headless Chromium.
type browser struct {
	*testing.T
	ctx context.Context //nolint:containedctx // the tab is one

	mu       sync.Mutex
	problems []string // what stands on the console
}

// browse opens a tab of a usual size.
func browse(t *testing.T) *browser {
	t.Helper()
	ctx := browsertest.NewTab(t)
	b := &browser{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	call(b, log.Enable, cdp.Empty{})
	b.size(1280, 900)
	return b
}

// listen keeps errors, exceptions and what the content security policy has refused.
func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.problems = append(b.problems, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, string(e.Type))
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, actions...))
}

// call speaks the browser's protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b, err)
}

func (b *browser) open(url string) {
	b.Helper()
	b.do(chromedp.Navigate(url))
}

func (b *browser) size(width, height int64) {
	b.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

func (b *browser) scheme(name string) {
	b.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// eval is the value of an expression in the page.
func eval[T any](b *browser, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b, err, expression)
	return value
}

// until waits for an expression in the page to become true, also on the page that comes after this one.
func (b *browser) until(expression string) {
	b.Helper()
	var err error
	for b.ctx.Err() == nil {
		if _, err = chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](expression,
			chromedp.WithPollingTimeout(20*time.Second))); err == nil {
			return
		}
		if errors.Is(err, chromedp.ErrPollingTimeout) {
			break
		}
	}
	require.NoError(b, err, "%s; the page says: %s", expression, eval[string](b, "document.body.innerText"))
}

// untilAsked is until for pages that run no scripts: it asks again and again.
func (b *browser) untilAsked(expression string) {
	b.Helper()
	browsertest.Until(b.ctx, b.T, expression)
}

// press hits keys, one after the other.
func (b *browser) press(keys ...string) {
	b.Helper()
	for _, key := range keys {
		b.do(chromedp.KeyEvent(key))
	}
}

// tabTo goes from one thing that takes the focus to the next, until it is the one that the selector names.
func (b *browser) tabTo(selector string) {
	b.Helper()
	for range 60 {
		if eval[bool](b, "document.activeElement.matches("+strconv.Quote(selector)+")") {
			return
		}
		b.press(kb.Tab)
		require.NotEqual(b, "none", eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"),
			"the focus is to be seen")
	}
	b.Fatalf("%s is not reached by the tabulator key", selector)
}

// quiet checks that the page had nothing to complain of.
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.problems)
}

// picture writes what is to be seen into the folder that QUEUEUI_PICTURES names, for people to look at.
func (b *browser) picture(name string) {
	b.Helper()
	folder := os.Getenv("QUEUEUI_PICTURES")
	if folder == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o600))
}
