package web_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/corpora"
)

// mostOpened bounds the messages of a collection that are opened, and mostAsHTML those that are opened as HTML.
const (
	mostOpened = 25
	mostAsHTML = 10
)

// Attacks, spam and odd mail that others have collected run no script on a page, and make it ask nobody else.
func TestCollectedMailStaysOnThePage(t *testing.T) {
	for name, collect := range map[string]func(*testing.T, string) [][]byte{
		"04-prompt-injection": collectedAttacks, "05-spam-news": collectedMail, "11-reports": collectedMail,
	} {
		t.Run(name, func(t *testing.T) {
			folder := corpora.Path(name)
			if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
				t.Skip("the collection is not here: ", err)
			}
			w := newWorld(t)
			opened := w.take(collect(t, folder))
			b := browsertest.Browse(t)
			for i, id := range opened {
				b.Scheme([]string{"light", "dark"}[i%2])
				b.Size([]int64{1280, 390}[i%2], 844)
				b.Open(w.url + "mail/" + sample.Owner + "/" + id)
				require.Equal(t, 1, browsertest.Eval[int](b, `document.querySelectorAll("#message pre.mail").length`), id)
				require.Zero(t, browsertest.Eval[int](b, fromMail), id)
				require.LessOrEqual(t, browsertest.Eval[int](b, `document.documentElement.scrollWidth - innerWidth`), 0, id)
			}
			require.Positive(t, w.openAsHTML(b, opened))
			for _, path := range []string{"mail?spam=1", "actions", "waiting", ""} {
				b.Open(w.url + path)
				require.Zero(t, browsertest.Eval[int](b, fromMail), path)
			}
			b.Quiet() // nothing was even tried, and refused
			require.Empty(t, w.elsewhere(b))
		})
	}
}

// openAsHTML opens those messages that have HTML, each on its page and then alone: of a frame that is apart, a browser
// tells less.
func (w *world) openAsHTML(b *browsertest.Browser, ids []string) (opened int) {
	w.Helper()
	for i, id := range ids {
		path := "mail/" + sample.Owner + "/" + id
		if opened == mostAsHTML || !strings.Contains(w.get(path).body, "view=html") {
			continue
		}
		opened++
		b.Scheme([]string{"light", "dark"}[i%2])
		b.Size([]int64{1280, 390}[i%2], 844)
		b.Open(w.url + path + "?view=html")
		require.Equal(w, 1, browsertest.Eval[int](b, fromMail), "the frame alone: %s", id)
		require.LessOrEqual(w, browsertest.Eval[int](b, `document.documentElement.scrollWidth - innerWidth`), 0, id)
		b.Open(w.url + path + "/html")
		require.Equal(w, w.url+path+"/html", browsertest.Eval[string](b, `location.href`), "it leads nowhere")
		require.Zero(w, browsertest.Eval[int](b, active), id)
	}
	return opened
}

// active counts what runs, asks or sends in the document of a mail.
const active = `[...document.querySelectorAll("body *")].filter((e) =>
	e.matches("script, style, link, meta, base, form, input, button, iframe, object, embed, svg, math, video, audio") ||
	[...e.attributes].some((a) => a.name.startsWith("on") || /url\(|javascript:/i.test(a.value) && a.name !== "href") ||
	e.matches("img:not([src^='data:image/'])") ||
	e.matches("a:not([href^='http:'], [href^='https:'], [href^='mailto:'])")).length`

// elsewhere are the addresses outside of the pages that the browser has asked for. Pictures that are in a document are
// not asked for.
func (w *world) elsewhere(b *browsertest.Browser) []string {
	w.Helper()
	return slices.DeleteFunc(b.Elsewhere(w.url), func(u string) bool { return strings.HasPrefix(u, "data:image/") })
}

// fromMail counts what only mail could have brought to a page.
const fromMail = `document.querySelectorAll("main script, main img, main iframe, main object, main style, main link," +
	"main meta, main [style], main [onclick], main [onerror], main [onload], main a:not([href^='.']):not([href^='/'])").length`

// collectedAttacks are mails with the attacks of a collection, as text and as HTML.
func collectedAttacks(t *testing.T, folder string) (mails [][]byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, "bipia_attacks.json"))
	require.NoError(t, err)
	var list []struct{ Text string }
	require.NoError(t, json.Unmarshal(raw, &list))
	require.NotEmpty(t, list)
	const html = `<img src="http://evil.example/p.png"><script>fetch("http://evil.example")</script><a href="javascript:alert(1)">`
	for _, attack := range list {
		for _, kind := range []string{"plain", "html"} {
			mails = append(mails, []byte("From: Eve <eve@evil.example>\r\nTo: "+sample.Owner+
				"\r\nSubject: <script>alert(1)</script>\r\nContent-Type: text/"+kind+"; charset=utf-8\r\n\r\n"+html+attack.Text+"\r\n"))
		}
	}
	return mails
}

// collectedMail is the mail of a folder: what begins with a header.
func collectedMail(t *testing.T, folder string) (mails [][]byte) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".eml" && ext != "" {
			return err
		}
		raw, err := os.ReadFile(path)
		mails = append(mails, raw)
		return err
	}))
	require.NotEmpty(t, mails)
	return mails
}

// take delivers some of the mails, evenly, and returns the ids of what is stored of them.
func (w *world) take(mails [][]byte) (ids []string) {
	w.Helper()
	n := min(len(mails), mostOpened)
	wanted := map[string]bool{}
	for i := range n {
		at := min(i*len(mails)/n+i%2, len(mails)-1)                            // both of what takes turns in a list
		if sent, err := w.Server.Deliver(w.Context(), mails[at]); err == nil { // Gmail refuses some as well
			wanted[sent.ID] = true
		}
	}
	accounts, err := w.Mail.Accounts(w.Context())
	require.NoError(w, err)
	_, err = w.Queue.Enqueue(w.Context(), gmail.NewHistorySyncJob(accounts[0].ID, 0))
	require.NoError(w, err)
	require.NoError(w, w.RunJobs(w.Context()))
	found, err := w.SearchMail(w.Context(), accounts[0].ID, mailindex.Search{SpamAndTrash: true, Limit: 200})
	require.NoError(w, err)
	for _, m := range found.Messages {
		if wanted[m.ProviderID] {
			ids = append(ids, m.ProviderID)
		}
	}
	require.Greater(w, len(ids), n*3/4)
	return ids
}
