package queueui_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/queue/queueui"
)

// counted counts how often the overview is read.
type counted struct {
	driver.Driver
	reads atomic.Int64
	takes time.Duration
}

func (c *counted) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	c.reads.Add(1)
	time.Sleep(c.takes) // in a bubble: a database that is slow
	return c.Driver.Stats(ctx, query)
}

func (c *counted) queue(t *testing.T) *queue.Queue {
	t.Helper()
	c.Driver = queuetest.New(t).DB().Driver()
	q, err := queue.New(queue.NewDB(c), nil)
	require.NoError(t, err)
	return q
}

// A reader of events without a network, so that a bubble's time can pass.
type reader struct {
	cancel context.CancelFunc
	done   chan struct{}
	*httptest.ResponseRecorder
}

func watch(t *testing.T, ui http.Handler, page string) *reader {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &reader{cancel: cancel, done: make(chan struct{}), ResponseRecorder: httptest.NewRecorder()}
	req := httptest.NewRequest(http.MethodGet, "/events?page="+url.QueryEscape(page), nil).WithContext(ctx)
	go func() {
		defer close(r.done)
		ui.ServeHTTP(r, req)
	}()
	return r
}

// leave ends the stream and returns what has come.
func (r *reader) leave() string {
	r.cancel()
	<-r.done
	return r.Body.String()
}

func TestAPageIsReadOncePerIntervalHoweverManyWatch(t *testing.T) {
	var c counted
	synctest.Test(t, func(t *testing.T) {
		ui, err := queueui.New(c.queue(t), &queueui.Config{Interval: time.Second})
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.Zero(t, c.reads.Load(), "nobody watches")

		var readers []*reader
		for range 50 {
			readers = append(readers, watch(t, ui, "/"))
		}
		synctest.Wait()
		time.Sleep(10*time.Second + time.Millisecond)
		require.EqualValues(t, 10, c.reads.Load())
		for _, r := range readers {
			text := r.leave()
			require.Equal(t, 1, strings.Count(text, "event: fragment\n"), "it has not changed since")
			require.Equal(t, "text/event-stream; charset=utf-8", r.Header().Get("Content-Type"))
		}
		synctest.Wait()
		time.Sleep(time.Hour)
		require.EqualValues(t, 10, c.reads.Load(), "nobody watches any more")
		ui.Close()
	})
}

func TestAPageThatIsSlowIsReadLessOften(t *testing.T) {
	c := counted{takes: 3 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		ui, err := queueui.New(c.queue(t), nil)
		require.NoError(t, err)
		r := watch(t, ui, "/")
		time.Sleep(10 * time.Minute)
		require.Contains(t, r.leave(), "No jobs are stored")
		require.InDelta(t, 600/33, c.reads.Load(), 2)
		ui.Close()
	})
}

func TestAStreamTellsWhatHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		ui, err := queueui.New(q, nil)
		require.NoError(t, err)
		enqueued, err := q.Enqueue(t.Context(), classify.New(letter{Subject: "two\nlines\r\nof it"}, nil))
		require.NoError(t, err)
		overview, list, job := watch(t, ui, "/?window=24h"), watch(t, ui, "/jobs?state=canceled"),
			watch(t, ui, "/jobs/"+enqueued.ID)
		time.Sleep(3 * time.Second)
		require.NoError(t, q.Cancel(t.Context(), enqueued.ID))
		time.Sleep(3 * time.Second)
		require.Contains(t, overview.leave(), "1 canceled")
		text := list.leave()
		require.Contains(t, text, "No jobs are like that")
		require.Contains(t, text, `href="./jobs/`+enqueued.ID)
		text = job.leave()
		require.Contains(t, text, "Retry the job")
		for line := range strings.SplitSeq(text, "\n") {
			require.True(t, line == "" || line == ":" || strings.HasPrefix(line, "data: ") ||
				strings.HasPrefix(line, "event: ") || strings.HasPrefix(line, "retry: "), line)
		}
		ui.Close()
	})
}

