package cli

import (
	"html"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
)

// page is the text of a page, with its tags.
func (d *shownDemo) page(path string) string {
	d.t.Helper()
	status, page := d.get(path, nil)
	require.Equal(d.t, http.StatusOK, status, path)
	return html.UnescapeString(page)
}

// linkTo is the first address in a page that has this in it.
func linkTo(t *testing.T, page, part string) string {
	t.Helper()
	found := regexp.MustCompile(`href="[./]*(` + part + `[^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, found, "%s in\n%s", part, page)
	return "/" + found[1]
}

// What a finished demo shows was made by its pipeline: requests that are answered at once, the run of an agent, lists
// to leave, and all settings with where they come from.
func TestADemoShowsAllOfThePage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	d.stays()

	waiting := d.page("/waiting")
	require.Contains(t, waiting, "5 of letters@velvet-outlet.example")
	batch := d.page(linkTo(t, waiting, `waiting\?sender=`))
	require.Contains(t, batch, "5 may be answered at once")
	require.Contains(t, batch, "Offers that end")

	agents := d.page("/agents")
	require.Contains(t, agents, scripted.AgentNote)
	require.Equal(t, 1, strings.Count(agents, "<li data-row"), "once, though the demo has run twice")
	run := d.page(linkTo(t, agents, "agents/runs/"))
	require.Contains(t, run, "household: done: hand to you, with a label")
	require.Contains(t, run, "Scripted: the chimney sweep comes on 5 March")
	require.Contains(t, run, "The tool <strong>read_thread</strong>")
	require.Contains(t, d.page(linkTo(t, run, "actions/")), "Handed to you, with a label")

	lists := d.page("/subscriptions")
	require.Contains(t, lists, "6 messages, 16 % read")
	for _, how := range []string{"One click, at velvet-outlet.example", "One click, at trailhead.example",
		"A mail to leave@kettle-crumb.example", "This is a demo, which reaches nobody."} {
		require.Contains(t, lists, how)
	}

	settings := d.page("/settings")
	require.Equal(t, len(config.Values(config.Default(), "")), strings.Count(settings, `<dd class="mono">`))
	for _, s := range []string{
		`<dt>approval_always</dt><dd class="mono">["delete", "forward", "auto_reply", "trash"]</dd>` +
			`<dd class="note">the demo</dd>`,
		`<dt>token</dt><dd class="mono">"(secret)"</dd><dd class="note">the demo</dd>`,
		`<dt>agents</dt><dd class="mono">"` + filepath.Join(dir, "agents") + `"</dd><dd class="note">the demo</dd>`,
		`<dt>provider</dt><dd class="mono">""</dd><dd class="note">default</dd>`,
	} {
		require.Contains(t, settings, s)
	}
	require.Equal(t, 0, d.stop())
}

// A program asks a demo as it asks postroomd, with a token of its own.
func TestADemoServesTheAPI(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	d.stays()
	added := postroomd(t, "tokens", "add", "ci", "--data", dir)
	require.Equal(t, 0, added.status, added.stderr)
	status, answer := d.get("/api/v1/approvals", func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(added.stdout))
	})
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, "letters@velvet-outlet.example")
	status, answer = d.get("/api/v1/approvals", nil)
	require.Equal(t, http.StatusUnauthorized, status, "signed in is not enough")
	require.Contains(t, answer, "token")
	require.Equal(t, 0, d.stop())
}

// A demo asks no list on the network, and does not say that it was left; a mail stays in its own Gmail.
func TestADemoAsksNoList(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	r := postroomd(t, "unsubscribe", "do", "--yes", "letters@trailhead.example", "letters@kettle-crumb.example",
		"--data", dir)
	require.Contains(t, r.stdout+r.stderr, "trailhead.example")
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	d.stays()
	left := d.page("/subscriptions")
	require.Regexp(t, `letters@trailhead\.example</a> <span class="why-failed">failed: [^<]*this is a demo, which asks `+
		`nobody on the network: nothing was sent, and the list is not left<`, left)
	require.Regexp(t, `letters@kettle-crumb\.example</a> <span class="note">left; mail may still come until`, left)
	require.Equal(t, 0, d.stop())
	sent := postroomd(t, "mail", "search", "--data", dir, "in:sent to:leave@kettle-crumb.example")
	require.Contains(t, sent.stdout, "leave letters", sent.stderr)
}
