package webui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	// keepAlive is the interval of messages on a quiet stream, so that a reader's departure is noticed.
	keepAlive = 15 * time.Second
	// writeWait is the time limit for one write to a reader.
	writeWait = 10 * time.Second
)

// ServeEvents streams the changes of a page to a viewer until it leaves or the hub is closed.
func (h *Hub) ServeEvents(w http.ResponseWriter, r *http.Request, page *url.URL) {
	viewer, err := h.join(page)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer h.leave(viewer)

	header := w.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("X-Accel-Buffering", "no") // otherwise nginx buffers the response
	s := stream{w: w, control: http.NewResponseController(w)}
	if err := s.send("retry: 3000\n\n"); err != nil {
		return
	}
	s.follow(r.Context(), viewer)
}

// A stream is one reader's connection.
type stream struct {
	w       io.Writer
	control *http.ResponseController
}

func (s *stream) follow(ctx context.Context, v *viewer) {
	quiet := time.NewTicker(keepAlive)
	defer quiet.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case fragment, open := <-v.news:
			if !open {
				return
			}
			err = s.send(event(fragment))
		case <-quiet.C:
			err = s.send(":\n\n")
		}
		if err != nil {
			return
		}
	}
}

func (s *stream) send(text string) error {
	// The server's own write timeout is for finite responses. Not every writer supports deadlines.
	if err := s.control.SetWriteDeadline(time.Now().Add(writeWait)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	return s.control.Flush()
}

// event formats a fragment as a server-sent event, in which a line end begins a new field.
func event(fragment []byte) string {
	if fragment == nil {
		return "event: stale\ndata: the page cannot be read now\n\n"
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(bytes.TrimSpace(fragment)))
	return "event: fragment\ndata: " + strings.ReplaceAll(text, "\n", "\ndata: ") + "\n\n"
}
