package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/safety/stop"
)

var (
	//go:embed templates
	templateFiles embed.FS
	//go:embed static
	staticFiles embed.FS

	templates = template.Must(template.New("").Funcs(template.FuncMap{
		"count":   func(n int) string { return webui.Count(n, 0) },
		"line":    func(s string) string { return webui.Printable(s, webui.MaxLine) },
		"text":    func(s string) string { return webui.Printable(s, webui.MaxText) },
		"body":    func(s string) string { return webui.Printable(s, maxBody) },
		"sent":    func(s string) string { return webui.Printable(s, texts.MaxSent) },
		"fault":   func(s string) bool { return s == "failed" },
		"size":    size,
		"words":   texts.KindWords,
		"outcome": texts.OutcomeWords,
		"headers": headers,
		"join":    func(list []string) string { return strings.Join(list, ", ") },
	}).ParseFS(templateFiles, "templates/*.html"))
)

// headers are fields of a header as text, cut where they are long.
func headers(fields []postroom.Header) string {
	var b strings.Builder
	for _, f := range fields {
		b.WriteString(webui.Printable(f.Name+": "+f.Value, webui.MaxLine) + "\n")
	}
	return webui.Printable(b.String(), maxBody)
}

// size describes a number of bytes.
func size(n any) string {
	switch n := n.(type) {
	case int64:
		return webui.Size(int(n))
	case int:
		return webui.Size(n)
	}
	return ""
}

// maxBody bounds the shown text of a mail, in bytes, so that a page stays small.
const maxBody = 12 << 10

// A view is one page: a template and its data.
type view struct {
	name  string
	title string
	live  bool // it changes by itself
	data  any
}

// A frame is the data of a template.
type frame struct {
	Root    string // leads to the mount
	Self    string // the page's own address
	Watched string // that address with the zone of the reader
	Name    string
	Title   string
	Live    bool
	Zone    *time.Location
	Now     time.Time
	Stopped *stop.Stop
	Waiting int // requests for approval
	Person  access.Person
	SignsIn bool   // people sign in here, and not at a proxy
	Done    string // what was just done; empty on most pages
	Data    any
	Content template.HTML
}

// Answers reports whether the person may answer requests, and take back.
func (f *frame) Answers() bool { return f.Person.May(access.Approve) }

// Owns reports whether the person may change rules and mailboxes.
func (f *frame) Owns() bool { return f.Person.May(access.Own) }

// Stops reports whether the person may stop everything, and let it go on.
func (f *frame) Stops() bool { return f.Person.May(access.Approve, access.Everything) }

// Mends reports whether the person may mend a trouble by one click.
func (f *frame) Mends(do string) bool {
	if do == "resume" {
		return f.Stops()
	}
	return f.Owns()
}

// All reports whether the person sees what is of all mailboxes.
func (f *frame) All() bool { return f.Person.May(access.See, access.Everything) }

// SignsOut reports whether the person has signed in at a provider, and can sign out.
func (f *frame) SignsOut() bool { return f.SignsIn && f.Person.Name != access.LocalName }

// Seen tells the stop that the page shows from another.
func (f *frame) Seen() string { return seen(f.Stopped) }

// An instant is a time in the words of a person.
type instant struct{ ISO, Full, Ago string }

// Time makes a time for the template "time".
func (f *frame) Time(at time.Time) instant {
	return instant{webui.ISO(at), at.In(f.Zone).Format("Mon 2 Jan 2006, 15:04"), webui.Ago(f.Now, at)}
}

func (h *Handler) frame(ctx context.Context, u *url.URL, v *view) (*frame, error) {
	query := u.Query()
	done := doneText(query)
	query.Del("done")
	query.Del("n")
	query.Del(asParam)
	watched := url.URL{Path: u.Path, RawQuery: query.Encode()}
	query.Del(zoneParam)
	self := url.URL{Path: u.Path, RawQuery: query.Encode()}
	f := &frame{Root: webui.Root(u.Path), Self: self.RequestURI(), Watched: watched.RequestURI(), Name: v.name,
		Title: v.title, Live: v.live, Zone: zone(u.Query().Get(zoneParam)), Now: time.Now(), Done: done, Data: v.data,
		Person: access.From(ctx), SignsIn: h.app.Env.Config.Web.OIDCIssuer != ""}
	var err error
	if f.Stopped, err = h.app.Ledger.Switch().Stopped(ctx); err == nil {
		f.Waiting, err = h.countWaiting(ctx, f.Person)
	}
	return f, err
}

