package queueui_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/queueui"
)

func letters(n int) []queue.NewJob {
	return slices.Repeat([]queue.NewJob{classify.New(letter{}, nil)}, n)
}

// report is a flow that has begun: split has completed, one of three resizes has failed.
func (s *site) report() (id string) {
	s.Helper()
	f := flow.New("monthly report", nil)
	f.Add("split", archive.New(letter{}, nil))
	for i, name := range []string{"resize-a", "resize-b", "resize-c"} {
		job := []queue.Type[letter]{classify, send, classify}[i].New(letter{}, nil)
		f.Add(name, job, flow.After("split"))
	}
	f.AddMany("check every page of the report", slices.Values(letters(12)), flow.After("split"))
	f.Add("gather", archive.New(letter{}, nil), flow.After("resize-a", "resize-b", "check every page of the report"))
	f.Add("clean up", archive.New(letter{}, nil), flow.AfterEnd("gather", "resize-c"))
	id, err := flow.Enqueue(s.Context(), s.q, f)
	require.NoError(s, err)
	s.work(archive, succeed)
	s.work(classify, succeed)
	require.Equal(s, queue.StateFailed, s.work(send, fail).State)
	return id
}

func TestAFlowIsShown(t *testing.T) {
	s := newSite(t, nil)
	id := s.report()
	require.Contains(t, s.get("flows").body, `href="./flows/`+id)
	page := s.get("flows/" + id).body
	for _, part := range []string{
		"7 nodes in 4 levels", "✕ failed", "✓ completed", ">check every page of t…</text>", "● running", "of 12</text>",
		`<a id="box-split"`, "Picture", `class="edge passed"`, `<desc id="graph-d">7 nodes`, "Cancel the flow",
	} {
		require.Contains(t, strings.ReplaceAll(page, "▶", "●"), part)
	}
	require.Equal(t, 9, strings.Count(page, `<path class="edge`))
	node := s.get("flows/" + id + "?node=resize-b").body
	require.Contains(t, node, "Jobs of resize-b")
	require.Contains(t, node, "550 5.1.1 mailbox unavailable")
	_, rest, _ := strings.Cut(node, `<a class="mono" id="j-`)
	job, _, _ := strings.Cut(rest, `"`)
	require.Contains(t, s.get("jobs/"+job).body, `href="../flows/`+id+`?node=resize-b#jobs"`)
	require.Equal(t, http.StatusNotFound, s.get("flows/none").StatusCode)

	require.Contains(t, s.act("flows/"+id+"/cancel", nil).body, "The flow is canceled.")
	again := s.post("flows/"+id+"/cancel", "same-origin", nil)
	require.Equal(t, http.StatusConflict, again.StatusCode)
	require.Contains(t, s.act("flows/"+id+"/retry", nil).body, "What has failed runs again.")
	status, err := flow.Get(t.Context(), s.q, id)
	require.NoError(t, err)
	require.Equal(t, flow.Running, status.State)
}

// A flow that a retry of one job has left standing is retried on its page, as Doctor advises.
func TestAFlowThatStandsStillIsRetried(t *testing.T) {
	s := newSite(t, nil)
	f := flow.New("report", nil)
	f.Add("first", archive.New(letter{}, &queue.Options{MaxAttempts: 1}))
	f.Add("then", classify.New(letter{}, nil), flow.After("first"))
	id, err := flow.Enqueue(t.Context(), s.q, f)
	require.NoError(t, err)
	require.NotContains(t, s.get("flows/"+id).body, "Retry the flow")
	s.work(archive, fail)
	_, err = s.q.Claim(t.Context(), "w", []string{string(classify)}, 1) // which cancels it
	require.NoError(t, err)
	canceled, err := s.q.Jobs(t.Context(), queue.Filter{Types: []string{string(classify)}})
	require.NoError(t, err)
	require.NoError(t, s.q.Retry(t.Context(), canceled[0].ID))
	require.Contains(t, s.get("flows/"+id).body, "Retry the flow")
	require.Contains(t, s.act("flows/"+id+"/retry", nil).body, "What has failed runs again.")
	require.NotContains(t, s.get("flows/"+id).body, "Retry the flow")
}

// Of a large flow, a level is one box.
func TestALargeFlowIsFolded(t *testing.T) {
	s := newSite(t, nil)
	f := flow.New("import", nil)
	f.Add("list", archive.New(letter{}, nil))
	var names []string
	for i := range 250 {
		names = append(names, fmt.Sprintf("part-%03d", i))
		f.Add(names[i], classify.New(letter{}, nil), flow.After("list"))
	}
	f.Add("index", archive.New(letter{}, nil), flow.After(names...))
	id, err := flow.Enqueue(t.Context(), s.q, f)
	require.NoError(t, err)
	s.work(archive, succeed)
	for range 3 {
		s.work(classify, succeed)
	}
	page := s.get("flows/" + id).body
	require.Equal(t, 3, strings.Count(page, `<rect class="n-`))
	for _, part := range []string{"252 nodes in 3 levels", "Level 2: 250 nodes", ">▶ 247 running</text>",
		">✓ 3 completed</text>", "each box is a level"} {
		require.Contains(t, page, part)
	}
}

