package queueui_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
)

// lively is a site that reports changes quickly.
func lively(t *testing.T) *site {
	t.Helper()
	return newSite(t, &queueui.Config{Interval: 100 * time.Millisecond})
}

func TestTheOverviewFollowsTheQueue(t *testing.T) {
	b := browsertest.Browse(t)
	s := lively(t)
	b.Open(s.url)
	b.Until(`document.getElementById("types").innerText.includes("No jobs are stored")`)
	s.enqueue(classify.New(letter{}, nil))
	b.Until(`document.getElementById("types").innerText.includes("mail.classify")`)
	s.work(classify, succeed)
	b.Until(`document.getElementById("finished").innerText.includes("1 completed")`)
	require.EqualValues(t, 1, browsertest.Eval[int](b, `document.querySelectorAll(".c-completed rect").length`))
	s.failed()
	b.Until(`document.getElementById("finished").innerText.includes("1 failed")`)

	// What somebody has opened and where they stand stay when the part around them is replaced.
	b.TabTo(`#pause-type-mail\.send > summary`)
	b.Press(kb.Enter)
	s.failed()
	b.Until(`document.getElementById("finished").innerText.includes("2 failed")`)
	require.True(t, browsertest.Eval[bool](b, `document.getElementById("pause-type-mail.send").open`))
	require.Equal(t, "SUMMARY", browsertest.Eval[string](b, "document.activeElement.tagName"))
	b.Quiet()
}

// Keys go from job to job, and open one; none does anything once they are turned off.
func TestJobsHaveKeys(t *testing.T) {
	b := browsertest.Browse(t)
	s := lively(t)
	older, newer := s.failed(), s.failed()
	const ready = `!document.querySelector("#keys-open").hidden`
	at := func() string { return browsertest.Eval[string](b, "document.activeElement.id") }
	b.Open(s.url + "jobs")
	b.Until(ready)
	b.Press("j")
	require.Equal(t, "j-"+newer, at())
	b.Press("j")
	require.Equal(t, "j-"+older, at())
	b.Press("k", "o")
	b.Until(`location.pathname.endsWith("` + newer + `") && ` + ready)
	b.Press("/")
	require.Equal(t, "find", at())
	b.Press("j", "o")
	require.Equal(t, "find", at(), "in an input they are letters")
	browsertest.Eval[any](b, `document.activeElement.blur(); document.querySelector("#keys-on").click()`)
	b.Open(s.url + "jobs")
	b.Until(ready)
	b.Press("j")
	require.Empty(t, at())
	b.Quiet()
}

func TestUpdatesCanBeStopped(t *testing.T) {
	b := browsertest.Browse(t)
	s := lively(t)
	b.Open(s.url)
	b.TabTo("#live-toggle")
	require.Equal(t, "Live: stop updating", browsertest.Eval[string](b, `document.activeElement.textContent`))
	b.Press(kb.Enter)
	require.Equal(t, "Paused: go on updating", browsertest.Eval[string](b, `document.activeElement.textContent`))
	s.failed()
	b.Press(kb.Enter)
	b.Until(`document.getElementById("finished").innerText.includes("1 failed")`)
	require.Equal(t, "Live: stop updating", browsertest.Eval[string](b, `document.activeElement.textContent`))
	b.Quiet()
}

func TestJobsAreFoundRetriedAndCanceledByKeyboard(t *testing.T) {
	b := browsertest.Browse(t)
	s := lively(t)
	id := s.failed()
	s.enqueue(archive.New(letter{}, nil))
	b.Open(s.url)
	b.Press(kb.Tab)
	require.Equal(t, "Skip to the content", browsertest.Eval[string](b, "document.activeElement.innerText"))

	b.TabTo(`nav a[href$="jobs"]`)
	b.Press(kb.Enter)
	b.Until(`document.querySelectorAll(".jobs tbody tr").length === 2`)
	b.TabTo("#f-state")
	b.Press("f") // failed, in the list
	b.TabTo("#f-type")
	b.Press("m", "a", "i", "l", ".", "s", "e", "n", "d", kb.Enter)
	b.Until(`location.search.includes("state=failed") && document.querySelectorAll(".jobs tbody tr").length === 1`)

	b.TabTo("#j-" + id)
	b.Press(kb.Enter)
	b.Until(`location.pathname.endsWith("` + id + `") && document.querySelector("#retry > summary") !== null`)
	b.TabTo("#retry > summary")
	b.Press(kb.Enter)
	b.TabTo("#retry-go")
	b.Press(kb.Enter)
	b.Until(`document.body.innerText.includes("The job is due again")`)
	require.Equal(t, queue.StateQueued, s.state(id))

	b.TabTo("#cancel > summary")
	b.Press(kb.Enter)
	b.TabTo("#cancel-go")
	b.Press(kb.Enter)
	b.Until(`document.body.innerText.includes("The job is canceled.")`)
	require.Equal(t, queue.StateCanceled, s.state(id))
	b.Quiet()
}

func TestTypesArePausedByKeyboardAndWithoutScripts(t *testing.T) {
	b := browsertest.Browse(t)
	s := lively(t)
	s.failed()
	browsertest.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Open(s.url)
	require.False(t, browsertest.Eval[bool](b, `document.getElementById("live-toggle").checkVisibility()`),
		"there is nothing to stop")
	b.TabTo(`#pause-type-mail\.send > summary`)
	b.Press(kb.Enter)
	b.TabTo(`#pause-go-type-mail\.send`)
	b.Press(kb.Enter)
	b.UntilAsked(`document.readyState === "complete" && document.body.innerText.includes("Paused. What runs goes on")`)
	limits, err := s.q.Limits(t.Context())
	require.NoError(t, err)
	require.Equal(t, []queue.LimitStatus{{Target: queue.ForType(send), Paused: true}}, limits)

	b.TabTo(`#resume-type-mail\.send`)
	b.Press(kb.Enter)
	b.UntilAsked(`document.readyState === "complete" && document.body.innerText.includes("Resumed.")`)
	limits, err = s.q.Limits(t.Context())
	require.NoError(t, err)
	require.Empty(t, limits)
	b.Quiet()
}

// The browser itself reports where a form was sent from.
func TestAFormOfAnotherSiteDoesNothing(t *testing.T) {
	b := browsertest.Browse(t)
	s := lively(t)
	id := s.failed()
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<form method="post" action="` + s.url + "jobs/" + id +
			`/retry"><button>Win</button></form>`))
	}))
	defer attacker.Close()
	b.Open(attacker.URL)
	b.TabTo("button")
	b.Press(kb.Enter)
	b.Until(`document.body.innerText.includes("This request came from another site.")`)
	require.Equal(t, queue.StateFailed, s.state(id))
}
