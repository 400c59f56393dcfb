package queueui_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// hold has all jobs that are stored be held, as a move does that was interrupted.
func (s *site) hold() {
	s.Helper()
	db := s.q.DB().Driver()
	source, ok := driver.As[driver.MoveSource](db)
	require.True(s, ok)
	require.NoError(s, driver.Write(s.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := source.HoldJobs(ctx, tx, 100)
		return err
	}))
}

func TestJobsThatAreBeingMovedAreShown(t *testing.T) {
	s := newSite(t, nil)
	moving := s.enqueue(send.New(letter{To: "ada@example.org"}, &queue.Options{UserID: "ada"}))
	other := s.enqueue(classify.New(letter{}, nil))
	s.hold()
	free := s.enqueue(send.New(letter{To: "grace@example.org"}, nil))

	overview := s.get("").body
	require.Contains(t, overview, `<dt>Moving</dt><dd><a class="s-moving" href="./jobs?state=moving">2</a>`)
	require.Equal(t, 2, strings.Count(overview, "⇄ 1 moving"), "of each type one")
	all := s.get("jobs").body
	require.Equal(t, 2, strings.Count(all, `s-moving`))
	require.Contains(t, all, free)
	filtered := s.get("jobs?state=moving").body
	require.Contains(t, filtered, moving)
	require.Contains(t, filtered, other)
	require.NotContains(t, filtered, free)
	for _, query := range []string{"type=mail.send", "user=ada"} {
		narrow := s.get("jobs?state=moving&" + query).body
		require.Contains(t, narrow, moving)
		require.NotContains(t, narrow, other)
	}
	require.NotContains(t, s.get("jobs?state=moving&before="+other).body, `id="j-`+other)
	require.Contains(t, s.get("jobs/"+moving).body, `s-moving`)
	require.NotContains(t, s.get("jobs/"+free).body, `s-moving`)
	for _, action := range []string{"retry", "cancel"} {
		require.Equal(t, http.StatusBadRequest,
			s.post("jobs/"+action, "same-origin", url.Values{"state": {"moving"}}).StatusCode)
	}
}

func TestMovingJobsFitThePage(t *testing.T) {
	b := browsertest.Browse(t)
	s := newSite(t, nil)
	for range 12 {
		s.enqueue(send.New(letter{To: "ada@example.org"}, nil))
	}
	held := s.enqueue(classify.New(letter{}, nil))
	s.hold()
	s.enqueue(archive.New(letter{}, nil))
	for name, path := range map[string]string{"moving-overview": "", "moving-jobs": "jobs",
		"moving-filter": "jobs?state=moving", "moving-job": "jobs/" + held} {
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				b.Size(width, 900)
				b.Scheme(scheme)
				b.Open(s.url + path)
				require.LessOrEqual(t, browsertest.Eval[int64](b, "document.documentElement.scrollWidth"), width, "%s at %d", name,
					width)
				require.Empty(t, browsertest.Eval[[]string](b, browsertest.Pale), "%s, %s", name, scheme)
				b.Picture(name + "-" + scheme + map[int64]string{1280: "", 390: "-phone"}[width])
			}
		}
	}
}
