package httpapi

import (
	"net"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/queue/queueui"
)

// ServePages serves the pages and the API until it is closed. People sign in with the address of the Server, and may
// then do everything that the command line can; signedIn is called with the next address each time somebody has.
// Programs have tokens.
func ServePages(h *app.App, listener net.Listener, signedIn func(address string)) (*Server, error) {
	pages, onClose, err := newPages(h)
	if err != nil {
		return nil, err
	}
	login := NewLogin(h, listener, signedIn)
	all, onClose, err := withAPI(h, byName(login.Protect(access.Local(pages)), nil, nil), onClose)
	if err != nil {
		return nil, err
	}
	w := Serve(listener, all, onClose)
	w.login, w.forget = login, func() { ForgetLogin(h) }
	return w, nil
}

// ServePublic serves the dashboard of the queue to everybody, without mail and without changes.
func ServePublic(h *app.App, listener net.Listener) (*Server, error) {
	ui, err := queueui.New(h.Queue, &queueui.Config{Title: "Postroom", ReadOnly: true, HidePayloads: true, Logger: h.Log})
	if err != nil {
		return nil, err
	}
	return Serve(listener, ui, ui.Close), nil
}

// newPages returns the pages of package web with the dashboard of the queue beside them.
func newPages(h *app.App) (pages http.Handler, onClose func(), err error) {
	ui, err := queueui.New(h.Queue, &queueui.Config{Title: "Postroom", Prefix: web.JobsPath, Authorize: authorizeRetry(h),
		LinksOf: linksOf(h), Logger: h.Log})
	if err != nil {
		return nil, nil, err
	}
	page, err := web.New(h)
	if err != nil {
		ui.Close()
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle(web.JobsPath+"/", access.Require(access.See, access.Own, ui)) // jobs are of all mailboxes
	mux.Handle("/", page)
	return mux, func() { ui.Close(); page.Close() }, nil
}

// linksOf has the page lead back, and either stop everything or say that it is stopped.
func linksOf(h *app.App) func(*http.Request) []queueui.Link {
	return func(r *http.Request) []queueui.Link {
		links := []queueui.Link{{Text: "Today", Path: "../"}}
		stopped, err := h.Ledger.Switch().Stopped(r.Context())
		if err == nil && stopped != nil {
			return append(links, queueui.Link{Text: "Everything is stopped: resume", Path: "../#stopped"})
		}
		return append(links, queueui.Link{Text: "Stop", Path: "../stop", Post: true})
	}
}

// authorizeRetry refuses useless retries, like the command line.
func authorizeRetry(h *app.App) func(*http.Request, queueui.Action) error {
	return func(r *http.Request, action queueui.Action) error {
		if id := r.PathValue("id"); action == queueui.ActionRetry && id != "" {
			return h.CheckRetry(r.Context(), id)
		}
		return nil
	}
}
