package cli

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/rules/lessons"
)

var update = flag.Bool("update", false, "write the golden files")

// steady replaces what differs between runs, and between time zones.
func steady(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	text = regexp.MustCompile(`\d+ February 2026, \d\d:\d\d`).ReplaceAllString(text, "TIME")
	text = regexp.MustCompile(`2026-02-\d\d`).ReplaceAllString(text, "DAY")
	text = regexp.MustCompile(`learn accept [0-9a-f]+`).ReplaceAllString(text, "learn accept ID")
	return regexp.MustCompile(`Took in \d+ new messages in [\d.]+ s`).ReplaceAllString(text, "Took in N new messages")
}

type demoMeaning struct {
	view.Summary

	Meaning meaningReport `json:"meaning"`
}

func enrichedJSON(t *testing.T, dir string) (d demoMeaning) {
	t.Helper()
	r := postroomd(t, "demo", "--enrich", "--json", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &d))
	return d
}

// The demo shows categories, importance, notes, an appointment and a learned rule, twice the same, and says that its
// model is a script. What it learned can be accepted, and stays.
func TestDemoShowsWhatMailMeans(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	r := postroomd(t, "demo", "--enrich", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	golden := filepath.Join("testdata", "demo-enrich.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(steady(r.stdout, dir)), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), steady(r.stdout, dir))
	again := postroomd(t, "demo", "--enrich", "--data", dir)
	require.Equal(t, 0, again.status, again.stderr)
	require.Equal(t, string(want), steady(again.stdout, dir), "a second run does nothing twice")

	d := enrichedJSON(t, dir)
	require.Zero(t, d.New)
	require.Positive(t, d.Messages)
	m := &d.Meaning
	require.Equal(t, scripted.MeaningNote, m.Note)
	require.Equal(t, []string{"high", "normal", "low"}, m.Levels)
	require.Equal(t, m.Messages, m.WithoutModel+m.ModelCalls+m.Unknown, "one call a message at most")
	require.Greater(t, 2*m.WithoutModel, m.Messages)
	require.Greater(t, len(m.Categories), 6)
	require.Len(t, m.Examples, 4)

	require.Len(t, m.Notes, 2)
	for _, n := range m.Notes {
		text, err := os.ReadFile(filepath.Join(m.NotesFolder, n.Path))
		require.NoError(t, err)
		require.Contains(t, string(text), "Somebody counts on you")
	}
	require.Equal(t, "Opening of the time capsule", m.Event.Title)
	ics, err := os.ReadFile(filepath.Join(m.EventsFolder, m.Event.File))
	require.NoError(t, err)
	require.Contains(t, string(ics), "DTSTART")
	require.Equal(t, lessons.Proposed, m.Rule.State)
	require.Len(t, m.Rule.Taught, 6)

	accepted := postroomd(t, "learn", "accept", m.Rule.ID, "--data", dir)
	require.Equal(t, 0, accepted.status, accepted.stderr)
	require.Equal(t, lessons.Accepted, enrichedJSON(t, dir).Meaning.Rule.State)
	plain := postroomd(t, "demo", "--data", dir)
	require.Equal(t, 0, plain.status, plain.stderr)
	require.NotContains(t, plain.stdout, "What the mail means")
	require.Contains(t, postroomd(t, "learn", "list", "--data", dir).stdout, "accepted", "it stays without the flag")
}

// What the demo prints is on its page, which says as well that the model is a script.
func TestDemoShowsWhatMailMeansOnItsPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := startShown(t, "--enrich", "--data", dir, "--dashboard", "127.0.0.1:0")
	d.stays()
	require.Contains(t, d.page("/meaning"), scripted.MeaningNote)
	require.Contains(t, d.page("/meaning?show=events"), "It is in the file 2040-05-12 Opening of the time capsule.ics")
	require.Contains(t, d.page("/rules"), "Learned: from newsletter@lindenhof.example: move Family")
	require.Contains(t, d.page("/mail?topic=personal&priority=high"), "The time capsule")
	require.Equal(t, 0, d.stop())
	require.Contains(t, d.stdout.String(), strings.TrimSuffix(d.url, "/")+"/meaning")
}

func TestDemoCannotTellWhatOtherMailMeans(t *testing.T) {
	tmp := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(tmp, "a.eml"), []byte("Subject: a\r\n\r\nb\r\n"), 0o600))
	r := postroomd(t, "demo", "--enrich", "--eml", tmp)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "--enrich shows the sample mailbox")

	dir := filepath.Join(tmp, "data")
	demoJSON(t, "--data", dir)
	r = postroomd(t, "demo", "--enrich", "--data", dir)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "sorted without --enrich; name another folder")

	other := filepath.Join(tmp, "other")
	enriched := postroomd(t, "demo", "--enrich", "--data", other)
	require.Equal(t, 0, enriched.status, enriched.stderr)
	require.NoError(t, os.WriteFile(filepath.Join(other, "enriched"), []byte("soon"), 0o600))
	r = postroomd(t, "demo", "--data", other)
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stderr, "holds no day")
}
