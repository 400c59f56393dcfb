package queueui_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/queueui"
)

// The links of a host may differ from one request to the next.
func TestLinksOfARequest(t *testing.T) {
	stopped := false
	s := newSite(t, &queueui.Config{Links: []queueui.Link{{Text: "Home", Path: "../"}},
		LinksOf: func(*http.Request) []queueui.Link {
			if stopped {
				return []queueui.Link{{Text: "Resume", Path: "../#stopped"}}
			}
			return []queueui.Link{{Text: "Stop", Path: "../stop", Post: true}}
		}})
	page := func() string { return s.get("").body }
	require.Contains(t, page(), `/../stop"><button>Stop</button>`)
	stopped = true
	body := page()
	require.NotContains(t, body, "Stop</button>")
	require.Contains(t, body, `/../#stopped">Resume</a>`)
	require.Contains(t, body, `/../">Home</a>`)
}
