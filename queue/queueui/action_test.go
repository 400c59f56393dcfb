package queueui_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

func TestActionsFromOtherSitesAreRefused(t *testing.T) {
	s := newSite(t, nil)
	id := s.enqueue(classify.New(letter{}, nil))
	for _, from := range []string{"cross-site", "same-site"} {
		a := s.post("jobs/"+id+"/cancel", from, nil)
		require.Equal(t, http.StatusForbidden, a.StatusCode)
		require.Contains(t, a.body, "This request came from another site.")
	}
	// A browser that does not send the site sends the origin.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"jobs/"+id+"/cancel", nil)
	require.NoError(t, err)
	req.Header.Set("Origin", "https://attacker.example")
	require.Equal(t, http.StatusForbidden, s.do(req).StatusCode)
	require.Equal(t, queue.StateQueued, s.state(id))
	// What only a form can do no link does.
	require.Equal(t, http.StatusNotFound, s.get("jobs/"+id+"/cancel").StatusCode)
	require.Equal(t, queue.StateQueued, s.state(id))
}

func TestRetryAndCancel(t *testing.T) {
	s := newSite(t, nil)
	failed, queued := s.failed(), s.enqueue(classify.New(letter{}, nil))

	require.Contains(t, s.act("jobs/"+failed+"/retry", nil).body, "The job is due again")
	require.Equal(t, queue.StateQueued, s.state(failed))
	again := s.post("jobs/"+failed+"/retry", "same-origin", nil)
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.body, "The job is queued or running already.")

	require.Contains(t, s.act("jobs/"+queued+"/cancel", nil).body, "The job is canceled.")
	require.Equal(t, queue.StateCanceled, s.state(queued))
	again = s.post("jobs/"+queued+"/cancel", "same-origin", nil)
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.body, "The job has already finished")

	completed := s.enqueue(archive.New(letter{}, nil))
	s.work(archive, succeed)
	again = s.post("jobs/"+completed+"/retry", "same-origin", nil)
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.body, "Only failed and canceled jobs can be retried.")
	require.Equal(t, http.StatusNotFound, s.post("jobs/none/retry", "same-origin", nil).StatusCode)
}

func TestRetryOfWhatHasLostItsKeyIsRefused(t *testing.T) {
	s := newSite(t, nil)
	key := &queue.Options{Key: queue.WhileUnfinished("k")}
	id := s.enqueue(send.New(letter{}, key))
	require.NoError(t, s.q.Cancel(t.Context(), id))
	s.enqueue(send.New(letter{}, key))
	a := s.post("jobs/"+id+"/retry", "same-origin", nil)
	require.Equal(t, http.StatusConflict, a.StatusCode)
	require.Contains(t, a.body, "Another job has taken this job&#39;s idempotency key")
}

func TestAllThatMatchAreRetriedOrCanceled(t *testing.T) {
	s := newSite(t, nil)
	a, b := s.failed(), s.failed()
	other := s.enqueue(classify.New(letter{}, nil))
	s.work(classify, fail)
	page := s.act("jobs/retry", url.Values{"state": {"failed"}, "type": {"mail.send"}})
	require.Contains(t, page.body, "Due again: 2 jobs.")
	require.Equal(t, []queue.State{"queued", "queued", "failed"}, []queue.State{s.state(a), s.state(b), s.state(other)})

	page = s.act("jobs/cancel", url.Values{"state": {"queued"}})
	require.Contains(t, page.body, "Canceled: 2 jobs.")
	require.Equal(t, queue.StateCanceled, s.state(a))

	for path, state := range map[string]string{"jobs/retry": "completed", "jobs/cancel": "failed", "jobs/retry?": "",
		"jobs/cancel?": "running?"} {
		require.Equal(t, http.StatusBadRequest, s.post(path, "same-origin", url.Values{"state": {state}}).StatusCode,
			path)
	}
	require.Equal(t, queue.StateFailed, s.state(other))
}

// A filter of blanks is not left out, which would have an action reach more jobs than were asked for.
func TestBlanksAreAPartOfAFilter(t *testing.T) {
	s := newSite(t, nil)
	plain := s.enqueue(send.New(letter{}, &queue.Options{UserID: "ada", Tags: []string{"a"}, LimitKey: "k"}))
	for _, field := range []string{"type", "user", "tag", "limit", "error"} {
		for _, value := range []string{" ", "\t", " mail.send", "ada ", " a", "k "} {
			query := url.Values{"state": {"queued"}, field: {value}}
			require.Contains(t, s.get("jobs?"+query.Encode()).body, "No jobs are like that", query)
			require.Contains(t, s.act("jobs/cancel", query).body, "Canceled: 0 jobs.", query)
		}
	}
	require.Equal(t, queue.StateQueued, s.state(plain))
	blank := s.enqueue(queue.Type[letter](" ").New(letter{}, nil))
	require.Contains(t, s.get(link(t, strings.Replace(s.get("").body, `<a href="./jobs?type=%20"`,
		`<a id="blank" href="./jobs?type=%20"`, 1), "blank")).body, blank)
	require.Contains(t, s.act("jobs/cancel", url.Values{"state": {"queued"}, "type": {" "}}).body, "Canceled: 1 job.")
	require.Equal(t, []queue.State{"queued", "canceled"}, []queue.State{s.state(plain), s.state(blank)})
}

