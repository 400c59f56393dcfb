package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/auth/agefile"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/internal/scrypt"
)

// fromEnvironment is a number that the environment may set.
func fromEnvironment(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// manyMailboxes are mailboxes that are signed in to, with a passphrase that costs as much as that of a person, and
// rules for each of them.
func manyMailboxes(t *testing.T, mailboxes, rules int) (where []string) {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	const passphrase = "correct horse"
	factor := scrypt.WorkFactor
	scrypt.WorkFactor = 18
	grants, err := agefile.Open(agefile.Config{Dir: filepath.Join(dir, "tokens"), Passphrase: passphrase})
	scrypt.WorkFactor = factor
	require.NoError(t, err)
	cfg := config.Default()
	cfg.Gmail = config.Gmail{ClientID: "me", AuthServer: server.URL(), Endpoint: server.URL(), Tokens: "file",
		Passphrase: passphrase}
	env := &environment.Environment{Folder: environment.Folder(dir), Config: cfg}
	require.NoError(t, env.Prepare())
	program, err := env.OAuthApp()
	require.NoError(t, err)
	h, err := app.New(t.Context(), app.Config{Environment: env})
	require.NoError(t, err)
	for i := range mailboxes {
		email := fmt.Sprintf("box%d@example.com", i)
		box, err := server.Account(t.Context(), email)
		require.NoError(t, err)
		_, err = box.Deliver(t.Context(), []byte(letterAbout("Hello", strconv.Itoa(i))))
		require.NoError(t, err)
		_, err = auth.Login(t.Context(), auth.LoginConfig{App: program, Tokens: grants, Email: email,
			Open: func(_ context.Context, address string) error {
				consent(t, address, email, []string{auth.ScopeModify})
				return nil
			}})
		require.NoError(t, err)
		_, err = h.AddAccount(t.Context(), email)
		require.NoError(t, err)
	}
	require.NoError(t, h.Close())
	var text strings.Builder
	text.WriteString("rules:\n")
	for i := range rules {
		condition := []string{"subject_contains, value: 'offer %d for'", "sender_email, value: p%d@shop.example",
			"subject_regex, value: 'order #?%d'", "body_contains, value: 'contract no. %d'"}[i%4]
		fmt.Fprintf(&text, "- {name: r%d, condition: {type: "+condition+"}, action: archive}\n", i, i)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	where = []string{"--data", dir}
	for _, set := range []string{"gmail.endpoint=" + server.URL(), "gmail.auth_server=" + server.URL(),
		"gmail.client_id=me", "gmail.tokens=file", "gmail.passphrase=" + inEnv(t, passphrase), "gmail.units_per_minute=0",
		"paths.rules=" + file} {
		where = append(where, "--set", set)
	}
	return where
}

// memory is what the process takes now, and what it has taken at most, in MB.
func (r *running) memory() (now, most int) {
	r.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	require.NoError(r.t, err)
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		var kb int
		if name == "VmRSS" || name == "VmHWM" {
			_, err := fmt.Sscan(value, &kb)
			require.NoError(r.t, err)
		}
		switch name {
		case "VmRSS":
			now = kb >> 10
		case "VmHWM":
			most = kb >> 10
		}
	}
	return now, most
}

// What the daemon takes is bounded by what signing in takes for a moment, and grows little with the mailboxes. To see
// what it takes with more of them, with more rules in each:
//
//	POSTROOM_TEST_MAILBOXES=100 go test ./examples/postroomd/cli -run TestMemoryOfManyMailboxes -v
func TestMemoryOfManyMailboxes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read from /proc")
	}
	costtest.NeedsExactCosts(t)
	mailboxes := fromEnvironment(t, "POSTROOM_TEST_MAILBOXES", 3)
	where := manyMailboxes(t, mailboxes, fromEnvironment(t, "POSTROOM_TEST_RULES", 100))
	began := time.Now()
	r := start(t, where...)
	r.ready()
	ready := time.Since(began)
	r.eventually("all mail is taken in", func() bool {
		s := statusOf(t, where...)
		messages := 0
		for i := range s.Accounts {
			messages += s.Accounts[i].Messages
		}
		return messages == mailboxes && s.Jobs["queued"]+s.Jobs["running"] == 0
	})
	now, most := r.memory()
	t.Logf("ready after %v; %d MB, and at most %d MB", ready.Round(10*time.Millisecond), now, most)
	if os.Getenv("POSTROOM_TEST_MAILBOXES")+os.Getenv("POSTROOM_TEST_RULES") == "" {
		require.Less(t, now, 256, "MB that it holds")
		require.Less(t, most, 512, "MB while a passphrase is tried, which takes 256")
	}
	r.stop()
}
