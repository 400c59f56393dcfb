package queueui

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
)

// Config configures a dashboard. The zero Config uses the defaults.
type Config struct {
	// Title is the name of the queue on the pages. Default: "Queue".
	Title string
	// Prefix is the path under which the handler is mounted, such as "/jobs", for hosts that do not remove it with
	// [http.StripPrefix]. Default: none.
	Prefix string
	// Interval is the interval at which a watched page is read again. Default 2 s; at least 100 ms.
	Interval time.Duration
	// ReadOnly hides and refuses all actions.
	ReadOnly bool
	// HidePayloads leaves out payloads, results, cursors and the attributes of log lines. Errors and messages are
	// shown: their content is up to the handlers.
	HidePayloads bool
	// Links are further pages of the host in the header. Default: none.
	Links []Link
	// LinksOf returns those that a page has besides Links, which may change from one request to the next. Default: none.
	LinksOf func(r *http.Request) []Link
	// Authorize is called before every page and every action. An error refuses the request, and its text is shown. The
	// path of its request is relative to the mount; for the stream of a page's changes it is called twice, with the path
	// /events and with that of the page. Default: everything is permitted.
	Authorize func(r *http.Request, action Action) error
	// Logger logs errors, and actions of people. Default: slog.Default(); to disable it, use a logger on
	// slog.DiscardHandler.
	Logger *slog.Logger
}

// A Link is a link to a page of the host.
type Link struct {
	Text string
	// Path is its address relative to the mount of the dashboard.
	Path string
	// Post makes it a button that sends a POST there, for what a person does. Default: a link.
	Post bool
}

// An Action is a kind of request, for [Config.Authorize].
type Action string

// The actions.
const (
	ActionView   Action = "view"
	ActionRetry  Action = "retry"
	ActionCancel Action = "cancel"
	ActionPause  Action = "pause" // or resume: types, limit keys and schedules
	// ActionOperate is to set limits, fire schedules, and give back the jobs of dead workers.
	ActionOperate Action = "operate"
	ActionFlow    Action = "flow" // retry or cancel a flow, which is the id of the path
)

const minInterval = 100 * time.Millisecond

func (c *Config) withDefaults() (Config, error) {
	var cfg Config
	if c != nil {
		cfg = *c
	}
	if cfg.Title == "" {
		cfg.Title = "Queue"
	}
	if cfg.Interval == 0 {
		cfg.Interval = 2 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	switch {
	case cfg.Interval < minInterval:
		return cfg, fmt.Errorf("queueui: Config.Interval is %v; it must be at least %v", cfg.Interval, minInterval)
	case cfg.Prefix != "" && (cfg.Prefix[0] != '/' || path.Clean(cfg.Prefix) != cfg.Prefix || cfg.Prefix == "/"):
		return cfg, fmt.Errorf("queueui: Config.Prefix is %q; it must begin with a slash and not end with one, as in /jobs",
			cfg.Prefix)
	}
	return cfg, nil
}

// A Handler is a dashboard. It is safe for concurrent use.
type Handler struct {
	q     *queue.Queue
	cfg   Config
	pages *http.ServeMux
	serve http.Handler
	hub   *webui.Hub
	look  *looker
}

// New makes a dashboard of a queue. cfg may be nil.
func New(q *queue.Queue, cfg *Config) (*Handler, error) {
	if q == nil {
		return nil, errors.New("queueui: the Queue is nil: make one with queue.New")
	}
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{q: q, cfg: c, look: &looker{q: q, log: c.Logger, interval: c.Interval}}
	h.hub = webui.NewHub(c.Interval, h.fragment)
	h.route()
	return h, nil
}

// ServeHTTP serves the dashboard.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.serve.ServeHTTP(w, r) }

// Close ends the streams of events, and refuses new ones. Pages are still served. It returns once nothing runs in the
// background any more.
func (h *Handler) Close() {
	h.look.close()
	h.hub.Close()
}

func (h *Handler) route() {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", h.allowed(ActionView, h.view(h.overview)))
	mux.Handle("GET /jobs", h.allowed(ActionView, h.view(h.jobs)))
	mux.Handle("GET /jobs/{id}", h.allowed(ActionView, h.view(h.job)))
	mux.Handle("GET /flows", h.allowed(ActionView, h.view(h.flows)))
	mux.Handle("GET /flows/{id}", h.allowed(ActionView, h.view(h.flow)))
	mux.Handle("GET /find", h.allowed(ActionView, http.HandlerFunc(h.find)))
	mux.Handle("GET /events", h.allowed(ActionView, http.HandlerFunc(h.events)))
	mux.Handle("POST /jobs/{id}/retry", h.changing(ActionRetry, h.retry))
	mux.Handle("POST /jobs/{id}/cancel", h.changing(ActionCancel, h.cancel))
	mux.Handle("POST /jobs/retry", h.changing(ActionRetry, h.retryAll))
	mux.Handle("POST /jobs/cancel", h.changing(ActionCancel, h.cancelAll))
	mux.Handle("POST /pause", h.changing(ActionPause, h.pause))
	mux.Handle("POST /resume", h.changing(ActionPause, h.resume))
	mux.Handle("POST /flows/{id}/retry", h.changing(ActionFlow, h.retryFlow))
	mux.Handle("POST /flows/{id}/cancel", h.changing(ActionFlow, h.cancelFlow))
	mux.Handle("POST /limit", h.changing(ActionOperate, h.limit))
	mux.Handle("POST /fire", h.changing(ActionOperate, h.fire))
	mux.Handle("POST /release", h.changing(ActionOperate, h.release))
	mux.Handle("GET /static/", webui.Static(staticFiles))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { h.unknown(w, r) })
	h.pages = mux
	h.serve = webui.Secured(http.HandlerFunc(h.enter))
	if h.cfg.Prefix != "" {
		h.serve = http.StripPrefix(h.cfg.Prefix, h.serve)
	}
}

