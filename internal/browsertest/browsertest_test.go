package browsertest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the script is to find is found, and what is right is not.
func TestCrookedPagesAreFound(t *testing.T) {
	var body atomic.Pointer[string] // a browser asks for more than the page, and later
	show := func(html string) { body.Store(&html) }
	show("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>x</title><main><h1>A page</h1>` + *body.Load() + `</main></html>`))
	}))
	defer server.Close()
	b := Browse(t)
	b.Size(390, 800)
	for html, finds := range map[string]string{
		`<p>All is well.</p><p>Here, too. <a href="/">A link</a></p><button>Go</button>`:                                                                              "",
		`<div style="overflow-x:auto"><p style="width:900px">wide, and scrolled</p></div>`:                                                                            "",
		`<p style="width:900px;white-space:nowrap">` + strings.Repeat("wide ", 40) + `</p>`:                                                                           "wider than the window",
		`<p style="overflow:hidden;width:60px;white-space:nowrap">more than there is room for</p>`:                                                                    "cut",
		`<p style="height:20px">One line</p><p style="margin-top:-38px;line-height:20px">another</p>`:                                                                 "overlaps",
		`<button style="position:absolute;left:20px;top:60px">A</button><p style="margin:0">B</p><p style="position:absolute;left:24px;top:62px;margin:0">C over</p>`: "overlaps",
	} {
		show(html)
		b.Open(server.URL)
		found := Eval[[]string](b, Crooked)
		if finds == "" {
			require.Empty(t, found, html)
		} else {
			require.Contains(t, strings.Join(found, "\n"), finds, html)
		}
	}
	show(`<img src="data:,">`)
	b.Open(server.URL)
	require.Contains(t, strings.Join(b.inaccessible(), "\n"), "image-alt")
	show(`<p>All is well.</p>`)
	b.Open(server.URL)
	b.Accessible("a page")
	require.NotContains(t, b.Elsewhere(server.URL), "http://127.0.0.1:9/pixel.png")
	show(`<img alt="" src="http://127.0.0.1:9/pixel.png">`)
	b.Open(server.URL)
	require.Contains(t, b.Elsewhere(server.URL), "http://127.0.0.1:9/pixel.png")
}

// Tabs of one browser know nothing of each other.
func TestTabsShareNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>x</title><p>A page</p></html>`))
	}))
	defer server.Close()
	first, second := Browse(t), Browse(t)
	for _, b := range []*Browser{first, second} {
		b.Open(server.URL)
		require.Empty(t, Eval[string](b, `document.cookie + (localStorage.getItem("a") ?? "")`))
		Eval[any](b, `document.cookie = "a=1"; localStorage.setItem("a", "1")`)
		require.Equal(t, "a=11", Eval[string](b, `document.cookie + localStorage.getItem("a")`))
	}
}
