package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// Where something is missing it is said what brings it.

func TestWithoutAMailboxItIsSaidWhatAddsOne(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	runOnce(t, m.where...)
	r := m.postroomd("accounts", "remove", sample.Owner, "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	byGrant := []string{"--set", "gmail.token=", "--set", "gmail.address=", "--set", "gmail.client_id=me"}
	for says, flags := range map[string][]string{
		"'postroomd run' makes the one of gmail.address": nil,
		"'postroomd auth login' signs in to one":         byGrant,
	} {
		require.Contains(t, m.postroomd(append([]string{"status"}, flags...)...).stdout, "none; "+says)
		require.Contains(t, m.postroomd(append([]string{"accounts", "list"}, flags...)...).stdout, "no mailboxes: "+says)
		r := m.postroomd(append([]string{"mail", "list"}, flags...)...)
		require.Equal(t, result{exitUsage, "", "postroomd: there is no mailbox yet; " + says + "\n"}, r)
	}
}

// A mailbox whose grant is gone is not active again because somebody resumes it.
func TestResumeOfAMailboxWithoutAGrant(t *testing.T) {
	server, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("POSTROOM_PASSPHRASE", "correct horse")
	where := []string{"--data", filepath.Join(t.TempDir(), "data"), "--config", writeFile(t, "config.toml", fmt.Sprintf(
		"[gmail]\nold_mail = \"sort\"\nclient_id = \"me\"\nendpoint = %q\nauth_server = %q\ntokens = \"file\"\npassphrase = \"env:POSTROOM_PASSPHRASE\"\nunits_per_minute = 0\n",
		server.URL(), server.URL()))}
	ask := func(args ...string) string {
		t.Helper()
		r := postroomd(t, append(args, where...)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	const again = "sign in again with 'postroomd auth login " + sample.Owner + "'"
	signIn(t, where...)
	require.Equal(t, sample.Owner+" is active\n", ask("accounts", "resume", sample.Owner))
	ask("auth", "revoke", sample.Owner)
	require.Equal(t, sample.Owner+" is resumed, but its grant is gone: "+again+"\n",
		ask("accounts", "resume", sample.Owner))

	r := start(t, where...)
	r.eventually("it is to sign in again", func() bool { return statusOf(t, where...).Accounts[0].State == "reauthorize" })
	require.Contains(t, ask("accounts", "list"), again)
	require.Contains(t, ask("status"), again)
	r.eventually("the daemon says so", func() bool {
		_, body := r.get("readyz")
		return strings.Contains(body, sample.Owner+" has lost its grant: "+again)
	})
	r.stop()

	t.Setenv("POSTROOM_PASSPHRASE", "wrong horse")
	for _, args := range [][]string{append([]string{"auth", "list"}, where...),
		append([]string{"config", "check", "--set", "paths.data=" + where[1]}, where[2:]...)} {
		r := postroomd(t, args...)
		require.NotZero(t, r.status)
		require.Contains(t, r.stderr, "the passphrase is not the one that the grants in "+filepath.Join(where[1], "tokens")+
			" were written with; set gmail.passphrase")
		require.NotContains(t, r.stderr, "recipient")
	}
}

func TestSignInRefusesWhatIsNoAddress(t *testing.T) {
	for _, text := range []string{"nonsense", "Ada <ada@example.org>", "ada@"} {
		data := filepath.Join(t.TempDir(), "data")
		r := postroomd(t, "auth", "login", text, "--no-browser", "--data", data, "--set", "gmail.client_id=me")
		require.Equal(t, result{exitUsage, "",
			fmt.Sprintf("postroomd: %q is no address of a mailbox, such as ada@example.org\n", text)}, r)
		require.NoDirExists(t, data)
	}
}

func TestHealthcheckAsksPostroomdAlone(t *testing.T) {
	r := postroomd(t, "healthcheck", "--set", "app.port=0")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "set app.port")

	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>Router</html>"))
	}))
	defer other.Close()
	at, err := url.Parse(other.URL)
	require.NoError(t, err)
	r = postroomd(t, "healthcheck", "--set", "app.port="+at.Port())
	require.Equal(t, exitFailed, r.status)
	require.Empty(t, r.stdout)
	require.Contains(t, r.stderr, "what listens on app.port "+at.Port()+" is no postroomd")
}

// An undo that fails again and again says so when nobody waits for it any longer.
func TestAnUndoThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	runOnce(t, m.where...)
	action := m.actions()[0].ID
	r := start(t, m.where...)
	r.ready()
	for _, method := range []gmailtest.Method{gmailtest.MessagesGet, gmailtest.MessagesModify} {
		m.server.Fault(gmailtest.Fault{Method: method, Status: http.StatusServiceUnavailable, Times: 1000})
	}
	undone := m.postroomd("undo", action)
	require.Equal(t, 0, undone.status, undone.stderr)
	require.Regexp(t, "^action "+action+
		" is to be taken back; a postroomd that runs carries it out; the last attempt failed: .*503.*; job .* is tried again at ", undone.stdout)
	r.stop()
}

// A folder that may not be read, or not be written, is named as that.
func TestAFolderWithoutPermission(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	require.NoError(t, os.WriteFile(environment.Folder(dir).RunFile(), nil, 0o600))
	require.NoError(t, os.Chmod(dir, 0o500))
	r := postroomd(t, "jobs", "list", "--data", dir)
	require.NotZero(t, r.status)
	require.Contains(t, r.stderr, "postroomd has to write there, and cannot: ")
	require.NoError(t, os.Chmod(dir, 0))
	r = postroomd(t, "actions", "--data", dir)
	require.NoError(t, os.Chmod(dir, 0o700))
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "cannot be read: ")
	require.NotContains(t, r.stderr, "start 'postroomd run' first")
}
