package queueui_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
)

// Every page, wide and narrow, light and dark: nothing is wider than the window, is cut or overlaps, axe-core finds
// nothing, and nothing is refused.
func TestPagesFitAndFollowTheColourScheme(t *testing.T) {
	b := browsertest.Browse(t)
	s := newSite(t, nil)
	rich := s.populate()
	flows := newSite(t, nil)
	report := flows.report()
	pages := [][2]string{
		{"overview", s.url}, {"jobs", s.url + "jobs"}, {"failed", s.url + "jobs?state=failed"},
		{"job", s.url + "jobs/" + rich}, {"flows", flows.url + "flows"},
		{"flow", flows.url + "flows/" + report + "?node=resize-b"}, {"none", s.url + "jobs?state=running"},
		{"problem", s.url + "jobs/none"},
	}
	for _, page := range pages {
		name, path := page[0], page[1]
		for _, scheme := range []string{"light", "dark"} {
			b.Scheme(scheme)
			for _, width := range []int64{2560, 1280, 390, 320} {
				b.Size(width, 900)
				b.Open(path)
				require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "%s, %s at %d", name, scheme, width)
				ground := browsertest.Eval[string](b, "getComputedStyle(document.body).backgroundColor")
				require.Equal(t, map[string]string{"light": "rgb(251, 251, 250)", "dark": "rgb(20, 22, 26)"}[scheme],
					ground)
				require.Empty(t, browsertest.Eval[[]string](b, browsertest.Pale),
					"%s, %s: text with less than the contrast that WCAG AA asks for", name, scheme)
				b.Picture(name + "-" + scheme + map[int64]string{2560: "-wide", 390: "-phone", 320: "-small"}[width])
			}
			b.Accessible(name + ", " + scheme)
		}
		if name != "problem" { // the console reports that
			b.Quiet()
		}
	}
}
