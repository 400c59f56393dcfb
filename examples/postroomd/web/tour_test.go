package web_test

import (
	"io"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/safety"
)

// A sight is what a picture of docs/tour.md shows: a page, and how far the reader is shown it.
type sight struct {
	path          string
	width, height int64
}

// connected is true once a page that keeps itself up to date does so.
const connected = `!document.querySelector("#live-toggle:not([data-state=Live])")`

const pictures = "../../../docs/pictures/"

func (w *world) sights() map[string]sight {
	w.Helper()
	moved := w.acted(safety.Filter{Sender: "gazette@compilers.example", States: completed})[0].Action
	dangerous := w.waiting(safety.Filter{Sender: "rechnung@stadtwerke-lennetal.example", Rule: "Forged sender"})[0].Action
	mail := w.pathOf(moved)
	_, id, _ := strings.Cut(strings.TrimPrefix(mail, "mail/"), "/")
	like := url.Values{"mailbox": {sample.Owner}, "like": {id}, "action": {"archive"}}
	return map[string]sight{
		"today":         {"?window=30d", 1280, 950},
		"waiting":       {"waiting", 1280, 640},
		"message":       {mail, 1280, 640},
		"actions":       {"actions?kind=move", 1280, 640},
		"rules":         {"rules", 1280, 680},
		"draft":         {"rules/edit?" + like.Encode(), 1280, 760},
		"mailboxes":     {"mailboxes", 1280, 420},
		"request-phone": {"waiting/" + dangerous.ID, 390, 1100},
		"action-phone":  {"actions/" + moved.ID, 390, 844},
	}
}

// newDemoWorld has all that the demo has: mailing lists, and the run of an agent.
func newDemoWorld(t *testing.T) *world {
	t.Helper()
	folder := environment.Folder(t.TempDir())
	require.NoError(t, scripted.WriteProfiles(folder.Agents()))
	a, err := app.New(t.Context(), app.Config{Environment: environment.DemoCommand(folder)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	_, err = a.Server.Import(t.Context(), sample.WithLists(), func(int) {})
	require.NoError(t, err)
	rules, err := environment.ReadRulesFile("")
	require.NoError(t, err)
	require.NoError(t, app.NewOneRun(a, rules, printer.NewProgress(io.Discard)).Run(t.Context()))
	account, err := a.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	found, err := a.Mail.Search(t.Context(), account.ID, mailindex.Search{Query: "rfc822msgid:" + scripted.AgentReads})
	require.NoError(t, err)
	require.Len(t, found.Messages, 1)
	_, err = a.Queue.Enqueue(t.Context(), agent.NewJob(found.Messages[0], scripted.Household))
	require.NoError(t, err)
	require.NoError(t, a.RunJobs(t.Context()))
	return serveWorld(t, a)
}

func (w *world) demoSights() map[string]sight {
	w.Helper()
	runs, err := w.Agents.Runs(w.Context(), agent.Filter{Limit: 1})
	require.NoError(w, err)
	require.Len(w, runs, 1)
	offers := w.waiting(safety.Filter{Rule: "Offers that end"})
	require.Len(w, offers, 5)
	batch := url.Values{"sender": {offers[0].Decision.Sender}, "rule": {offers[0].Decision.Decision.RuleID}}
	return map[string]sight{
		"batch":         {"waiting?" + batch.Encode(), 1280, 500},
		"subscriptions": {"subscriptions", 1280, 430},
		"run":           {"agents/runs/" + runs[0].ID, 1280, 700},
	}
}

// The pictures of the tour are taken here, as the tour says, of the sample mailbox. Archiving asks, too.
func TestThePicturesOfTheTour(t *testing.T) {
	w, demo := newWorldBy(t, "", "archive"), newDemoWorld(t)
	b := browsertest.Browse(t)
	b.Scheme("light")
	view := func(w *world, sights map[string]sight) {
		for name, s := range sights {
			b.Size(s.width, s.height)
			b.Open(w.url + s.path)
			b.Until(ready)
			require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), name)
			b.Until(connected)
			b.View(name)
		}
	}
	view(w, w.sights())
	view(demo, demo.demoSights())
	b.Quiet()
}

// Each picture is shown once, and none is too large to be carried by a clone and a page.
func TestTheTourShowsEachPicture(t *testing.T) {
	text, err := os.ReadFile("../../../docs/tour.md")
	require.NoError(t, err)
	var shown []string
	for _, found := range regexp.MustCompile(`\]\(pictures/([a-z-]+\.png)\)`).FindAllStringSubmatch(string(text), -1) {
		shown = append(shown, found[1])
	}
	files, err := os.ReadDir(pictures)
	require.NoError(t, err)
	var taken []string
	for _, file := range files {
		info, err := file.Info()
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(80<<10), file.Name())
		taken = append(taken, file.Name())
	}
	require.ElementsMatch(t, taken, shown)
}
