package web_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/stop"
)

// widths are those of windows, with what is added to the names of their pictures.
var widths = map[int64]string{320: "-small", 390: "-phone", 1280: "", 2560: "-wide"}

// looks looks at pages, each opened once, as fits does.
func looks(b *browsertest.Browser, base string, pages map[string]string) {
	b.Helper()
	for name, path := range pages {
		b.Open(base + path)
		fits(b, name)
	}
	b.Quiet()
}

// fits looks at the page that is open wide and narrow, light and dark: nothing is wider than the window, is cut or
// overlaps, each text has the contrast that WCAG AA asks for, axe-core finds nothing, and nothing is refused. Then the
// window and the theme are what they were.
func fits(b *browsertest.Browser, name string) {
	b.Helper()
	before := browsertest.Eval[[2]int64](b, "[innerWidth, innerHeight]")
	was := browsertest.Eval[string](b, `matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"`)
	for _, scheme := range []string{"light", "dark"} {
		b.Scheme(scheme)
		for width, suffix := range widths {
			b.Size(width, 900)
			fitsWindow(b, fmt.Sprintf("%s, %s at %d", name, scheme, width))
			b.Picture(name + "-" + scheme + suffix)
		}
		b.Accessible(name + ", " + scheme)
	}
	b.Scheme(was)
	b.Size(before[0], before[1])
}

// mostOfAPage bounds a page, in bytes, without the style and the scripts.
const mostOfAPage = 60 << 10

// fitsWindow checks the page that is open in the window as it is.
func fitsWindow(b *browsertest.Browser, name string) {
	b.Helper()
	require.Empty(b, browsertest.Eval[[]string](b, browsertest.Crooked), name)
	require.Empty(b, browsertest.Eval[[]string](b, browsertest.Pale), name)
	require.Less(b, browsertest.Eval[int](b, `performance.getEntriesByType("navigation")[0].decodedBodySize`), mostOfAPage, name)
}

func TestEachPageFitsAndIsReadable(t *testing.T) {
	w := newWorld(t)
	loaded, err := config.Load(config.Sources{})
	require.NoError(t, err)
	w.Env.Values = loaded.Values
	_, err = tokens.New(w.DB).Add(t.Context(), tokens.Token{Name: "desk", Scope: tokens.See,
		Mailboxes: []string{sample.Owner}})
	require.NoError(t, err)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0].Action
	for _, pages := range []map[string]string{ // a tab each: it is closed after five minutes
		{"today": "", "today-30d": "?window=30d"},
		{"actions": "actions", "actions-of-a-rule": "actions?rule=Newsletters&state=completed", "undo": "undo?kind=move",
			"action": "actions/" + moved.ID},
		{"mail": "mail", "message": w.pathOf(moved), "tried": w.pathOf(moved) + "/rules"},
		{"rules": "rules", "rule": "rules/" + w.rules()[0].ID, "editor": "rules/edit",
			"rule-form": "rules/form?rule=" + url.QueryEscape(w.rules()[0].Name),
			"versions":  "rules/versions?version=1"},
		{"mailboxes": "mailboxes", "removal": "mailboxes/" + moved.AccountID + "/remove", "labels": "labels",
			"models": "models"},
		{"settings": "settings", "audit": "audit?verify=1"},
	} {
		w.small(pages)
		looks(browsertest.Browse(t), w.url, pages)
	}
	require.NoError(t, w.Stop(t.Context(), "Ann", stopOptions("a look at the rules")))
	looks(browsertest.Browse(t), w.url, map[string]string{"stopped": ""})
}

// small checks that pages are quickly carried.
func (w *world) small(pages map[string]string) {
	w.Helper()
	for name, path := range pages {
		page := w.get(path)
		require.Equal(w, http.StatusOK, page.status, name)
		require.Less(w, len(page.body), mostOfAPage, name)
	}
}

func TestEachPageAboutRequestsFitsAndIsReadable(t *testing.T) {
	b := browsertest.Browse(t)
	w := newAskingWorld(t)
	pages := map[string]string{"waiting": "waiting", "waiting-news": "waiting?rule=News",
		"waiting-nothing": "waiting?rule=none",
		"request-sends":   "waiting/" + w.waiting(safety.Filter{Rule: "Books"})[0].Action.ID,
		"request-archive": "waiting/" + w.waiting(safety.Filter{Rule: "News"})[0].Action.ID}
	w.small(pages)
	looks(b, w.url, pages)
}

// ready is true once the script has begun.
const ready = `!document.querySelector("#keys-open").hidden`

