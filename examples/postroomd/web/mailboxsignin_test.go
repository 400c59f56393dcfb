package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
)

// A person mends a dead grant from the page alone: a click on what is wrong, and the answer to Google.
func TestADeadGrantIsMended(t *testing.T) {
	w := newWorld(t)
	google, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, google.Close()) })
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	id := accounts[0].ID
	require.NotContains(t, w.get("mailboxes").body, "/signin")
	c := &w.Env.Config.Gmail
	c.ClientID, c.AuthServer, c.Tokens, c.Passphrase = "me", google.URL(), "file", "correct horse"
	state := func() mailstore.AccountState {
		account, err := w.Mail.Account(t.Context(), id)
		require.NoError(t, err)
		return account.State
	}
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return w.Mail.SignOut(ctx, tx, w.Queue, id, "Google says: invalid_grant")
		}))
		require.Equal(t, mailstore.AccountReauthorize, state())
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url)
		require.Equal(t, "Sign in again",
			browsertest.Eval[string](b, `document.querySelector("#troubles button").textContent`))
		browsertest.Eval[any](b, `document.querySelector("#troubles button").click()`)
		b.Until(`!!document.querySelector("#consent") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "signin")
		}
		require.Equal(t, mailstore.AccountReauthorize, state(), "nobody has answered")
		browsertest.Eval[any](b, `document.querySelector("#consent").click()`)
		b.UntilAsked(`!!document.querySelector("#allow")`)
		browsertest.Eval[any](b, `document.querySelector("#allow").click()`)
		b.UntilAsked(`document.querySelector("h1")?.textContent.toLowerCase().includes("signed in")`)
		require.Eventually(t, func() bool { return state() == mailstore.AccountActive }, 5*time.Minute, 20*time.Millisecond)
		b.Open(w.url)
		require.False(t, browsertest.Eval[bool](b, `!!document.querySelector("#troubles button")`))
	}

	away := w.as(access.Person{Name: "ann@example.org", Role: access.Own})
	require.NotContains(t, away.get("mailboxes").body, "/signin")
	refused := away.post("mailboxes/"+id+"/signin", nil)
	require.Equal(t, http.StatusConflict, refused.status)
	require.Contains(t, refused.body, "postroomd auth login "+sample.Owner)
	for range 2 { // a second click, and nobody answers either: the end of the page ends them
		require.Equal(t, http.StatusOK, w.post("mailboxes/"+id+"/signin", nil).status)
	}
}

// A person signs out from the page: Google takes back what was granted, the mailbox waits, and a sign-in lets it go on.
// Where Google does not answer, nothing changes unless the person says so.
func TestAMailboxIsSignedOutOf(t *testing.T) {
	w := newWorld(t)
	google, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, google.Close()) })
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	id := accounts[0].ID
	require.NotContains(t, w.get("mailboxes").body, "/signout", "there is nothing to sign out of")
	c := &w.Env.Config.Gmail
	c.ClientID, c.AuthServer, c.Tokens, c.Passphrase = "me", google.URL(), "file", "correct horse"
	state := func() mailstore.Account {
		account, err := w.Mail.Account(t.Context(), id)
		require.NoError(t, err)
		return account
	}
	nobody := w.post("mailboxes/"+id+"/signout", nil)
	require.Equal(t, http.StatusConflict, nobody.status)
	require.Contains(t, nobody.body, "auth list")
	require.Equal(t, mailstore.AccountActive, state().State)

	tokens, err := w.Env.Tokens(t.Context())
	require.NoError(t, err)
	granted := func() []string {
		emails, err := tokens.List(t.Context())
		require.NoError(t, err)
		return emails
	}
	require.NoError(t, tokens.Save(t.Context(), auth.Grant{Email: sample.Owner, RefreshToken: "1//x", ClientID: "me",
		Scopes: []string{auth.ScopeModify}}))
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "mailboxes")
		browsertest.Eval[any](b, `document.querySelector("[href$=signout]").click()`)
		b.Until(`document.querySelector("h1")?.textContent.startsWith("Sign out of") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "signout")
		}
	}
	require.Equal(t, mailstore.AccountActive, state().State, "it is asked first")
	browsertest.Eval[any](b, `document.querySelector("[action$=signout] button").click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("taken back at Google")`)
	require.Equal(t, mailstore.AccountReauthorize, state().State)
	require.Equal(t, "revoked by "+access.LocalName, state().Reason)
	require.Empty(t, granted())
	require.NotContains(t, w.get("mailboxes").body, "/signout", "it is signed out of")

	browsertest.Eval[any](b, `document.querySelector("[action$=signin] button").click()`)
	b.Until(`!!document.querySelector("#consent") && ` + ready)
	browsertest.Eval[any](b, `document.querySelector("#consent").click()`)
	b.UntilAsked(`!!document.querySelector("#allow")`)
	browsertest.Eval[any](b, `document.querySelector("#allow").click()`)
	b.UntilAsked(`document.querySelector("h1")?.textContent.toLowerCase().includes("signed in")`)
	require.Eventually(t, func() bool { return state().State == mailstore.AccountActive }, 5*time.Minute,
		20*time.Millisecond)
	c.AuthServer = "http://127.0.0.1:1"
	refused := w.post("mailboxes/"+id+"/signout", nil)
	require.Equal(t, http.StatusConflict, refused.status)
	require.Contains(t, refused.body, "nothing has changed")
	require.Equal(t, mailstore.AccountActive, state().State)
	require.NotEmpty(t, granted())
	forgotten := w.post("mailboxes/"+id+"/signout", url.Values{"anyway": {"1"}, "from": {"/mailboxes"}})
	require.Contains(t, forgotten.header.Get("Location"), "done=sign-out-here")
	require.Equal(t, mailstore.AccountReauthorize, state().State)
	require.Empty(t, granted())
}