// Nobody takes for live what can no longer be read, nor goes on to do so when it can be read again.
func TestAStreamTellsThatItsPageCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queuetest.New(t)
		ui, err := queueui.New(q, nil)
		require.NoError(t, err)
		rename := func(from, to string) {
			require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "ALTER TABLE "+from+" RENAME TO "+to)
				return err
			}))
		}
		early := watch(t, ui, "/jobs")
		time.Sleep(10 * time.Second)
		rename("jobs", "away")
		time.Sleep(10 * time.Second)
		late, another := watch(t, ui, "/jobs"), watch(t, ui, "/jobs?type=t")
		time.Sleep(10 * time.Second)
		rename("away", "jobs")
		time.Sleep(10 * time.Second)
		kinds := func(stream string) (kinds []string) {
			for line := range strings.SplitSeq(stream, "\n") {
				if kind, ok := strings.CutPrefix(line, "event: "); ok {
					kinds = append(kinds, kind)
				}
			}
			return kinds
		}
		require.Equal(t, []string{"fragment", "stale", "fragment"}, kinds(early.leave()))
		require.Equal(t, []string{"stale", "fragment"}, kinds(late.leave()))
		require.Equal(t, []string{"stale", "fragment"}, kinds(another.leave()),
			"also of one that nobody has read before")
		ui.Close()
	})
}

func TestAQuietStreamSaysThatItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui, err := queueui.New(queuetest.New(t), nil)
		require.NoError(t, err)
		r := watch(t, ui, "/jobs")
		time.Sleep(time.Minute + time.Millisecond)
		require.Equal(t, 4, strings.Count(r.leave(), "\n:\n"))
	})
}

func TestCloseEndsStreamsAndLetsNoneBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui, err := queueui.New(queuetest.New(t), nil)
		require.NoError(t, err)
		r := watch(t, ui, "/")
		synctest.Wait()
		ui.Close()
		<-r.done
		late := watch(t, ui, "/")
		<-late.done
		require.Equal(t, http.StatusServiceUnavailable, late.Code)
		require.Contains(t, late.leave(), "the server is shutting down")
		ui.Close()
	})
}

func TestNotAnyNumberOfPagesIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ui, err := queueui.New(queuetest.New(t), nil)
		require.NoError(t, err)
		for i := range 100 {
			watch(t, ui, "/jobs?type="+strings.Repeat("x", i+1))
		}
		synctest.Wait()
		r := watch(t, ui, "/")
		<-r.done
		require.Equal(t, http.StatusServiceUnavailable, r.Code)
		require.Contains(t, r.leave(), "too many pages are being watched")
		ui.Close()
	})
}

// Over a real connection, with a server that ends answers which take long and then shuts down.
func TestAStreamOutlivesTheWriteTimeoutAndNotTheServer(t *testing.T) {
	q := queuetest.New(t)
	ui, err := queueui.New(q, &queueui.Config{Interval: 100 * time.Millisecond})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(ui)
	server.Config.WriteTimeout = 300 * time.Millisecond
	server.Config.RegisterOnShutdown(ui.Close)
	server.Start()
	defer server.Close()
	response, err := client.Do(httptestRequest(t, server.URL+"/events?page=/jobs"))
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	fragment := func() string {
		var text strings.Builder
		for lines.Scan() && lines.Text() != "event: fragment" {
		}
		for lines.Scan() && lines.Text() != "" {
			text.WriteString(lines.Text())
		}
		return text.String()
	}
	require.Contains(t, fragment(), "No jobs are stored")
	for range 5 { // each takes an interval
		enqueued, err := q.Enqueue(t.Context(), classify.New(letter{}, nil))
		require.NoError(t, err)
		require.Contains(t, fragment(), enqueued.ID)
	}
	require.NoError(t, server.Config.Shutdown(t.Context()))
	for lines.Scan() {
	}
	require.NoError(t, lines.Err())
}

// A host that goes by the path of a page refuses its stream as well.
func TestTheStreamOfAPageIsAuthorizedAsThePage(t *testing.T) {
	var asked []string
	s := newSite(t, &queueui.Config{Authorize: func(r *http.Request, action queueui.Action) error {
		asked = append(asked, string(action)+" "+r.URL.RequestURI())
		if strings.HasPrefix(r.URL.Path, "/flows/") {
			return errors.New("not yours")
		}
		return nil
	}})
	require.Equal(t, http.StatusForbidden, s.get("flows/x").StatusCode)
	asked = nil
	refused := s.get("events?page=" + url.QueryEscape("/flows/x?node=a"))
	require.Equal(t, http.StatusForbidden, refused.StatusCode)
	require.Contains(t, refused.body, "not yours")
	require.Equal(t, "view /flows/x?node=a", asked[len(asked)-1])
}
