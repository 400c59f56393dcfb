package httpapi

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/queue/queueui"
	"github.com/postroom-go/postroom/safety"
)

var (
	//go:embed stoppage.html
	stopPageText string
	//go:embed stoppage.css
	stopPageStyle string

	stopPageTemplate = template.Must(template.New("actions").Parse(stopPageText))
)

// stopPageLink leads from the dashboard to the page.
var stopPageLink = queueui.Link{Text: "Actions", Path: "actions"}

// A stopPage is the page that stops everything by one click. It is served next to the dashboard, in its style, for the same
// people.
type stopPage struct{ app *app.App }

// stopPageView is the data of the page.
type stopPageView struct {
	Stopped            *safety.Stop // nil while actions are carried out
	Since              string
	Breakers           string // which rules or models are stopped for what they did
	MayStop, MayResume bool
}

// beside serves the page beside a dashboard.
func (p stopPage) beside(dashboard http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", dashboard)
	mux.Handle("GET /actions", p.guarded(p.show))
	mux.Handle("POST /actions/stop", p.guarded(func(w http.ResponseWriter, r *http.Request) {
		p.change(w, p.app.Stopper.Stop(r.Context(), byPage(), safety.StopOptions{Why: whyOf(r)}))
	}))
	mux.Handle("POST /actions/resume", p.guarded(func(w http.ResponseWriter, r *http.Request) {
		p.change(w, p.app.Stopper.Resume(r.Context(), byPage(), whyOf(r)))
	}))
	mux.Handle("GET /actions/style.css", p.guarded(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = w.Write([]byte(stopPageStyle))
	}))
	return mux
}

// byPage is the recorded name: there is no login at the page, which only this machine can reach.
func byPage() string { return app.CurrentUser() + " at the dashboard" }

func whyOf(r *http.Request) string {
	why := []rune(strings.TrimSpace(r.PostFormValue("why")))
	return string(why[:min(len(why), 500)])
}

// guarded refuses requests that another site makes a browser send, and lets pages load only their own resources, like the
// dashboard.
func (p stopPage) guarded(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if err := http.NewCrossOriginProtection().Check(r); err != nil {
			http.Error(w, "This request came from another site. Go back, reload the page and try again.", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, MaxAnswer)
		next(w, r)
	})
}

func (p stopPage) show(w http.ResponseWriter, r *http.Request) {
	var v stopPageView
	var err error
	if v.Stopped, err = p.app.Ledger.Stopped(r.Context()); err == nil {
		v.Breakers, err = p.app.Stopper.OpenBreakers(r.Context())
	}
	if err != nil {
		p.failed(w, err)
		return
	}
	if v.Stopped != nil {
		v.Since = v.Stopped.At.UTC().Format(time.RFC3339)
	}
	v.MayStop = v.Stopped == nil
	v.MayResume = v.Stopped != nil && v.Stopped.File == "" || v.Breakers != ""
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := stopPageTemplate.Execute(w, v); err != nil {
		p.app.Log.Warn("the page of the actions is not shown", "error", err)
	}
}

// change redirects to the page, which shows the new state.
func (p stopPage) change(w http.ResponseWriter, err error) {
	if err != nil {
		p.failed(w, err)
		return
	}
	w.Header().Set("Location", "../actions")
	w.WriteHeader(http.StatusSeeOther)
}

func (p stopPage) failed(w http.ResponseWriter, err error) {
	p.app.Log.Error("the page of the actions failed", "error", err)
	http.Error(w, "It failed here; the log says why. 'postroomd stop' stops everything as well, and so does the file of safety.stop_file.", http.StatusInternalServerError)
}
