package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/chromedp/chromedp"
)

// Tests are a *testing.M.
type Tests interface{ Run() int }

// Main wraps the tests of a package for goleak.VerifyTestMain: their tabs then share one browser, which is closed
// before goleak looks. Without Main each tab has a browser of its own, which takes a second of the processor.
func Main(m Tests) Tests { return sharing{m} }

type sharing struct{ Tests }

func (s sharing) Run() int {
	shared.on = true
	code := s.Tests.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "closing the browser of the tests:", err)
		code = max(code, 1)
	}
	return code
}

// shared is the browser of this process.
var shared sharedBrowser

type sharedBrowser struct {
	on bool

	mu     sync.Mutex
	folder string          // empty before the first tab
	ctx    context.Context //nolint:containedctx // the browser is one
	stop   func()
}

// open returns the context of the browser, which it starts for the first tab, and again if it has crashed.
func (s *sharedBrowser) open(path string) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		select {
		case <-chromedp.FromContext(s.ctx).Browser.LostConnection:
			if err := s.closeLocked(); err != nil {
				return nil, err
			}
		default:
			return s.ctx, nil
		}
	}
	folder, err := os.MkdirTemp("", "postroom-chromium-")
	if err != nil {
		return nil, err
	}
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options(path, folder)...)
	ctx, closeTab := chromedp.NewContext(ctx)
	s.folder, s.ctx, s.stop = folder, ctx, func() { closeTab(); stop() }
	if err := chromedp.Do(ctx); err != nil {
		return nil, errors.Join(err, s.closeLocked())
	}
	return ctx, nil
}

func (s *sharedBrowser) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeLocked()
}

func (s *sharedBrowser) closeLocked() error {
	if s.ctx == nil {
		return nil
	}
	s.stop()
	s.ctx = nil
	return os.RemoveAll(s.folder)
}