// One click, or one key, stops everything on any page, and one click lets it go on.
func TestStopAndResume(t *testing.T) {
	b := browsertest.Browse(t)
	w := newWorld(t)
	stoppedBy := func() string {
		s, err := w.Ledger.Switch().Stopped(t.Context())
		require.NoError(t, err)
		if s == nil {
			return ""
		}
		return s.By
	}
	for _, width := range []int64{1280, 390} {
		b.Size(width, 844)
		b.Open(w.url)
		browsertest.Eval[any](b, `document.querySelector("#stop").click()`)
		b.Until(`document.querySelector("#stopped #by")?.textContent === "` + access.LocalName + `"`)
		require.Equal(t, access.LocalName, stoppedBy())
		b.Until(hidden) // when the page has its styles
		b.TabTo("#resume")
		b.Press("\r")
		b.Until(`document.querySelector(".done")?.textContent.includes("goes on")`)
		require.Empty(t, stoppedBy())
		b.Until(ready)
		b.Press("S")
		b.Until(`!!document.querySelector("#stopped") && ` + ready)
		require.Equal(t, access.LocalName, stoppedBy())
		b.Press("S")
		require.Equal(t, "resume", browsertest.Eval[string](b, "document.activeElement.id"))
		b.Press("\r")
		b.Until(`!document.querySelector("#stopped")`)
		require.Empty(t, stoppedBy())
	}
	require.NoError(t, w.Stop(t.Context(), "Ann", stop.Options{}))
	b.Until(`document.querySelector("#stopped #by")?.textContent === "Ann" && ` + hidden)
	require.NoError(t, w.Resume(t.Context(), "Ann", ""))
	b.Until(`!document.querySelector("#stopped") && !` + hidden)
	b.Quiet()
}

// hidden is true while there is no button that stops.
const hidden = `(document.querySelector("#stop").offsetParent === null)`

// A page that is not up to date lifts no stop that it does not show, and takes no stop over.
func TestAStopIsLiftedByWhoSeesIt(t *testing.T) {
	w := newWorld(t)
	stopped := func() *stop.Stop {
		s, err := w.Ledger.Switch().Stopped(t.Context())
		require.NoError(t, err)
		return s
	}
	require.NoError(t, w.Stop(t.Context(), "Ann", stop.Options{Why: "an incident"}))
	w.post("stop", url.Values{"why": {"the page"}})
	require.Equal(t, "an incident", stopped().Why)
	earlier := stopped().At.Add(-time.Minute).UTC().Format(time.RFC3339Nano)
	for _, seen := range []string{"", earlier} {
		require.Equal(t, http.StatusConflict, w.post("resume", url.Values{"seen": {seen}}).status)
		require.NotNil(t, stopped())
	}
	w.post("resume", url.Values{"seen": {stopped().At.UTC().Format(time.RFC3339Nano)}})
	require.Nil(t, stopped())
	require.NotEqual(t, http.StatusConflict, w.post("resume", nil).status, "breakers are closed where nothing is stopped")
}

func TestSingleKeysCanBeTurnedOff(t *testing.T) {
	b := browsertest.Browse(t)
	w := newWorld(t)
	b.Open(w.url)
	b.Until(ready)
	b.Press("?")
	b.Until(`document.querySelector("#keys").open`)
	browsertest.Eval[any](b, `document.querySelector("#keys-on").click()`)
	b.Press("\x1b")
	b.Until(`!document.querySelector("#keys").open`)
	b.Open(w.url)
	b.Until(ready)
	b.Press("?")
	require.False(t, browsertest.Eval[bool](b, `document.querySelector("#keys").open`))
	b.Quiet()
}

// Another site makes a browser send nothing that has an effect, and shows no page in a frame.
func TestRequestsOfOtherSitesAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"stop", "resume", "rules/x/enable", "mailboxes/x/resume"} {
		answer := w.do(http.MethodPost, path, url.Values{}, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		})
		require.Equal(t, http.StatusForbidden, answer.status, path)
	}
	s, err := w.Ledger.Switch().Stopped(t.Context())
	require.NoError(t, err)
	require.Nil(t, s)
	page := w.get("/")
	require.Equal(t, "DENY", page.header.Get("X-Frame-Options"))
	policy := page.header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
}

// A form leads back to the page that it was on, and never to another site.
func TestAFormLeadsBack(t *testing.T) {
	w := newWorld(t)
	at, err := url.Parse(w.url + "stop")
	require.NoError(t, err)
	for from, want := range map[string]string{
		"": "?done=stop", "/": "?done=stop", "/?window=24h": "?done=stop&window=24h", "//evil.example/x": "?done=stop",
		"https://evil.example/": "?done=stop", "javascript:alert(1)": "?done=stop",
	} {
		answer := w.post("stop", url.Values{"from": {from}})
		require.Equal(t, http.StatusSeeOther, answer.status)
		to, err := at.Parse(answer.header.Get("Location"))
		require.NoError(t, err)
		require.Equal(t, w.url+want, to.String(), from)
	}
}

