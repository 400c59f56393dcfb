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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/mime/safehtml"
	"github.com/postroom-go/postroom/rules"
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
		"brief":   func(s string) string { return webui.Printable(s, maxBrief) },
		"spans":   drafts.Spans,
		"answer":  texts.DraftWords,
		"happens": texts.DraftEventWords,
		"sent":    func(s string) string { return webui.Printable(s, texts.MaxSent) },
		"fault":   func(s string) bool { return s == "failed" },
		"size":    size,
		"words":   texts.KindWords,
		"does":    texts.Does,
		"plain":   func(k rules.Kind) string { return strings.ReplaceAll(string(k), "_", " ") },
		"work":    workWords,
		"outcome": texts.OutcomeWords,
		"headers": headers,
		"sandbox": func() string { return safehtml.Sandbox },
		"has":     slices.Contains[[]postroom.ActionType],
		"scopes":  func() map[string]string { return scopeWords },
		"join":    func(list []string) string { return strings.Join(list, ", ") },
	}).ParseFS(templateFiles, "templates/*.html"))
)

// scopeWords say of what mail an instruction may be.
var scopeWords = map[string]string{string(guidance.ScopeAll): "all mail", string(guidance.ScopeMailbox): "one mailbox",
	string(guidance.ScopeDomain): "the mail of a domain", string(guidance.ScopeSender): "the mail of a sender"}

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

// maxBrief bounds the shown text of a mail, or of a version, that is one of many on a page.
const maxBrief = 1500

// A view is one page: a template and its data.
type view struct {
	name  string
	title string
	live  bool // it changes by itself
	frame bool // it has one, of this host
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
	Waiting int  // requests for approval
	Drafts  bool // drafts of answers are written
	Lists   bool // mailing lists are left
	Agents  bool // there are agents
	Meaning bool // it is found out what mail means
	Person  access.Person
	SignsIn bool // people sign in here, and not at a proxy
	// SignsInMailboxes reports whether the person may sign in to mailboxes from the page, on this machine.
	SignsInMailboxes bool
	Done             string // what was just done; empty on most pages
	Data             any
	Content          template.HTML
}

// A part is the data of a template that is about a part of a page.
type part struct {
	Root, Self string
	Of         any
}

// With makes the data of such a template.
func (f *frame) With(of any) part { return part{f.Root, f.Self, of} }

// Answers reports whether the person may answer requests, and take back.
func (f *frame) Answers() bool { return f.Person.May(access.Approve) }

// Owns reports whether the person may change rules and mailboxes.
func (f *frame) Owns() bool { return f.Person.May(access.Own) }

// Stops reports whether the person may stop everything, and let it go on.
func (f *frame) Stops() bool { return f.Person.May(access.Approve, access.Everything) }