func TestPauseAndResume(t *testing.T) {
	s := newSite(t, nil)
	require.NoError(t, s.q.SetSchedule(t.Context(), queue.Schedule{Name: "daily", Cron: "@daily",
		Job: send.New(letter{}, nil)}))
	for kind, name := range map[string]string{"type": "mail.send", "key": "k", "prefix": "gmail:",
		"schedule": "daily"} {
		form := url.Values{"kind": {kind}, "name": {name}}
		page := s.act("pause", form)
		require.Contains(t, page.body, "Paused. What runs goes on")
		require.Contains(t, page.body, "‖ paused")
		page = s.act("resume", form)
		require.Contains(t, page.body, "Resumed.")
		require.NotContains(t, page.body, "‖ paused")
	}
	all := url.Values{"kind": {"type"}, "name": {"*"}}
	require.Contains(t, s.act("pause", all).body, "All types are paused.")
	require.NotContains(t, s.act("resume", all).body, "All types are paused.")

	require.Equal(t, http.StatusBadRequest,
		s.post("pause", "same-origin", url.Values{"kind": {"moon"}, "name": {"x"}}).StatusCode)
	require.Equal(t, http.StatusNotFound,
		s.post("pause", "same-origin", url.Values{"kind": {"schedule"}, "name": {"none"}}).StatusCode)
}

// What a form of a limit or of a schedule says wrongly is said.
func TestLimitsAndSchedulesAreOperated(t *testing.T) {
	s := newSite(t, nil)
	target := queue.ForKey("gmail:ada")
	form := url.Values{"kind": {"key"}, "name": {"gmail:ada"}, "max": {"2"}, "rate": {"250"}, "per": {"1s"}}
	require.Contains(t, s.act("limit", form).body, "The limit is set.")
	limits, err := s.q.Limits(t.Context())
	require.NoError(t, err)
	want := queue.Limit{MaxRunning: 2, Rate: 250, Per: time.Second, Burst: 1}
	require.Equal(t, []queue.LimitStatus{{Target: target, Limit: want}}, limits)
	for field, bad := range map[string]string{"max": "many", "per": "second", "rate": "-1", "kind": "user"} {
		wrong := maps.Clone(form)
		wrong[field] = []string{bad}
		require.Equal(t, http.StatusBadRequest, s.post("limit", "same-origin", wrong).StatusCode, field)
	}
	// Zero jobs at once is a pause, and no limit at all is an empty field.
	for _, zero := range []string{"max", "rate"} {
		wrong := maps.Clone(form)
		wrong[zero] = []string{"0"}
		refused := s.post("limit", "same-origin", wrong)
		require.Equal(t, http.StatusBadRequest, refused.StatusCode)
		require.Contains(t, refused.body, "pause what is not to run")
	}
	limits, err = s.q.Limits(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, limits[0].Limit)
	require.Contains(t, s.act("limit", url.Values{"kind": {"key"}, "name": {"gmail:ada"}}).body, "The limit is removed.")
	limits, err = s.q.Limits(t.Context())
	require.NoError(t, err)
	require.Empty(t, limits)

	require.Equal(t, http.StatusNotFound, s.post("fire", "same-origin", url.Values{"name": {"none"}}).StatusCode)
	require.NoError(t, s.q.SetSchedule(t.Context(), queue.Schedule{Name: "digest", Cron: "@daily",
		Job: send.New(letter{}, &queue.Options{Key: queue.WhileUnfinished("digest")})}))
	require.Contains(t, s.act("fire", url.Values{"name": {"digest"}}).body, "The schedule has fired: this is its job.")
	again := s.post("fire", "same-origin", url.Values{"name": {"digest"}})
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, again.body, "an earlier one has not ended")
	require.Contains(t, s.get("jobs?tag=schedule:digest").body, "mail.send")
}

// A list by an error counts its jobs, and only they are retried.
func TestJobsOfAnErrorAreFoundAndRetried(t *testing.T) {
	s := newSite(t, nil)
	for range 2 {
		s.failed()
	}
	other := s.enqueue(classify.New(letter{}, nil))
	s.work(classify, func(context.Context, *queue.Work[letter]) error { return queue.Fatal(errors.New("no such label")) })
	page := s.get("jobs?error=MAILBOX").body
	require.Equal(t, 2, strings.Count(page, `<th scope="row" class="mono id">`))
	require.NotContains(t, page, other)
	_, rest, found := strings.Cut(s.get("").body, `<a id="g-`)
	require.True(t, found)
	group, _, _ := strings.Cut(rest, `"`)
	page = s.get("jobs?group=" + group).body
	require.Contains(t, page, "Retry all 2…")
	require.Contains(t, s.act("jobs/retry", url.Values{"group": {group}}).body, "Due again: 2 jobs.")
	require.Equal(t, queue.StateFailed, s.state(other))
	require.Equal(t, http.StatusBadRequest, s.post("jobs/retry", "same-origin", url.Values{"error": {"label"}}).StatusCode)
	require.Equal(t, http.StatusBadRequest, s.get("jobs?group=none").StatusCode)
}
