package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

func signIn(t *testing.T, where ...string) { signInAs(t, sample.Owner, where...) }

// signInAs runs auth login as the owner of a mailbox does who answers the page in a browser.
func signInAs(t *testing.T, email string, where ...string) {
	t.Helper()
	signInWith(t, email, []string{auth.ScopeModify}, where...)
}

// signInWith leaves the boxes of these scopes ticked, and returns what is said.
func signInWith(t *testing.T, email string, boxes []string, where ...string) string {
	t.Helper()
	said, writer := io.Pipe()
	var stdout bytes.Buffer
	status := make(chan int, 1)
	go func() {
		status <- Run(t.Context(), append([]string{"auth", "login", "--no-browser"}, where...), &stdout, writer)
		writer.Close()
	}()
	var text strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "http") {
			consent(t, lines.Text(), email, boxes)
		}
	}
	require.Equal(t, 0, <-status, text.String())
	require.Contains(t, stdout.String(), "signed in to "+email+"; the grant is kept in encrypted files")
	return text.String()
}

func consent(t *testing.T, address, email string, boxes []string) {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := browser.PostForm(address, url.Values{"answer": {"allow"}, "account": {email}, "allowed": boxes})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusFound, answer.StatusCode)
	back, err := browser.Get(answer.Header.Get("Location"))
	require.NoError(t, err)
	require.NoError(t, back.Body.Close())
	require.Equal(t, http.StatusOK, back.StatusCode)
}

// A person signs in, the daemon that runs takes the mailbox up, loses the grant, and goes on after another sign-in.
func TestSignInRunRevokeAndSignInAgain(t *testing.T) {
	t.Parallel()
	server, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	_, err = server.Import(t.Context(), sample.Mailbox(), func(int) {})
	require.NoError(t, err)

	file, dir := filepath.Join(t.TempDir(), "config.toml"), filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
		"[gmail]\nold_mail = \"sort\"\nclient_id = \"me\"\nendpoint = %q\nauth_server = %q\ntokens = \"file\"\npassphrase = %q\nunits_per_minute = 0\n"+
			"[schedules]\nhistory_sync = \"1s\"\n", server.URL(), server.URL(), inEnv(t, "correct horse")), 0o600))
	where := []string{"--config", file, "--data", dir}

	r := start(t, where...)
	r.eventually("it says that there is nothing to do", func() bool {
		return strings.Contains(r.log(), "postroomd auth login")
	})
	signIn(t, where...)
	require.Contains(t, postroomd(t, append([]string{"auth", "list"}, where...)...).stdout, sample.Owner)
	r.eventually("all is taken in", func() bool { return idleBetweenPolls(t, server, where...) })

	paused := postroomd(t, append([]string{"accounts", "pause", sample.Owner, "--why", "holiday"}, where...)...)
	require.Equal(t, 0, paused.status, paused.stderr)
	require.Contains(t, postroomd(t, append([]string{"accounts", "list"}, where...)...).stdout, "holiday")
	resumed := postroomd(t, append([]string{"accounts", "resume", sample.Owner}, where...)...)
	require.Equal(t, 0, resumed.status, resumed.stderr)

	revoked := postroomd(t, append([]string{"auth", "revoke", sample.Owner}, where...)...)
	require.Equal(t, 0, revoked.status, revoked.stderr)
	r.eventually("the account is to sign in again", func() bool {
		return statusOf(t, where...).Accounts[0].State == "reauthorize"
	})
	_, err = server.Deliver(t.Context(),
		[]byte("From: a@example.com\r\nSubject: late\r\nMessage-ID: <late@example.com>\r\n\r\nhello"))
	require.NoError(t, err)
	signIn(t, where...)
	r.eventually("the late one is taken in", func() bool { return idleBetweenPolls(t, server, where...) })
	r.stop()

	removed := postroomd(t, append([]string{"accounts", "remove", sample.Owner, "--yes"}, where...)...)
	require.Equal(t, 0, removed.status, removed.stderr)
	require.Empty(t, statusOf(t, where...).Accounts)
	r2 := postroomd(t, append([]string{"accounts", "pause", sample.Owner}, where...)...)
	require.Equal(t, exitUsage, r2.status)
	require.Contains(t, r2.stderr, "there is no mailbox "+sample.Owner)
}

// idleBetweenPolls is idle, but for polls of the history that come every second.
func idleBetweenPolls(t *testing.T, server *gmailtest.Server, where ...string) bool {
	t.Helper()
	s := statusOf(t, where...)
	total, err := server.Count(t.Context())
	require.NoError(t, err)
	return len(s.Accounts) == 1 && s.Accounts[0].Messages == total
}

// On a fresh machine there is nothing to open, and so no passphrase to ask for.
func TestNobodyHasSignedInYet(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, tokens := range []string{"", "tokens = \"file\"\n"} {
		file := writeFile(t, "config.toml", "[gmail]\nclient_id = \"me\"\n"+tokens)
		where := []string{"--config", file, "--data", filepath.Join(t.TempDir(), "data")}
		r := postroomd(t, append([]string{"auth", "list"}, where...)...)
		require.Equal(t, result{0, "no mailbox is signed in to; 'postroomd auth login' signs in to one\n", ""}, r)
		r = postroomd(t, append([]string{"auth", "list", "--json"}, where...)...)
		require.Equal(t, result{0, "[]\n", ""}, r)
		r = postroomd(t, append([]string{"auth", "revoke", "ada@example.org"}, where...)...)
		require.Equal(t, exitUsage, r.status)
		require.Contains(t, r.stderr, "'postroomd auth list' lists those there are")
		require.NotContains(t, r.stderr, "passphrase")
	}
}