// A person adds a mailbox from the page alone; a program gets the address of Google's page.
func TestAMailboxIsAdded(t *testing.T) {
	w := newWorld(t)
	require.NotContains(t, w.get("mailboxes").body, "mailboxes/add", "nothing is there to sign in by")
	google, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: neighbour, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, google.Close()) })
	c := &w.Env.Config.Gmail
	c.ClientID, c.AuthServer, c.Tokens, c.Passphrase = "me", google.URL(), "file", "correct horse"
	b := browsertest.Browse(t)
	b.Open(w.url + "mailboxes")
	fits(b, "mailboxes-add")
	browsertest.Eval[any](b, `(() => { const f = document.querySelector("#add");
		f.address.value = "Neighbour@example.org"; f.querySelector("button").click(); })()`)
	b.Until(`!!document.querySelector("#consent") && ` + ready)
	browsertest.Eval[any](b, `document.querySelector("#consent").click()`)
	b.UntilAsked(`!!document.querySelector("#allow")`)
	browsertest.Eval[any](b, `document.querySelector("#allow").click()`)
	b.UntilAsked(`document.querySelector("h1")?.textContent.toLowerCase().includes("signed in")`)
	require.Eventually(t, func() bool { return strings.Contains(w.get("mailboxes").body, neighbour) }, 5*time.Minute,
		20*time.Millisecond)
	require.Regexp(t, `(?s)somebody signed in to a mailbox.*`+neighbour+`.*`+access.LocalName, w.get("audit").body)

	require.Equal(t, http.StatusConflict, w.post("mailboxes/add", url.Values{"address": {"nobody"}}).status)
	away := w.as(access.Person{Name: "ann@example.org", Role: access.Own})
	require.NotContains(t, away.get("mailboxes").body, "mailboxes/add")
	refused := away.post("mailboxes/add", url.Values{"address": {"eve@example.org"}})
	require.Equal(t, http.StatusConflict, refused.status)
	require.Contains(t, refused.body, "postroomd auth login eve@example.org")
}
