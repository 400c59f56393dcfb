package web_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// A listServer is that of mailing lists, which refuses one of them.
type listServer struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

func (l *listServer) requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string{}, l.asked...)
}

// newListsWorld is a mailbox with five letters of each of some lists.
func newListsWorld(t *testing.T) (*world, *listServer) {
	t.Helper()
	l := &listServer{}
	l.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.asked = append(l.asked, r.Method+" "+r.URL.Path+" "+string(body))
		l.mu.Unlock()
		if r.URL.Path == "/refuses" {
			http.Error(w, "no", http.StatusForbidden)
		}
	}))
	t.Cleanup(l.Close)
	env := environment.Demo(environment.Folder(t.TempDir()))
	env.Config.Lists.Enabled = true
	a, err := app.New(t.Context(), app.Config{Environment: env, ListTransport: l.Client().Transport})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	_, err = a.OpenConfiguredAccount(t.Context())
	require.NoError(t, err)
	w := serveWorld(t, a)
	click := "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click"
	for i, list := range [][2]string{{"news", "<" + l.URL + "/news>" + click}, {"refuses", "<" + l.URL + "/refuses>" + click},
		{"mail", "<mailto:leave@shop.example?subject=bye>"}, {"page", "<" + l.URL + "/page>"},
		{strings.Repeat("very-long-name", 4), "<" + l.URL + "/long>" + click}} {
		for n := range 6 - i/4 {
			_, err := a.Server.Deliver(t.Context(), fmt.Appendf(nil,
				"Received: from mail.shop.example by mx.google.com with ESMTPS id x; Fri, 27 Nov 2026 02:00:00 -0800\r\n"+
					"Authentication-Results: mx.google.com; dkim=pass header.i=@shop.example header.s=s header.b=AbCd\r\n"+
					"DKIM-Signature: v=1; d=shop.example; s=s; h=from:list-unsubscribe:list-unsubscribe-post; b=AbCdEf\r\n"+
					"From: Shop %s <%s@shop.example>\r\nTo: %s\r\nSubject: Letter\r\nMessage-ID: <%d.%d@shop.example>\r\n"+
					"List-Unsubscribe: %s\r\n\r\nBuy.\r\n", list[0], list[0], sample.Owner, i, n, list[1]))
			require.NoError(t, err)
		}
	}
	w.settle()
	return w, l
}

// A person ticks several lists, sees how each is left, and leaves them at once; what cannot be left has a link. The
// pages fit, and can be used by all, at both widths and in both themes.
func TestListsAreLeftFromThePage(t *testing.T) {
	w, l := newListsWorld(t)
	b := browsertest.Browse(t)
	b.Open(w.url + "subscriptions")
	b.Until(ready)
	require.Equal(t, 5, browsertest.Eval[int](b, `document.querySelectorAll("[data-row]").length`))
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#suggested").innerText`), "6 messages, 0 % read")
	b.Press("j", "x", "j", "x", "j", "x", "j", "x", "j", "x")
	require.Equal(t, 5, browsertest.Eval[int](b, `document.querySelectorAll("[data-row] :checked").length`))
	fits(b, "lists-subscriptions")
	browsertest.Eval[any](b, `document.querySelector("#leave").click()`)
	b.Until(`document.querySelector("h1")?.textContent === "Leave 4 lists?" && ` + ready)
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#ways").innerText`), "A mail to leave@shop.example")
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#not-left").innerText`), "Open its page at 127.0.0.1")
	fits(b, "lists-leave")
	require.Empty(t, l.requests(), "to look asks nobody")
	b.Press("a")
	require.Equal(t, "Leave 4", browsertest.Eval[string](b, "document.activeElement.textContent"),
		"one key leaves nothing")
	require.Empty(t, l.requests())
	b.Press("\r")
	b.Until(`document.querySelector(".done")?.textContent.includes("Being left: 4 of 4.")`)
	w.settle()
	require.Len(t, l.requests(), 3)
	for _, asked := range l.requests() {
		require.True(t, strings.HasPrefix(asked, "POST /"), asked)
	}
	b.Open(w.url + "subscriptions")
	b.Until(ready)
	left := browsertest.Eval[string](b, `document.querySelector("#left").innerText`)
	require.Contains(t, left, "left; mail may still come until")
	require.Contains(t, left, "403 Forbidden")
	require.Contains(t, left, "cannot be taken back")
	fits(b, "lists-left")

	browsertest.Eval[any](b, `document.querySelector('button[name=block][value="page@shop.example"]').click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("A rule archives it")`)
	require.Contains(t, w.get("rules").body, "Archive mail of page@shop.example")
	later := w.get("subscriptions?before=" +
		base64.RawURLEncoding.EncodeToString([]byte("9000-01-01T00:00:00.000000Z\nx")))
	require.Contains(t, later.body, "The newest")
	require.Contains(t, later.body, "news@shop.example")
	require.NotContains(t, later.body, "Lists that you hardly read")
	require.NotContains(t, w.get("subscriptions").find(t, `(?s)<section id="suggested"(.*?)</section>`), "page@shop.example")
	b.Quiet()

	done := w.acted(safety.Filter{Types: []postroom.ActionType{unsubscribe.ActionType}, States: completed})
	require.Contains(t, w.get("actions/"+done[0].Action.ID).body, "chose to leave the list of")
}

// Where lists are not left there is no tab, and nothing behind it. Who may only look has no buttons.
func TestSubscriptionsThatAreOff(t *testing.T) {
	w, _ := newListsWorld(t)
	look := w.as(access.Person{Name: "bob@example.org", Role: access.See}).get("subscriptions")
	require.Equal(t, http.StatusOK, look.status)
	require.NotRegexp(t, `type="checkbox" name="sender"|formaction|<form method="post" action`,
		strings.ReplaceAll(look.body, "signout", ""))
	w.Lists = nil
	require.NotContains(t, w.get("").body, "Subscriptions")
	for _, page := range []reply{w.get("subscriptions"), w.get("subscriptions/leave?sender=news@shop.example"),
		w.post("subscriptions/leave", url.Values{"sender": {"news@shop.example"}}),
		w.post("subscriptions/block", url.Values{"block": {"news@shop.example"}})} {
		require.Equal(t, http.StatusConflict, page.status)
		require.Contains(t, page.body, "unsubscribe.enabled")
	}
}