// A chain of very many nodes is no wider than others, and many edges are not drawn each: every viewer gets the page
// again and again.
func TestThePictureOfAHugeFlowIsBounded(t *testing.T) {
	s := newSite(t, nil)
	chain, dense := flow.New("chain", nil), flow.New("dense", nil)
	chain.Add("n0", archive.New(letter{}, nil))
	for i := range 1234 {
		chain.Add(fmt.Sprint("n", i+1), archive.New(letter{}, nil), flow.AfterEnd(fmt.Sprint("n", i)))
	}
	var names []string
	for i := range 80 {
		names = append(names, fmt.Sprint("a", i))
		dense.Add(names[i], archive.New(letter{}, nil))
	}
	for i := range 80 {
		dense.Add(fmt.Sprint("b", i), archive.New(letter{}, nil), flow.After(names...))
	}
	for _, c := range []struct {
		f     *flow.Flow
		boxes int
		words []string
	}{
		{chain, 177, []string{"1\u202f235 nodes in 1\u202f235 levels", ">Levels 1–7</text>", ">Levels 1\u202f233–1\u202f235</text>",
			"each box is 7 levels"}},
		{dense, 2, []string{"160 nodes in 2 levels", "Level 2: 80 nodes", "each box is a level"}},
	} {
		id, err := flow.Enqueue(t.Context(), s.q, c.f)
		require.NoError(t, err)
		page := s.get("flows/" + id).body
		require.Equal(t, c.boxes, strings.Count(page, `<rect class="n-`))
		require.Less(t, len(page), 400_000)
		for _, part := range c.words {
			require.Contains(t, page, part)
		}
	}
}

// A level with a failed node has not been passed while others of it run.
func TestALevelIsPassedWhenAllOfItHasEnded(t *testing.T) {
	s := newSite(t, nil)
	f := flow.New("import", nil)
	f.Add("one", send.New(letter{}, nil))
	var names []string
	for i := range 250 {
		names = append(names, fmt.Sprint("part-", i))
		f.Add(names[i], classify.New(letter{}, nil))
	}
	f.Add("index", archive.New(letter{}, nil), flow.AfterEnd(append(names, "one")...))
	id, err := flow.Enqueue(t.Context(), s.q, f)
	require.NoError(t, err)
	require.Equal(t, queue.StateFailed, s.work(send, fail).State)
	require.Contains(t, s.get("flows/"+id).body, `<path class="edge" d`)
	queuetest.Work(t, s.q, func(d *queue.Dispatcher) { queue.Handle(d, classify, succeed) })
	require.Contains(t, s.get("flows/"+id).body, `<path class="edge passed" d`)
}

// The picture follows the flow, and the keyboard reaches its nodes.
func TestAPictureFollowsItsFlow(t *testing.T) {
	b := browsertest.Browse(t)
	s := newSite(t, &queueui.Config{Interval: 100 * time.Millisecond})
	f := flow.Chain(send.New(letter{}, nil), archive.New(letter{}, nil))
	id, err := flow.Enqueue(t.Context(), s.q, f)
	require.NoError(t, err)
	b.Open(s.url + "flows/" + id)
	b.Until(`document.querySelectorAll("#graph .n-running").length === 1`)
	queuetest.Work(t, s.q, func(d *queue.Dispatcher) {
		queue.Handle(d, send, succeed)
		queue.Handle(d, archive, func(context.Context, *queue.Work[letter]) error { return queue.Fatal(errors.New("full")) })
	})
	b.Until(`document.querySelectorAll("#graph .n-completed").length === 1 && document.querySelectorAll("#graph .n-failed").length === 1`)
	nodes, err := flow.Nodes(t.Context(), s.q, id)
	require.NoError(t, err)
	b.TabTo("#box-" + `\` + fmt.Sprintf("%x ", nodes[1].Name[0]) + nodes[1].Name[1:])
	b.Press("\r")
	b.Until(`document.readyState === "complete" && document.querySelector("#jobs")?.innerText.includes("full")`)
	b.Quiet()
}

// The longest name, without a place to break it, makes no page wider than a phone, and stays in its box.
func TestLongNamesOfAFlowStayOnThePage(t *testing.T) {
	b := browsertest.Browse(t)
	s := newSite(t, nil)
	long := strings.Repeat("W", 200)
	f := flow.New(long, nil)
	f.Add(long, send.New(letter{}, nil))
	f.Add("next", send.New(letter{}, nil), flow.After(long))
	id, err := flow.Enqueue(t.Context(), s.q, f)
	require.NoError(t, err)
	b.Size(390, 900)
	for _, page := range []string{"flows", "flows/" + id, "flows/" + id + "?node=" + long} {
		b.Open(s.url + page)
		require.LessOrEqual(t, browsertest.Eval[int64](b, "document.documentElement.scrollWidth"), int64(390), page)
	}
	require.True(t, browsertest.Eval[bool](b, `[...document.querySelectorAll("#graph a")].every(box => {
		const clip = box.querySelector("text").viewportElement, room = box.querySelector("rect");
		return getComputedStyle(clip).overflowX === "hidden" && clip.getAttribute("width") === room.getAttribute("width");
	})`))
	b.Quiet()
}

// The reader's time zone comes with a cookie that the page's script sets.
func TestTimesAreThoseOfTheReader(t *testing.T) {
	s := newSite(t, nil)
	id := s.enqueue(classify.New(letter{}, nil))
	get := func(cookie string) string {
		req := httptestRequest(t, s.url+"jobs/"+id)
		if cookie != "" {
			req.AddCookie(&http.Cookie{Name: "zone", Value: cookie})
		}
		return s.do(req).body
	}
	for _, none := range []string{"", "Nowhere/None", "Local", "../etc/passwd"} {
		page := get(none)
		require.Contains(t, page, `data-zone="UTC"`, none)
		require.Contains(t, page, " UTC</dd>", none)
	}
	page := get("Asia/Kolkata")
	require.Contains(t, page, `data-zone="Asia/Kolkata"`)
	require.Contains(t, page, " IST</dd>")
	require.Contains(t, page, "%3Fzone%3DAsia", "so is what it is kept up to date with")
}
