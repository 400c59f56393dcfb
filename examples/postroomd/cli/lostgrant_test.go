package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// Whoever is asked for approvals is told once of a grant that is gone, and the daemon says it.
func TestALostGrantIsToldOnce(t *testing.T) {
	t.Parallel()
	server, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	var mu sync.Mutex
	var told []string
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		told = append(told, string(body))
	}))
	defer receiver.Close()
	channel := discordtest.Start(discordtest.Config{Token: "hunter3"})
	t.Cleanup(channel.Close)
	where := []string{"--data", filepath.Join(t.TempDir(), "data"), "--config", writeFile(t, "config.toml", fmt.Sprintf(`[gmail]
client_id = "me"
endpoint = %[1]q
auth_server = %[1]q
tokens = "file"
passphrase = %[2]q
units_per_minute = 0
[schedules]
history_sync = "1s"
[webhook]
url = %[3]q
secret = %[4]q
allow_private = true
[discord]
bot_token = %[5]q
channel_id = %[6]q
api_endpoint = %[7]q
whitelist = ["%[8]s=ada"]
`, server.URL(), inEnv(t, "correct horse"), receiver.URL, inEnv(t, webhookSecret), inEnv(t, "hunter3"), channel.Channel(),
		channel.URL(), ada.ID))}
	signIn(t, where...)
	r := start(t, where...)
	r.ready()
	owner, err := server.Account(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.NoError(t, owner.RevokeGrants(t.Context()))
	said := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), told...)
	}
	r.eventually("both are told", func() bool { return len(said()) > 0 && len(channel.Messages()) > 0 })
	const help = "sign in again with 'postroomd auth login " + sample.Owner + "'"
	require.Contains(t, said()[0], `"type":"account.reauthorize"`)
	require.Contains(t, said()[0], help)
	require.Contains(t, channel.Messages()[0].Text(), sample.Owner+" has lost its grant")
	r.stop()

	r = start(t, where...)
	r.eventually("it says so", func() bool {
		_, ready := r.get("readyz")
		_, healthy := r.get("healthz")
		return strings.Contains(ready, help) && strings.Contains(healthy, "degraded")
	})
	r.stop()
	require.Len(t, said(), 1)
	require.Len(t, channel.Messages(), 1)
}
