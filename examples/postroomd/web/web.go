package web

import (
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/internal/webui"
)

// interval is the interval at which a watched page is read again.
const interval = 2 * time.Second

// maxForm bounds the body of a request: the text of the editor, as forms encode it.
const maxForm = 2 << 20

// streamLasts bounds a stream of events: who makes it is asked again as the browser comes back, which it does at once.
const streamLasts = 15 * time.Minute

// A Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	app    *app.App
	people access.People
	hub    *webui.Hub
	mux    *http.ServeMux
	serve  http.Handler

	streamLasts time.Duration
	previews    chan struct{} // holds one for each preview that reads mail now
	frames      chan struct{} // holds one for each mail that is made safe to show now
	applies     chan struct{} // holds one for each that counts what rules do to old mail, or applies them to it
	applying    sync.Map      // has the ids of the accounts to whose mail rules are applied now
	fetches     chan struct{} // holds one while a mail is fetched for its pictures
}

// What is done at once of what takes long; others wait.
const (
	maxPreviews = 2 // that read mail
	maxFrames   = 2
	maxApplies  = 2
)

// New makes the pages of an App, for the root of a server. The dashboard of its queue is expected at JobsPath.
// Each request carries who makes it, see package access.
func New(a *app.App) (*Handler, error) {
	people, err := access.ParsePeople(a.Env.Config.Web.People)
	if err != nil {
		return nil, err
	}
	h := &Handler{app: a, people: people, mux: http.NewServeMux(), streamLasts: streamLasts,
		previews: make(chan struct{}, maxPreviews), frames: make(chan struct{}, maxFrames),
		fetches: make(chan struct{}, 1), applies: make(chan struct{}, maxApplies)}
	h.hub = webui.NewHub(interval, h.fragment)
	for _, of := range h.routes() {
		h.mux.Handle(of.pattern, h.guarded(of))
	}
	h.serve = webui.Secured(http.HandlerFunc(h.enter))
	return h, nil
}

// JobsPath is where the dashboard of the queue is mounted, beside the pages.
const JobsPath = "/queue"

// ServeHTTP serves the pages.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.serve.ServeHTTP(w, r) }

// Close ends the streams of events. Pages are still served.
func (h *Handler) Close() { h.hub.Close() }

// enter refuses requests that another site makes a browser send.
func (h *Handler) enter(w http.ResponseWriter, r *http.Request) {
	if err := webui.CheckOrigin(r); err != nil {
		h.problem(w, r, http.StatusForbidden, "Refused", webui.OtherSite)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := parseForm(r); err != nil {
		h.unread(w, r, err)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// parseForm reads a form, also one with a file, before anybody asks what it is about.
func parseForm(r *http.Request) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		return r.ParseMultipartForm(maxForm) //nolint:gosec // ServeHTTP bounds the body, of which the body has no more: nothing is written to disk
	}
	return r.ParseForm()
}

// unread answers a form that cannot be read: none of its fields counts.
func (h *Handler) unread(w http.ResponseWriter, r *http.Request, err error) {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		h.problem(w, r, http.StatusRequestEntityTooLarge, "Too long",
			"The text is longer than a page may send, and nothing was changed. Go back, and shorten it, or edit the file.")
		return
	}
	h.problem(w, r, http.StatusBadRequest, "Not read",
		"The form could not be read, and nothing was changed: "+err.Error()+".")
}

func (h *Handler) unknown(w http.ResponseWriter, r *http.Request) {
	h.problem(w, r, http.StatusNotFound, "Page not found", "There is no such page: "+r.URL.Path+".")
}

// A builder makes the view of an address, which its viewers share.
type builder func(ctx context.Context, u *url.URL) (*view, error)

// live are the pages that change by themselves.
func (h *Handler) live(path string) (builder, bool) {
	switch path {
	case "/":
		return h.today, true
	case "/waiting":
		return h.waiting, true
	case "/drafts":
		return h.drafts, true
	case "/actions":
		return h.actions, true
	case "/agents":
		return h.agents, true
	}
	return nil, false
}

// showOne is show for the page of one thing, which the path names.
func (h *Handler) showOne(build func(ctx context.Context, r *http.Request) (*view, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.show(func(ctx context.Context, _ *url.URL) (*view, error) { return build(ctx, r) }).ServeHTTP(w, r)
	})
}

// show serves a page in the zone of its reader, which the script keeps in a cookie.
func (h *Handler) show(build builder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := inZone(r)
		v, err := build(r.Context(), u)
		if err != nil {
			h.failed(w, r, err)
			return
		}
		h.page(w, r, u, http.StatusOK, v)
	})
}

// inZone is the address of a request with the zone of its reader.
func inZone(r *http.Request) *url.URL {
	u := *r.URL
	query := u.Query()
	if c, err := r.Cookie(zoneCookie); err == nil && zone(c.Value) != time.UTC {
		query.Set(zoneParam, c.Value)
	}
	u.RawQuery = query.Encode()
	return &u
}

// fragment renders the changing part of a page for its viewers.
func (h *Handler) fragment(ctx context.Context, u *url.URL) ([]byte, error) {
	build, ok := h.live(u.Path)
	if !ok {
		return nil, errors.New("the page does not change")
	}
	ctx = h.viewer(ctx, u)
	v, err := build(ctx, u)
	if err != nil {
		return nil, err
	}
	f, err := h.frame(ctx, u, v)
	if err != nil {
		return nil, err
	}
	content, err := f.content()
	if err != nil {
		return nil, err
	}
	badge, err := f.execute("badge")
	return append(content, badge...), err
}

// events streams the changes of the named page.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	page := r.URL.Query().Get("page")
	u, err := url.ParseRequestURI(page)
	if err == nil && len(page) < 2000 {
		if _, ok := h.live(u.Path); ok {
			watchedBy(u, access.From(r.Context()))
			ctx, cancel := context.WithTimeout(r.Context(), h.streamLasts)
			defer cancel()
			h.hub.ServeEvents(w, r.WithContext(ctx), u)
			return
		}
	}
	http.Error(w, "This page does not change.", http.StatusBadRequest)
}

// back redirects from a POST to the page that the form names, with the name of what was done, and how often.
func back(w http.ResponseWriter, r *http.Request, done string, counts ...int) {
	to, err := url.ParseRequestURI(r.PostFormValue("from"))
	if err != nil || to.Host != "" || !strings.HasPrefix(to.Path, "/") || strings.HasPrefix(to.Path, "//") {
		to = &url.URL{Path: "/"}
	}
	query := to.Query()
	query.Set("done", done)
	query.Del("n")
	for _, n := range counts {
		query.Add("n", strconv.Itoa(n))
	}
	webui.Redirect(w, webui.Root(r.URL.Path)+strings.TrimPrefix(to.EscapedPath(), "/")+"?"+query.Encode())
}
