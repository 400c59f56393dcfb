package web

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/auth"
)

// signsIn reports whether the person may sign in to mailboxes from the page: Google sends the browser back to this
// machine, where only who came by its printed address surely is.
func (h *Handler) signsIn(p access.Person) bool {
	return p.Name == access.LocalName && p.May(access.Own, access.Everything) && h.app.Env.Config.Gmail.ClientID != ""
}

// signInMailbox begins to sign in to a mailbox, and shows the link to Google. What the person answers there is taken in
// by the listener of package auth.
func (h *Handler) signInMailbox(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.signIn(w, r, account.Email)
}

// addMailbox is signInMailbox for one that may be new.
func (h *Handler) addMailbox(w http.ResponseWriter, r *http.Request) {
	h.signIn(w, r, r.PostFormValue("address"))
}

func (h *Handler) signIn(w http.ResponseWriter, r *http.Request, email string) {
	if !h.signsIn(access.From(r.Context())) {
		h.failed(w, r, usage.Errorf("Sign in on the machine of postroomd, with 'postroomd auth login %s': Google sends the "+
			"browser back to that machine.", email))
		return
	}
	address, err := h.app.BeginSignIn(r.Context(), email, by(r))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	data := struct{ Email, Address string }{email, address}
	h.page(w, r, &url.URL{Path: r.URL.Path}, http.StatusOK, &view{name: "signin", title: "Sign in to " + email,
		data: data})
}

// signOutMailbox signs out of a mailbox that the person has seen what it means for.
func (h *Handler) signOutMailbox(w http.ResponseWriter, r *http.Request) {
	account, err := h.app.Mail.Account(r.Context(), r.PathValue("id"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	// The server's own limits are for pages.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(app.MaxSignOut + time.Minute))
	revoked, err := h.app.SignOutMailbox(r.Context(), account.Email, by(r), r.PostFormValue("anyway") != "")
	if errors.Is(err, app.ErrNotRevoked) {
		err = usage.Errorf("%w. Try it again, or forget it here all the same and take it back at %s.", err,
			auth.ConnectionsURL)
	}
	h.done(w, r, map[bool]string{true: "sign-out", false: "sign-out-here"}[revoked], err)
}
