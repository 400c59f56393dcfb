package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// New rules are applied to the mail that is there as one batch, after the page has counted by rule, and one undo takes
// it back. What sends is never done to old mail.
func TestRulesAreAppliedToOldMail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(path, []byte("rules: []\n"), 0o600))
	w := newWorldBy(t, path)
	editor := w.get("rules/edit?mailbox=" + sample.Owner)
	saved := w.post("rules/edit", url.Values{"mailbox": {sample.Owner}, "do": {"save"},
		"seen": {editor.find(t, `name="seen" value="([^"]*)"`)}, "text": {`matching: all
rules:
  - {name: Stars, condition: {type: subject_contains, value: e}, action: star}
  - {name: Away, condition: {type: subject_contains, value: e}, action: forward, parameters: {to: [a@example.com]}}
`}})
	require.Equal(t, http.StatusSeeOther, saved.status, saved.body)
	made := func(kind postroom.ActionType) []safety.Entry {
		return w.acted(safety.Filter{Types: []postroom.ActionType{kind}})
	}
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{390: "dark", 1280: "light"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/apply?mailbox=" + sample.Owner)
		browsertest.Eval[any](b, `document.querySelector("main .filters button").click()`)
		b.Until(`!!document.querySelector("main .bar button.primary") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "apply")
		}
	}
	require.Empty(t, made(postroom.Star), "counting does nothing")
	said := browsertest.Eval[string](b, `document.querySelector("main").textContent`)
	require.Contains(t, said, "Stars")
	require.Contains(t, said, "not done: it sends")
	page := w.get("rules/apply?count=1&mailbox=" + sample.Owner)
	form := url.Values{"mailbox": {sample.Owner}, "rule": {""}, "days": {"0"},
		"batch":    {page.find(t, `name="batch" value="([^"]*)"`)},
		"revision": {page.find(t, `name="revision" value="([^"]*)"`)}}
	approver := w.as(access.Person{Name: "bob@example.org", Role: access.Approve})
	require.Equal(t, http.StatusForbidden, approver.post("rules/apply", form).status)
	browsertest.Eval[any](b, `document.querySelector("main .bar button.primary").click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("as one batch")`)
	require.Contains(t, browsertest.Eval[string](b, `location.search`), "batch=")
	b.Quiet()
	starred := made(postroom.Star)
	require.NotEmpty(t, starred)
	require.Empty(t, made(postroom.Forward))

	require.Equal(t, http.StatusSeeOther, w.post("rules/apply", form).status, "all waits or is done already")
	require.Len(t, made(postroom.Star), len(starred))
	require.NoError(t, w.RunJobs(t.Context()))
	batch := rules.BatchKey(browsertest.Eval[string](b, `new URLSearchParams(location.search).get("batch")`))
	undo := w.get("undo?mailbox=" + sample.Owner + "&batch=" + batch[len(rules.BatchKey("")):len(batch)-1])
	require.Equal(t, http.StatusOK, undo.status)
	require.Equal(t, http.StatusSeeOther, w.post("rules/"+w.rules()[0].ID+"/disable", nil).status)
	odd := url.Values{"mailbox": {sample.Owner}, "batch": {"x y"}, "revision": form["revision"]}
	require.Equal(t, http.StatusConflict, w.post("rules/apply", odd).status)
	changed := w.post("rules/apply", form)
	require.Equal(t, http.StatusConflict, changed.status)
	require.Contains(t, changed.body, "changed meanwhile")
	require.Contains(t, w.get("rules/apply?count=1&rule=Stars&mailbox="+sample.Owner).body, "no enabled rule")
}

// Rules are applied to the mail of a mailbox once at a time, and few applications read mail at once.
func TestOldMailIsReadByFewAtOnce(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	h, err := web.New(w.App)
	require.NoError(t, err)
	t.Cleanup(h.Close)
	pages := access.Local(h)
	ask := func(ctx context.Context, method, path string, form url.Values) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, r)
		return answer
	}
	const count = "/rules/apply?count=1&mailbox=" + sample.Owner
	require.Contains(t, ask(t.Context(), http.MethodGet, count, nil).Body.String(), "Nothing to do")
	revision, err := w.Rules.Revision(t.Context())
	require.NoError(t, err)
	form := url.Values{"mailbox": {sample.Owner}, "batch": {"00000000-0000-0000-0000-000000000000"},
		"revision": {strconv.FormatInt(revision, 10)}}

	letGo := h.HoldApplies()
	impatient, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	require.Empty(t, ask(impatient, http.MethodGet, count, nil).Body.String(), "it waits")
	first := make(chan int)
	go func() { first <- ask(t.Context(), http.MethodPost, "/rules/apply", form).Code }()
	require.Eventually(t, func() bool { return h.Applying(account.ID) }, 5*time.Minute, time.Millisecond)
	second := ask(t.Context(), http.MethodPost, "/rules/apply", form)
	require.Equal(t, http.StatusConflict, second.Code)
	require.Contains(t, second.Body.String(), "being applied to the mail of")
	letGo()
	require.Equal(t, http.StatusSeeOther, <-first)
	require.False(t, h.Applying(account.ID))
}
