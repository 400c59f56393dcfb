package web_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
)

// Statistics are counted while the daemon runs, and a person reads those of their mailboxes, without scripts.
func TestStatisticsAreShown(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.get("").body, `href="./statistics"`)
	require.NoError(t, w.Statistics.Count(t.Context()))
	page := w.get("statistics?window=all")
	require.Contains(t, page.body, "All is counted.")
	require.Contains(t, page.body, `<h2 id="accuracy-h">Rules and models</h2>`)
	require.Regexp(t, `<th scope="row">[^<]+@[^<]+</th><td class="n">\d`, page.body)
	require.Regexp(t, `<td class="n">100 %</td>`, page.body)
	w.arrived() // changes messages
	require.Contains(t, w.get("statistics").body, "will be counted anew")
	paths := map[string]string{"statistics": "statistics?window=all", "statistics-recent": "statistics"}
	w.small(paths)
	looks(browsertest.Browse(t), w.url, paths)
}

func TestStatisticsAreOfOnesOwnMailboxes(t *testing.T) {
	w := newWorld(t)
	w.withNeighbour()
	require.NoError(t, w.Statistics.Count(t.Context()))
	theirs := w.as(access.Person{Name: "bob@example.org", Role: access.See, Mailboxes: []string{neighbour}}).
		get("statistics?window=all")
	require.Contains(t, theirs.body, "No mail came in this time.")
	require.NotContains(t, theirs.body, sample.Owner)
	require.Contains(t, w.get("statistics?window=all").body, "all others")
}
