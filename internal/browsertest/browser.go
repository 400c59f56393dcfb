package browsertest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// A Browser is a tab of a headless Chromium.
type Browser struct {
	*testing.T
	ctx context.Context //nolint:containedctx // the tab is one

	mu       sync.Mutex
	problems []string // what stands on the console
	asked    []string // the addresses that pages have asked for
}

// Browse opens a tab of a usual size.
func Browse(t *testing.T) *Browser {
	t.Helper()
	ctx := NewTab(t)
	b := &Browser{T: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	Call(b, log.Enable, cdp.Empty{})
	Call(b, network.Enable, network.EnableParams{})
	b.Size(1280, 900)
	return b
}

// listen keeps errors, exceptions and what the content security policy has refused.
func (b *Browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// The headless shell posts to frames that are apart; no script of a page does.
		if !strings.HasPrefix(e.Entry.Text, "Failed to execute 'postMessage'") {
			b.problems = append(b.problems, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.problems = append(b.problems, string(e.Type))
	}
}

// Do runs actions.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	require.NoError(b, chromedp.Do(b.ctx, actions...))
}

// Call speaks the browser's protocol.
func Call[P, R any](b *Browser, command cdp.Command[P, R], params P) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, command, params)
	require.NoError(b, err)
}

// Open opens a page.
func (b *Browser) Open(url string) {
	b.Helper()
	b.Do(chromedp.Navigate(url))
}

// Size sets the size of the window.
func (b *Browser) Size(width, height int64) {
	b.Helper()
	b.Do(chromedp.EmulateViewport(width, height))
}

// Scheme sets what the reader prefers: light or dark.
func (b *Browser) Scheme(name string) {
	b.Helper()
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
	})
}

// Eval is the value of an expression in the page.
func Eval[T any](b *Browser, expression string) T {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	require.NoError(b, err, expression)
	return value
}

// Until waits for an expression in the page to become true, also on the page that comes after this one.
func (b *Browser) Until(expression string) {
	b.Helper()
	var err error
	for b.ctx.Err() == nil {
		if _, err = chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void](expression,
			chromedp.WithPollingTimeout(5*time.Minute))); err == nil {
			return
		}
		if errors.Is(err, chromedp.ErrPollingTimeout) {
			break
		}
	}
	require.NoError(b, err, "%s; the page says: %s", expression, Eval[string](b, "document.body.innerText"))
}

// UntilAsked is Until for pages that run no scripts: it asks again and again.
func (b *Browser) UntilAsked(expression string) {
	b.Helper()
	Until(b.ctx, b.T, expression)
}

// Press hits keys, one after the other.
func (b *Browser) Press(keys ...string) {
	b.Helper()
	for _, key := range keys {
		b.Do(chromedp.KeyEvent(key))
	}
}

// Click clicks with the mouse on what the selector names, and brings it into view before.
func (b *Browser) Click(selector string) {
	b.Helper()
	at := Eval[[]float64](b, `(() => {
  const e = document.querySelector(`+strconv.Quote(selector)+`);
  e.scrollIntoView({ block: "nearest", behavior: "instant" });
  const r = e.getBoundingClientRect();
  return [r.left + r.width / 2, r.top + r.height / 2];
})()`)
	b.Do(chromedp.MouseClickXY(at[0], at[1]))
}

// TabTo goes from one thing that takes the focus to the next, until it is the one that the selector names.
func (b *Browser) TabTo(selector string) {
	b.Helper()
	for range 60 {
		if Eval[bool](b, "document.activeElement.matches("+strconv.Quote(selector)+")") {
			return
		}
		b.Press(kb.Tab)
		require.NotEqual(b, "none", Eval[string](b, "getComputedStyle(document.activeElement).outlineStyle"),
			"the focus is to be seen")
	}
	b.Fatalf("%s is not reached by the tabulator key", selector)
}

// Quiet checks that the page had nothing to complain of.
func (b *Browser) Quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b, b.problems)
}

// Pale is an expression that lists the text in the page whose contrast with its ground is less than 4.5.
const Pale = `(() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const known = new Map(); // a page has few colors
  const rgba = (color) => {
    if (!known.has(color)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = color;
      context.fillRect(0, 0, 1, 1);
      known.set(color, context.getImageData(0, 0, 1, 1).data);
    }
    return known.get(color);
  };
  const luminance = (color) => {
    const [r, g, b] = [...rgba(color)].slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    while (e && rgba(getComputedStyle(e).backgroundColor)[3] < 255) e = e.parentElement;
    return getComputedStyle(e || document.body).backgroundColor;
  };
  const found = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    const [a, b] = [luminance(getComputedStyle(e).color), luminance(ground(e))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(e.outerHTML.slice(0, 80) + " " + contrast.toFixed(2));
  }
  return found;
})()`

// Elsewhere are the addresses outside of base that pages have asked for. It fails if none was asked for at all.
func (b *Browser) Elsewhere(base string) []string {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.NotEmpty(b, b.asked)
	return slices.DeleteFunc(slices.Clone(b.asked), func(url string) bool { return strings.HasPrefix(url, base) })
}
