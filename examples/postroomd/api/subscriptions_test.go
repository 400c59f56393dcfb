package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

const letter = "From: News <news@shop.example>\nTo: " + sample.Owner + "\nSubject: Buy\nMessage-ID: <1@x.example>\n" +
	"List-Id: <news.shop.example>\n\nBuy.\n"

// A token of one mailbox writes no rule into a file that another reads; one of both does, for the mailbox named.
func TestABlockOfATokenOfOneMailbox(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules: []\n"), 0o600))
	w := newWorldWith(t, "", func(c *config.Config) {
		c.Lists.Enabled, c.Paths.Rules = true, config.Path(file)
	}, letter)
	w.as = w.add("alone", tokens.Own, sample.Owner)
	block := `{"mailbox": "` + sample.Owner + `", "sender": "news@shop.example"}`
	w.addOther()
	refused := call[problem](w, "POST", "/subscriptions/block", block, http.StatusForbidden)
	require.Contains(w, refused.Detail+refused.Error, "use a token of all of them")
	text, err := os.ReadFile(file)
	require.NoError(w, err)
	require.Equal(w, "rules: []\n", string(text))

	w.as = w.add("both", tokens.Own, sample.Owner, other)
	call[map[string]string](w, "POST", "/subscriptions/block", block, http.StatusOK)
	bob, err := w.app.Mail.AccountByEmail(t.Context(), other)
	require.NoError(w, err)
	rules, err := w.app.Rules.ListOf(t.Context(), bob.ID)
	require.NoError(w, err)
	require.Empty(w, rules, "the rule is of the mailbox that was named")
	ada, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(w, err)
	rules, err = w.app.Rules.ListOf(t.Context(), ada.ID)
	require.NoError(w, err)
	require.Len(w, rules, 1)
}