// A link of another site, or in a mail, does not say that something was done.
func TestALinkFromElsewhereSaysNothing(t *testing.T) {
	w := newWorld(t)
	for site, says := range map[string]bool{"": true, "same-origin": true, "none": false, "same-site": false,
		"cross-site": false} {
		answer := w.do(http.MethodGet, "waiting?done=stop", nil, func(r *http.Request) {
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
		})
		require.Equal(t, http.StatusOK, answer.status, site)
		require.Equal(t, says, strings.Contains(answer.body, "Everything is stopped."), site)
	}
}

// What stands on the page is what the command line says.
func TestTodayAgreesWithTheCommands(t *testing.T) {
	b := browsertest.Browse(t)
	w := newWorld(t)
	waiting, err := w.Ledger.CountApprovals(t.Context())
	require.NoError(t, err)
	require.Positive(t, waiting)
	summary, err := w.Ledger.Activity().Summary(t.Context(), "")
	require.NoError(t, err)
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	stored, err := w.Mail.CountMessages(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	newest, err := w.Mail.NewestReceived(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	counts, err := w.Mail.CountReceived(t.Context(), accounts[0].ID,
		[]time.Time{time.Unix(0, 0), newest, newest.Add(time.Microsecond), newest.Add(time.Hour)})
	require.NoError(t, err)
	require.Equal(t, stored, counts[0]+counts[1])
	require.Positive(t, counts[1])
	require.Zero(t, counts[2])

	b.Open(w.url)
	b.Until(ready)
	require.Equal(t, strconv.Itoa(waiting), browsertest.Eval[string](b, `document.querySelector("#figures dd").textContent`))
	most := slices.MaxFunc(slices.Sorted(maps.Keys(summary.Rules)), func(a, b string) int {
		return summary.Rules[a] - summary.Rules[b]
	})
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#decided").innerText.replace(/\s+/g, " ")`),
		most+" "+strconv.Itoa(summary.Rules[most]))
	require.Positive(t, browsertest.Eval[int](b, `document.querySelectorAll("#mail rect").length`))
	top, err := w.Mail.TopSenders(t.Context(), accounts[0].ID, newest.AddDate(0, 0, -40), 1)
	require.NoError(t, err)
	b.Open(w.url + "?window=30d")
	first := browsertest.Eval[string](b, `document.querySelector("#senders tbody tr").innerText.replace(/\s+/g, " ").trim()`)
	require.Equal(t, fmt.Sprintf("%s %d %d %%", top[0].Sender, top[0].Messages, int(top[0].ReadShare()*100)), first)
	browsertest.Eval[any](b, `document.querySelector("#senders a").click()`)
	b.Until(`location.pathname === "/mail" && document.querySelectorAll("[data-row]").length > 0`)
	b.Quiet()
}

// A rule that the program has disabled, and a mailbox that is paused, stand on top, each with the click that mends it.
func TestTodayMendsWhatIsWrong(t *testing.T) {
	b := browsertest.Browse(t)
	w := newWorld(t)
	rules, err := w.Rules.List(t.Context())
	require.NoError(t, err)
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return errors.Join(w.Rules.Disable(ctx, tx, rules[0].ID, "Label 'Old' was deleted from Gmail"),
			w.Mail.Pause(ctx, tx, w.Queue, accounts[0].ID, "on holiday <b>now</b>"))
	}))
	for _, width := range []int64{1280, 390} {
		b.Size(width, 844)
		b.Open(w.url)
		b.Picture("troubles-" + strconv.FormatInt(width, 10))
	}
	require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#troubles").innerText`), "on holiday <b>now</b>")
	for range 2 {
		b.Until(`!!document.querySelector("#troubles button")`)
		before := browsertest.Eval[string](b, `document.querySelector("#troubles").innerText`)
		browsertest.Eval[any](b, `document.querySelector("#troubles button").click()`)
		b.Until(fmt.Sprintf(`document.querySelector("#troubles")?.innerText !== %q && !!document.querySelector(".done")`, before))
	}
	b.Until(`!document.querySelector("#troubles button")`)
	rule, err := w.Rules.Get(t.Context(), rules[0].ID)
	require.NoError(t, err)
	require.True(t, rule.Enabled)
	account, err := w.Mail.Account(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	require.Equal(t, mailstore.AccountActive, account.State)
	b.Quiet()
}