// Mends reports whether the person may mend a trouble by one click.
func (f *frame) Mends(do string) bool {
	switch do {
	case "resume", "resume-agent":
		return f.Stops()
	case "sign-in":
		return f.SignsInMailboxes
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
		Person: access.From(ctx), Drafts: h.app.Drafting != nil,
		Lists: h.app.Lists != nil, Agents: h.hasAgents(), Meaning: h.app.Enrichment != nil,
		SignsIn: h.app.Env.Config.Web.OIDCIssuer != ""}
	f.SignsInMailboxes = h.signsIn(f.Person)
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
var said = map[string]string{ //nolint:gosec // it is told that a token is revoked
	"stop": "Everything is stopped.", "resume": "What was stopped goes on.",
	"resume-mailbox": "The mailbox is worked on again.", "pause-mailbox": "The mailbox is paused.",
	"sign-out":      "Signed out: what was granted is taken back at Google, and forgotten here.",
	"sign-out-here": "Signed out here. Google has not taken the grant back: do that at " + auth.ConnectionsURL + ".",
	"away":          "Mail is answered while you are away.", "back": "Mail is not answered any more.",
	"remove-mailbox": "The mailbox is removed; what was done stays on record.", "describe-label": "The label is saved.",
	"enable-instruction": "The models follow it again.", "disable-instruction": "The models do not see it any more.",
	"add-instruction":    "The instruction is saved: models are told, from the next message on.",
	"change-instruction": "The instruction is changed.",
	"revoke-token":       "The token is revoked: nothing is done by it any more.",
	"remove-instruction": "The instruction is removed, with what it forbade.",
	"enable-rule":        "The rule is enabled.",
	"disable-rule":       "The rule is disabled: it decides nothing.", "move-rule": "The order is changed.",
	"fix":        "The rules are saved, as a new version. This mail stays as it is: Take back, if it is here, undoes what was done.",
	"save-rules": "The rules are saved, as a new version, for mail that comes. Apply to old mail does them to what is here.", "restore-rules": "The rules are as they were then.",
	"accept-rules": "The rules are as proposed, as a new version.",
	"drop-talk":    "The session is deleted, with what it proposed.",
	"approve":      "Approved: it is carried out. Actions has it then.", "reject": "Rejected: it is never carried out.",
	"undo": "It is being taken back.", "undo-all": "Being taken back: %s.", "renew": "It is asked again.",
	"act":       "Being done: %s of %s. This is all of it, and one click takes it back.",
	"ask-again": "Rejected, and the model is asked once more.", "decide-again": "The model is asked again.",
	"apply":        "Being done: %s, as one batch. This is all of it, and one click takes it back.",
	"ask-all":      "The model is asked again about %s; it was being asked about %s already.",
	"do-now":       "It is being done now.",
	"done-already": "It was being done, or waits to be, already: nothing was added.",
	"close-task":   "The task is done.",
	"look":         "It is being looked at: reload the page in a moment.",
	"add-reminder": "You are reminded then.", "snooze-reminder": "It comes then.", "cancel-reminder": "It comes no more.",
	"edit-voice": "Saved. It stays until you change it.", "rebuild-voice": "It is being learned from your sent mail.",
	"run-agent": "The agent begins. Its run is here once it has.", "resume-agent": "The agent works again.",
	"schedule-agent": "It tells you then.", "unschedule-agent": "It tells you no more.",
	"cancel-run": "The run is canceled.", "replay-run": "It was repeated: this is the new run, and nothing was carried out.",
	"ask-draft": "A draft is being written: reload the page in a moment.", "send-draft": "The draft is sent.", "rework-draft": "The draft is being written again: reload the page in a moment.",
	"discard-draft-deleted": drafts.FateText(drafting.FateDeleted),
	"discard-draft-kept":    drafts.FateText(drafting.FateKept), "discard-draft-none": drafts.FateText(drafting.FateNone),
	"leave-lists":    "Being left: %s of %s. Reload the page in a moment to see what came of it.",
	"block-list":     "A rule archives it from now on.",
	"accept-learned": "The rule is in use from now on.", "remove-learned": "The rule is removed.",
	"dismiss-learned": "Dismissed: it comes again once twice as much speaks for it.",
	"right-again":     "It is not asked about any more.",
	"answer-meaning":  "Your answer is noted. What comes of it is here in a moment.",
	"learn-now":       "Learned from what you have corrected.", "count-bulk": "Answered.",
	"edit":    "Edited: look at it once more. It waits for your answer.",
	"instead": "Rejected, and done the other way.", "approve-all": "Approved: %s of %s.", "reject-all": "Rejected: %s of %s.",
}

// cameFromElsewhere reports whether a browser says that no page of this host has led to the address: a link in a mail,
// or on a page of another host, does not say what was done here. Other programs say nothing.
func cameFromElsewhere(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin"
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
	if cameFromElsewhere(r) {
		f.Done = ""
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
	if v.frame {
		const policy = "Content-Security-Policy"
		w.Header().Set(policy, w.Header().Get(policy)+"; frame-src 'self'")
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