// countWaiting counts the requests that the person may see.
func (h *Handler) countWaiting(ctx context.Context, p access.Person) (int, error) {
	if p.May(access.See, access.Everything) {
		return texts.CountWaiting(ctx, h.app)
	}
	own, err := h.accounts(ctx)
	if err != nil || len(own) == 0 {
		return 0, err
	}
	return texts.CountWaiting(ctx, h.app, printer.List(own, func(a mailstore.Account) string { return a.ID })...)
}

// said are the messages after something was done, by the parameter "done".
var said = map[string]string{
	"stop": "Everything is stopped.", "resume": "What was stopped goes on.",
	"resume-mailbox": "The mailbox is worked on again.", "pause-mailbox": "The mailbox is paused.",
	"remove-mailbox": "The mailbox is removed; what was done stays on record.", "describe-label": "The label is saved.",
	"enable-instruction": "The models follow it again.", "disable-instruction": "The models do not see it any more.",
	"enable-rule":  "The rule is enabled.",
	"disable-rule": "The rule is disabled: it decides nothing.", "move-rule": "The order is changed.",
	"save-rules": "The rules are saved, as a new version.", "restore-rules": "The rules are as they were then.",
	"accept-rules": "The rules are as proposed, as a new version.",
	"drop-talk":    "The session is deleted, with what it proposed.",
	"approve":      "Approved: it is carried out.", "reject": "Rejected: it is never carried out.",
	"undo": "It is being taken back.", "undo-all": "Being taken back: %s.", "renew": "It is asked again.",
	"act":       "Being done: %s of %s. This is all of it, and one click takes it back.",
	"ask-again": "Rejected, and the model is asked once more.", "decide-again": "The model is asked again.",
	"close-task": "The task is done.",
	"edit":       "Edited: look at it once more. It waits for your answer.",
	"instead":    "Rejected, and done the other way.", "approve-all": "Approved: %s of %s.", "reject-all": "Rejected: %s of %s.",
}

// doneText is the message for an address; empty if nothing was done. What it counts is in the parameters "n".
func doneText(query url.Values) string {
	text := said[query.Get("done")]
	for _, n := range query["n"] {
		if i, err := strconv.Atoi(n); err == nil {
			text = strings.Replace(text, "%s", webui.Count(i, 0), 1)
		}
	}
	if strings.Contains(text, "%s") {
		return ""
	}
	return text
}

// content renders the part of a page that changes.
func (f *frame) content() ([]byte, error) { return f.execute(f.Name + ".html") }

func (f *frame) execute(name string) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name, f)
	return b.Bytes(), err
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request, u *url.URL, status int, v *view) {
	f, err := h.frame(r.Context(), u, v)
	if err != nil {
		h.broken(w, r, err)
		return
	}
	content, err := f.content()
	if err != nil {
		h.broken(w, r, err)
		return
	}
	f.Content = template.HTML(content) //nolint:gosec // made by a template
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "layout.html", f); err != nil {
		h.broken(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// broken answers where not even a page can be made. What stops everything is told then, too.
func (h *Handler) broken(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	h.app.Log.ErrorContext(r.Context(), "the page failed", "path", r.URL.Path, "error", err)
	http.Error(w, "It failed here; the log says why. 'postroomd stop' stops everything as well, and so does the file of "+
		"safety.stop_file.", http.StatusInternalServerError)
}

// A problem is a page that describes an error.
type problem struct{ Heading, Text string }

func (h *Handler) problem(w http.ResponseWriter, r *http.Request, status int, heading, text string) {
	h.page(w, r, &url.URL{Path: r.URL.Path}, status, &view{name: "problem", title: heading, data: problem{heading, text}})
}

func (h *Handler) failed(w http.ResponseWriter, r *http.Request, err error) {
	_, wrong := errors.AsType[usage.Error](err)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		h.problem(w, r, http.StatusNotFound, "Not found", "It is not here, or no longer.")
	case wrong, errors.Is(err, texts.ErrShown):
		h.problem(w, r, http.StatusConflict, "Not possible", err.Error())
	default:
		h.broken(w, r, err)
	}
}

const (
	zoneCookie = "zone"
	zoneParam  = "zone"
)

var zoneName = regexp.MustCompile(`^[A-Za-z]+(?:[/_+-][A-Za-z0-9]+)*$`)

// zone returns the time zone of the name; UTC if it is unknown.
func zone(name string) *time.Location {
	if len(name) > 64 || !zoneName.MatchString(name) {
		return time.UTC
	}
	at, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return cmp.Or(at, time.UTC)
}