// enter refuses requests that another site makes a browser send. It redirects requests without the last slash of the
// mount: links are relative to that.
func (h *Handler) enter(w http.ResponseWriter, r *http.Request) {
	if err := webui.CheckOrigin(r); err != nil {
		h.problem(w, r, http.StatusForbidden, "Refused", webui.OtherSite)
		return
	}
	if r.URL.Path == "" {
		if original, err := url.ParseRequestURI(r.RequestURI); err == nil && !strings.HasSuffix(original.Path, "/") {
			webui.Redirect(w, path.Base(original.Path)+"/")
			return
		}
	}
	if !strings.HasPrefix(r.URL.Path, "/") { // a StripPrefix has removed it
		rooted, at := *r, *r.URL
		at.Path = "/" + at.Path
		rooted.URL, r = &at, &rooted
	}
	h.pages.ServeHTTP(w, r)
}

func (h *Handler) unknown(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.problem(w, r, http.StatusMethodNotAllowed, "Not possible", "Nothing here can be changed that way.")
		return
	}
	h.problem(w, r, http.StatusNotFound, "Page not found", "There is no such page: "+r.URL.Path+
		". The address may be mistyped, or the dashboard mounted without http.StripPrefix or Config.Prefix.")
}

func (h *Handler) allowed(action Action, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.cfg.Authorize != nil {
			if err := h.cfg.Authorize(r, action); err != nil {
				h.problem(w, r, http.StatusForbidden, "Not allowed", err.Error())
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) changing(action Action, next http.HandlerFunc) http.Handler {
	if h.cfg.ReadOnly {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.problem(w, r, http.StatusForbidden, "Read-only", "This dashboard shows jobs and does not change them.")
		})
	}
	return h.allowed(action, next)
}

// A builder makes the view of a URL. It must depend on nothing else, so that all viewers of a URL can share it.
type builder func(ctx context.Context, u *url.URL) (*view, error)

func (h *Handler) view(build builder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := inZone(r)
		v, err := build(r.Context(), at)
		if err != nil {
			h.failed(w, r, err)
			return
		}
		v.zone = zoneOf(at)
		h.page(w, r, http.StatusOK, v)
	})
}

// fragment renders the changing part of a page for its viewers.
func (h *Handler) fragment(ctx context.Context, u *url.URL) ([]byte, error) {
	v, err := h.builder(u)(ctx, u)
	if err != nil {
		return nil, err
	}
	v.zone = zoneOf(u)
	return h.content(v, webui.Root(u.Path))
}

func (h *Handler) builder(u *url.URL) builder {
	switch {
	case u.Path == "/":
		return h.overview
	case u.Path == "/jobs":
		return h.jobs
	case u.Path == "/flows":
		return h.flows
	case strings.HasPrefix(u.Path, "/flows/"):
		return h.flow
	default:
		return h.job
	}
}
