package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/safety/checkpoint"
)

// An answer is what a person types, before which something else happens.
type answer struct {
	io.Reader
	meanwhile func()
}

func (a answer) Read(p []byte) (int, error) {
	a.meanwhile()
	return a.Reader.Read(p)
}

// TestAnAcceptanceThatCannotBeKeptIsAnError: the daemon would not know of it.
func TestAnAcceptanceThatCannotBeKeptIsAnError(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	seen := environment.Folder(m.where[slices.Index(m.where, "--data")+1]).Checkpoint()
	require.NoError(t, checkpoint.File(seen).SetStep("01999999-0000-7000-8000-00000000000f 2"))

	moved := seen + ".moved"
	var move sync.Once
	person := answer{strings.NewReader("y\n"), func() {
		move.Do(func() {
			require.NoError(t, os.Rename(seen, moved))
			require.NoError(t, os.Mkdir(seen, 0o700))
		})
	}}
	var out bytes.Buffer
	root := rootCommand(append([]string{"audit", "accept"}, m.where...))
	root.SetIn(person)
	root.SetOut(&out)
	require.ErrorContains(t, root.ExecuteContext(t.Context()), "no other program knows that the database is accepted")
	require.NotContains(t, out.String(), "the database is accepted")

	require.NoError(t, os.Remove(seen))
	require.NoError(t, os.Rename(moved, seen))
	require.Contains(t, m.postroomd("audit", "accept", "--yes").stdout, "the database is accepted")
	require.NotContains(t, m.postroomd("status").stdout, "the database was put back")
}

// TestNothingIsDoneInADatabaseThatWasPutBack: the database is gone, and the checkpoint is not.
func TestNothingIsDoneInADatabaseThatWasPutBack(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	runOnce(t, m.where...)
	databases, err := filepath.Glob(environment.Folder(m.where[slices.Index(m.where, "--data")+1]).Database() + "*")
	require.NoError(t, err)
	for _, file := range databases {
		require.NoError(t, os.Remove(file))
	}
	for _, n := range []int{2, 3} {
		_, err := m.server.Deliver(t.Context(), []byte(letterNamed(n)))
		require.NoError(t, err)
	}
	r := m.postroomd("run", "--once", "--json")
	require.Equal(t, 0, r.status, r.stderr)
	var s view.Summary
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &s))
	require.Equal(t, 3, s.Waiting, "though all of it can be taken back")
	require.Regexp(t,
		"^stopped: no action is carried out or taken back: the database was put back to an earlier state: .* with 'postroomd audit accept'$", s.Stopped)
	require.Contains(t, r.stderr, "no action is carried out or taken back, since the database was put back")
	require.Contains(t, m.postroomd("status").stdout, s.Stopped)

	require.Equal(t, 0, m.postroomd("audit", "accept", "--yes").status)
	require.Empty(t, runOnce(t, m.where...).Stopped)
}

// TestADaemonSaysWhatWaitsForTheCheckpoint: what cannot be taken back, and nothing else.
func TestADaemonSaysWhatWaitsForTheCheckpoint(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "[schedules]\nhistory_sync = \"1s\"\n", letterNamed(1))
	r := start(t, m.where...)
	archived := func(n int) func() bool {
		return func() bool { return m.server.Counts()[gmailtest.MessagesModify] == n }
	}
	r.eventually("the first is archived", archived(1))
	status := func() string { _, body := r.get("healthz"); return body }
	require.NotContains(t, status(), "stopped")

	path := environment.Folder(m.where[slices.Index(m.where, "--data")+1]).Checkpoint()
	require.NoError(t, os.Rename(path, path+".moved"))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err := m.server.Deliver(t.Context(), []byte(letterNamed(2)))
	require.NoError(t, err)
	r.eventually("the second is archived", archived(2))
	r.eventually("it is said", func() bool { return strings.Contains(status(), `"stopped: what cannot be taken back: `) })
	r.eventually("it is logged", func() bool {
		return strings.Contains(r.log(), "what cannot be taken back waits, since the checkpoint cannot be used")
	})

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Rename(path+".moved", path))
	r.eventually("it is over", func() bool { return !strings.Contains(status(), "stopped") })
	r.stop()
}
