package queueui_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
)

// lively is a site that reports changes quickly.
func lively(t *testing.T) *site {
	t.Helper()
	return newSite(t, &queueui.Config{Interval: 100 * time.Millisecond})
}

func TestTheOverviewFollowsTheQueue(t *testing.T) {
	b := browse(t)
	s := lively(t)
	b.open(s.url)
	b.until(`document.getElementById("types").innerText.includes("No jobs are stored")`)
	s.enqueue(classify.New(letter{}, nil))
	b.until(`document.getElementById("types").innerText.includes("mail.classify")`)
	s.work(classify, succeed)
	b.until(`document.getElementById("finished").innerText.includes("1 completed")`)
	require.EqualValues(t, 1, eval[int](b, `document.querySelectorAll(".c-completed rect").length`))
	s.failed()
	b.until(`document.getElementById("finished").innerText.includes("1 failed")`)

	// What somebody has opened and where they stand stay when the part around them is replaced.
	b.tabTo(`#pause-type-mail\.send > summary`)
	b.press(kb.Enter)
	s.failed()
	b.until(`document.getElementById("finished").innerText.includes("2 failed")`)
	require.True(t, eval[bool](b, `document.getElementById("pause-type-mail.send").open`))
	require.Equal(t, "SUMMARY", eval[string](b, "document.activeElement.tagName"))
	b.quiet()
}

func TestUpdatesCanBeStopped(t *testing.T) {
	b := browse(t)
	s := lively(t)
	b.open(s.url)
	b.tabTo("#live-toggle")
	require.Equal(t, "Live: stop updating", eval[string](b, `document.activeElement.textContent`))
	b.press(kb.Enter)
	require.Equal(t, "Paused: go on updating", eval[string](b, `document.activeElement.textContent`))
	s.failed()
	b.press(kb.Enter)
	b.until(`document.getElementById("finished").innerText.includes("1 failed")`)
	require.Equal(t, "Live: stop updating", eval[string](b, `document.activeElement.textContent`))
	b.quiet()
}

func TestJobsAreFoundRetriedAndCanceledByKeyboard(t *testing.T) {
	b := browse(t)
	s := lively(t)
	id := s.failed()
	s.enqueue(archive.New(letter{}, nil))
	b.open(s.url)
	b.press(kb.Tab)
	require.Equal(t, "Skip to the content", eval[string](b, "document.activeElement.innerText"))

	b.tabTo(`nav a[href$="jobs"]`)
	b.press(kb.Enter)
	b.until(`document.querySelectorAll(".jobs tbody tr").length === 2`)
	b.tabTo("#f-state")
	b.press("f") // failed, in the list
	b.tabTo("#f-type")
	b.press("m", "a", "i", "l", ".", "s", "e", "n", "d", kb.Enter)
	b.until(`location.search.includes("state=failed") && document.querySelectorAll(".jobs tbody tr").length === 1`)

	b.tabTo("#j-" + id)
	b.press(kb.Enter)
	b.until(`location.pathname.endsWith("` + id + `") && document.querySelector("#retry > summary") !== null`)
	b.tabTo("#retry > summary")
	b.press(kb.Enter)
	b.tabTo("#retry-go")
	b.press(kb.Enter)
	b.until(`document.body.innerText.includes("The job is due again")`)
	require.Equal(t, queue.StateQueued, s.state(id))

	b.tabTo("#cancel > summary")
	b.press(kb.Enter)
	b.tabTo("#cancel-go")
	b.press(kb.Enter)
	b.until(`document.body.innerText.includes("The job is canceled.")`)
	require.Equal(t, queue.StateCanceled, s.state(id))
	b.quiet()
}

func TestTypesArePausedByKeyboardAndWithoutScripts(t *testing.T) {
	b := browse(t)
	s := lively(t)
	s.failed()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(s.url)
	require.False(t, eval[bool](b, `document.getElementById("live-toggle").checkVisibility()`),
		"there is nothing to stop")
	b.tabTo(`#pause-type-mail\.send > summary`)
	b.press(kb.Enter)
	b.tabTo(`#pause-go-type-mail\.send`)
	b.press(kb.Enter)
	b.untilAsked(`document.readyState === "complete" && document.body.innerText.includes("Paused. What runs goes on")`)
	limits, err := s.q.Limits(t.Context())
	require.NoError(t, err)
	require.Equal(t, []queue.LimitStatus{{Target: queue.ForType(send), Paused: true}}, limits)

	b.tabTo(`#resume-type-mail\.send`)
	b.press(kb.Enter)
	b.untilAsked(`document.readyState === "complete" && document.body.innerText.includes("Resumed.")`)
	limits, err = s.q.Limits(t.Context())
	require.NoError(t, err)
	require.Empty(t, limits)
	b.quiet()
}

// The browser itself reports where a form was sent from.
func TestAFormOfAnotherSiteDoesNothing(t *testing.T) {
	b := browse(t)
	s := lively(t)
	id := s.failed()
	attacker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<form method="post" action="` + s.url + "jobs/" + id +
			`/retry"><button>Win</button></form>`))
	}))
	defer attacker.Close()
	b.open(attacker.URL)
	b.tabTo("button")
	b.press(kb.Enter)
	b.until(`document.body.innerText.includes("This request came from another site.")`)
	require.Equal(t, queue.StateFailed, s.state(id))
}
