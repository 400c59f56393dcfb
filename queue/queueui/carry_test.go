package queueui_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
)

// What jobs carry comes from strangers.
func TestWhatJobsCarryIsEscapedCutAndMadeVisible(t *testing.T) {
	s := newSite(t, nil)
	const evil = `</pre><script>alert(1)</script>"' onload=x`
	hostile := queue.Type[letter](`<img src=x onerror=alert(1)>&"'`)
	id := s.enqueue(hostile.New(letter{To: evil, Subject: "nul \x00, bell \x07 and \u202egnp.exe"}, &queue.Options{
		UserID: evil, Tags: []string{evil}, Key: queue.Forever(evil), LimitKey: evil,
	}))
	s.work(hostile, func(ctx context.Context, w *queue.Work[letter]) error {
		w.Logger().Error(evil, evil, evil)
		_, err := queue.Step(ctx, w, evil, func(context.Context) (string, error) { return evil, nil })
		require.NoError(t, err)
		return queue.Fatal(errors.New(evil + "\x00\u202e"))
	})
	job := s.get("jobs/" + id)
	require.Equal(t, http.StatusOK, job.StatusCode)
	query := url.Values{"type": {string(hostile)}, "user": {evil}, "tag": {evil}}.Encode()
	for name, a := range map[string]answer{
		"overview": s.get(""), "jobs": s.get("jobs?" + query), "job": job,
		"unknown": s.get("jobs/" + url.PathEscape(evil)), "bad": s.get("jobs?state=" + url.QueryEscape(evil)),
	} {
		require.NotContains(t, a.body, "<script>alert", name)
		require.NotContains(t, a.body, "<img", name)
		require.NotContains(t, a.body, "\x00", name)
		require.NotContains(t, a.body, "\u202e", name)
		require.Equal(t, 2, strings.Count(a.body, "<script"), "%s: only live.js and keys.js", name)
	}
	require.Contains(t, job.body, "{\n  &#34;to&#34;: &#34;&lt;/pre&gt;",
		"as it was written, without the escapes of encoding/json")
	require.Contains(t, job.body, "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;")
	require.Contains(t, job.body, "onload=x��", "a turned direction and a NUL are to be seen")
}

func TestHugePayloadsAreCut(t *testing.T) {
	s := newSite(t, nil)
	id := s.enqueue(classify.New(letter{Subject: strings.Repeat("ä", 200<<10)}, nil))
	page := s.get("jobs/" + id)
	require.Less(t, len(page.body), 100<<10)
	require.Contains(t, page.body, "… (400 KB in all)")

	deep := queue.Type[any]("deep")
	var nested any
	for range 5000 {
		nested = []any{nested}
	}
	id = s.enqueue(deep.New(nested, nil))
	require.Less(t, len(s.get("jobs/"+id).body), 50<<10)
}

func TestPayloadsCanBeHidden(t *testing.T) {
	s := newSite(t, &queueui.Config{HidePayloads: true})
	id := s.enqueue(send.New(letter{To: "secret-to"}, nil))
	s.work(send, func(ctx context.Context, w *queue.Work[letter]) error {
		w.Logger().Info("said", "attr", "secret-attr")
		_, err := queue.Step(ctx, w, "draft", func(context.Context) (string, error) { return "secret-step", nil })
		require.NoError(t, err)
		return nil
	})
	page := s.get("jobs/" + id)
	require.NotContains(t, page.body, "secret")
	require.Contains(t, page.body, "said")
	require.Contains(t, page.body, "This dashboard does not show what jobs carry.")
}
