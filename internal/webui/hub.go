package webui

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"sync"
	"time"
)

// maxWatched bounds the distinct pages that are watched at once, not their watchers.
const maxWatched = 100

var (
	errTooMany = errors.New("too many pages are being watched; this one does not update by itself")
	errClosed  = errors.New("the server is shutting down")
)

// idleShare bounds the cost of a page: after reading it, the hub waits this many times the duration of the read. A slow
// page, such as a list by a tag that no job has, is read less often.
const idleShare = 10

// A Hub renders each watched page once in each interval, and sends it to its viewers when it has changed. It has one
// goroutine, and none without viewers.
type Hub struct {
	interval time.Duration
	render   func(ctx context.Context, page *url.URL) ([]byte, error)

	mu      sync.Mutex
	closed  bool
	watched map[string]*watched
	stop    context.CancelFunc // of the goroutine; nil if there is none
	running sync.WaitGroup
}

// A watched is a page and its viewers.
type watched struct {
	page    *url.URL
	sent    bool      // last, to its viewers
	last    []byte    // nil if it could not be read
	next    time.Time // when to read it again
	viewers map[*viewer]bool
}

// A viewer gets the latest state of a page. A slow viewer misses states in between.
type viewer struct {
	key  string
	news chan []byte // nil: the page cannot be read; closed if there will be no more
}

// NewHub makes a hub that renders the fragment of a page at most once in an interval. A page must depend on nothing but
// its URL, so that all its viewers can share it.
func NewHub(interval time.Duration, render func(context.Context, *url.URL) ([]byte, error)) *Hub {
	return &Hub{interval: interval, render: render, watched: make(map[string]*watched)}
}

func (h *Hub) join(page *url.URL) (*viewer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := &viewer{key: page.RequestURI(), news: make(chan []byte, 1)}
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

func (h *Hub) leave(v *viewer) {
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

func (h *Hub) end() {
	if h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

// Close ends the streams, and refuses new ones. It returns once nothing runs in the background any more.
func (h *Hub) Close() {
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

func (h *Hub) run(ctx context.Context) {
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

// read renders a page in the hub's goroutine, which alone uses next.
func (h *Hub) read(ctx context.Context, w *watched) {
	began := time.Now()
	if began.Before(w.next) {
		return
	}
	// A failed read is retried.
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

func (h *Hub) all() []*watched {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*watched, 0, len(h.watched))
	for _, w := range h.watched {
		all = append(all, w)
	}
	return all
}

func (h *Hub) publish(w *watched, fragment []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || (w.sent && bytes.Equal(w.last, fragment)) {
		return
	}
	w.sent, w.last = true, fragment
	for v := range w.viewers {
		select {
		case <-v.news: // the unread state is out of date
		default:
		}
		v.news <- fragment
	}
}
