package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// TestStopAndResume: a dry run decides and changes nothing; what comes while all is stopped is carried out afterwards.
func TestStopAndResume(t *testing.T) {
	t.Parallel()
	server := newGmail(t)
	file, dir := configure(t, server, ""), filepath.Join(t.TempDir(), "data")
	where := []string{"--config", file, "--data", dir}
	changes := func() int {
		return server.Counts()[gmailtest.MessagesModify] + server.Counts()[gmailtest.MessagesTrash]
	}
	says := func(words ...string) string {
		r := postroomd(t, append(words, where...)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}

	dry := runOnce(t, append(where, "--dry-run")...)
	require.Zero(t, changes())
	require.Zero(t, dry.Approvals)
	require.Positive(t, dry.New)
	require.Zero(t, dry.Actions[postroom.Archive])
	require.Positive(t, dry.Would.Actions[postroom.Archive])
	require.Equal(t, dry.Would.Actions, runOnce(t, append(where, "--dry-run")...).Would.Actions, "it has left nothing")
	require.Equal(t, "no actions\n", says("actions"))
	status := says("status", "--set", "safety.dry_run=true")
	require.Contains(t, status, "nothing is carried out")
	require.Contains(t, status, "left as they are; the next start without a dry run decides about them")
	printed := says("run", "--once", "--dry-run")
	require.Regexp(t, `(?m)^ +\d+  would be: archive; nothing was done$`, printed)
	require.Regexp(t, `(?m)^ +\d+  would wait for approval; nothing was done$`, printed)

	require.Contains(t, says("stop", "--why", "odd\x1b[31m mail"), ": odd[31m mail")
	_, err := server.Deliver(t.Context(),
		[]byte("From: news@shop.example\nList-Unsubscribe: <https://shop.example/u>\nSubject: Offer\n\nHello.\n"))
	require.NoError(t, err)
	runOnce(t, where...)
	require.Zero(t, changes())
	var stopped view.Status
	require.NoError(t, json.Unmarshal([]byte(says("status", "--json")), &stopped))
	require.Contains(t, stopped.Stopped, "stopped by ")
	require.Contains(t, says("actions", "--state", string(postroom.ActionQueued), "--limit", "100"), "Offer")

	require.Equal(t, "what was stopped goes on\n", says("resume"))
	require.Equal(t, "nothing is stopped\n", says("resume"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600))
	runOnce(t, where...)
	require.Zero(t, changes(), "the file stops it")
	require.Contains(t, says("resume"), "the file")
	require.Zero(t, server.Counts()[gmailtest.LabelsCreate], "nor is any label made")
	require.NoError(t, os.Remove(filepath.Join(dir, "stop")))
	for says("actions", "--state", string(postroom.ActionQueued)) != "no actions\n" { // held jobs wait for their time
		runOnce(t, where...)
	}
	require.Positive(t, changes())
}
