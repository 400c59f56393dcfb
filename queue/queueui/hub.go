package queueui

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"sync"
	"time"
)

// maxWatched bounds how many different pages are watched at once; how many watch each does not matter.
const maxWatched = 100

var (
	errTooMany = errors.New("too many pages are being watched; this one does not update by itself")
	errClosed  = errors.New("the server is shutting down")
)

// idleShare is how many times as long as it took to read a page it is left alone: one that is costly, such as a list by a
// tag that no job has, is read less often.
const idleShare = 10

// A hub makes each page that is watched anew once in each interval, and sends it to those who watch it when it has changed. It
// has one goroutine, and none while nobody watches.
type hub struct {
	interval time.Duration
	render   func(ctx context.Context, page *url.URL) ([]byte, error)

	mu      sync.Mutex
	closed  bool
	watched map[string]*watched
	stop    context.CancelFunc // of the goroutine; nil without one
	running sync.WaitGroup
}

// A watched is a page and who watches it.
type watched struct {
	page    *url.URL
	sent    bool      // last, to its viewers
	last    []byte    // nil when it could not be read
	next    time.Time // when it is to be read again
	viewers map[*viewer]bool
}

// A viewer gets the latest state of a page; one that is slow misses those between.
type viewer struct {
	key  string
	news chan []byte // nil: the page cannot be read; closed when there will be no more
}

func newHub(interval time.Duration, render func(context.Context, *url.URL) ([]byte, error)) *hub {
	return &hub{interval: interval, render: render, watched: make(map[string]*watched)}
}

func (h *hub) join(page *url.URL) (*viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := &viewer{key: self(page), news: make(chan []byte, 1)}
	w := h.watched[v.key]
	switch {
	case h.closed:
		return nil, errClosed
	case w == nil && len(h.watched) >= maxWatched:
		return nil, errTooMany
	case w == nil:
		w = &watched{page: page, viewers: make(map[*viewer]bool)}
		h.watched[v.key] = w
	case w.sent:
		v.news <- w.last // the page may be older
	}
	w.viewers[v] = true
	if h.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		h.stop = stop
		h.running.Go(func() { h.run(ctx) })
	}
	return v, nil
}

func (h *hub) leave(v *viewer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.watched[v.key]
	if w == nil {
		return // closed
	}
	delete(w.viewers, v)
	if len(w.viewers) == 0 {
		delete(h.watched, v.key)
	}
	if len(h.watched) == 0 {
		h.end()
	}
}

func (h *hub) end() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	for key, w := range h.watched {
		for v := range w.viewers {
			close(v.news)
		}
		delete(h.watched, key)
	}
	h.end()
	h.mu.Unlock()
	h.running.Wait()
}

func (h *hub) run(ctx context.Context) {
	ticker := time.NewTicker(h.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, w := range h.all() {
				h.read(ctx, w)
			}
		}
	}
}

// read makes a page anew, in the hub's goroutine, the only one to look at next.
func (h *hub) read(ctx context.Context, w *watched) {
	began := time.Now()
	if began.Before(w.next) {
		return
	}
	// What cannot be read now is tried again.
	fragment, err := h.render(ctx, w.page)
	if err != nil {
		fragment = nil
	}
	if ctx.Err() == nil {
		h.publish(w, fragment)
	}
	now := time.Now()
	w.next = now.Add(idleShare * now.Sub(began))
}

func (h *hub) all() []*watched {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*watched, 0, len(h.watched))
	for _, w := range h.watched {
		all = append(all, w)
	}
	return all
}

func (h *hub) publish(w *watched, fragment []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || (w.sent && bytes.Equal(w.last, fragment)) {
		return
	}
	w.sent, w.last = true, fragment
	for v := range w.viewers {
		select {
		case <-v.news: // what nobody has taken is out of date
		default:
		}
		v.news <- fragment
	}
}
