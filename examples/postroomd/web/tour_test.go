package web_test

import (
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
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

// The pictures of the tour are taken here, as the tour says, of the sample mailbox. Archiving asks, too.
func TestThePicturesOfTheTour(t *testing.T) {
	w := newWorldBy(t, "", "archive")
	b := browsertest.Browse(t)
	b.Scheme("light")
	for name, s := range w.sights() {
		b.Size(s.width, s.height)
		b.Open(w.url + s.path)
		b.Until(ready)
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), name)
		b.Until(connected)
		b.View(name)
	}
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
