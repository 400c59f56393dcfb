package queueui

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

//go:embed templates
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"ago":      webui.Ago,
	"clock":    webui.Clock,
	"count":    webui.Count,
	"duration": webui.Duration,
	"fromNow":  fromNow,
	"instant":  webui.Instant,
	"iso":      webui.ISO,
	"mark":     func(s any) string { return mark(fmt.Sprint(s)) },
	"printable": func(s string) string {
		return webui.Printable(s, webui.MaxText)
	},
	"dict": dict,
	"line": func(s string) string { return webui.Printable(s, webui.MaxLine) },
}).ParseFS(templateFiles, "templates/*.html"))

// dict passes several named values to a template.
func dict(pairs ...any) map[string]any {
	values := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		values[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return values
}

// A view is one page: a template and its data.
type view struct {
	name  string
	title string
	live  string // the page's own address relative to the mount, for watching; empty if it does not change
	data  any
	zone  *time.Location // of the reader; nil: UTC
}

// A frame is the data of a template.
type frame struct {
	Root     string // leads to the mount
	Name     string
	Title    string
	Site     string
	Live     string
	Zone     string
	ReadOnly bool
	Links    []Link
	Done     string // the action that was just done; empty on most pages
	Now      time.Time
	Data     any
	Content  template.HTML
}

// said are the messages after an action.
func said(query url.Values) string {
	n, err := strconv.Atoi(query.Get("n"))
	if err != nil {
		n = 0
	}
	switch query.Get("done") {
	case "retry":
		return "The job is due again, with all its attempts ahead of it."
	case "cancel":
		return "The job is canceled."
	case "retry-all":
		text := "Due again: " + jobCount(n) + "."
		if taken, err := strconv.Atoi(query.Get("taken")); err == nil && taken > 0 {
			text += " Left as they are, because others have taken their keys since: " + jobCount(taken) + "."
		}
		return text
	case "cancel-all":
		return "Canceled: " + jobCount(n) + "."
	case "pause":
		return "Paused. What runs goes on; nothing more is begun."
	case "resume":
		return "Resumed."
	case "fire":
		return "The schedule has fired: this is its job."
	case "release":
		return "Given back: " + jobCount(n) + "."
	case "limit":
		return "The limit is set."
	case "no-limit":
		return "The limit is removed."
	case "retry-flow":
		return "What has failed runs again."
	case "cancel-flow":
		return "The flow is canceled."
	}
	return ""
}

func jobCount(n int) string {
	if n == 1 {
		return "1 job"
	}
	return webui.Count(n, 0) + " jobs"
}

func (h *Handler) frame(v *view, root string) *frame {
	if v.zone == nil {
		v.zone = time.UTC
	}
	return &frame{
		Zone: v.zone.String(),
		Root: root, Name: v.name, Title: v.title, Site: h.cfg.Title, Live: v.live, ReadOnly: h.cfg.ReadOnly,
		Links: h.cfg.Links, Now: time.Now(), Data: v.data,
	}
}

// content renders the part of a page that changes.
func (h *Handler) content(v *view, root string) ([]byte, error) {
	var b bytes.Buffer
	f := h.frame(v, root)
	t, err := templatesIn(v.zone)
	if err == nil {
		err = t.ExecuteTemplate(&b, v.name+".html", f)
	}
	return b.Bytes(), err
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request, status int, v *view) {
	at := webui.Root(r.URL.Path)
	content, err := h.content(v, at)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	f := h.frame(v, at)
	f.Content = template.HTML(content) //nolint:gosec // made by a template
	f.Done = said(r.URL.Query())
	if h.cfg.LinksOf != nil {
		f.Links = slices.Concat(f.Links, h.cfg.LinksOf(r))
	}
	var b bytes.Buffer
	t, err := templatesIn(v.zone)
	if err == nil {
		err = t.ExecuteTemplate(&b, "layout.html", f)
	}
	if err != nil {
		h.cfg.Logger.ErrorContext(r.Context(), "queueui: page cannot be made", "path", r.URL.Path, "error", err)
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// A problem is a page that describes an error.
type problem struct{ Heading, Text string }

func (h *Handler) problem(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	h.page(w, r, status, &view{name: "problem", title: heading, data: problem{heading, text}})
}

// badRequestError reports an invalid URL.
type badRequestError string

func (e badRequestError) Error() string { return string(e) }

const notText = "A text of the filter holds bytes that are no text."

// isText reports whether every engine can look for the text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func (h *Handler) failed(w http.ResponseWriter, r *http.Request, err error) {
	var bad badRequestError
	switch {
	case r.Context().Err() != nil:
		return // the client has gone
	case errors.As(err, &bad):
		h.problem(w, r, http.StatusBadRequest, "Not understood", bad.Error())
	case errors.Is(err, queue.ErrInvalidFilter):
		h.problem(w, r, http.StatusBadRequest, "Not understood", notText)
	case errors.Is(err, queue.ErrJobNotFound):
		h.problem(w, r, http.StatusNotFound, "Job not found",
			"There is no job with this id. It may have been pruned since.")
	case errors.Is(err, flow.ErrNotFound):
		h.problem(w, r, http.StatusNotFound, "Flow not found",
			"There is no flow with this id. It may have been pruned since.")
	default:
		h.cfg.Logger.ErrorContext(r.Context(), "queueui: request failed", "path", r.URL.Path, "error", err)
		h.problem(w, r, http.StatusInternalServerError, "Something went wrong",
			"The database did not answer as it should. The host's log has the details.")
	}
}

// self returns a page's address relative to the mount.
func self(u *url.URL) string {
	clean := *u
	query := clean.Query()
	for _, report := range []string{"done", "n", "taken"} {
		query.Del(report)
	}
	clean.RawQuery = query.Encode()
	return clean.RequestURI()
}
