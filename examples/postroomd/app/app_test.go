package app

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/notify/when"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
)

// openTestApp opens an App with a Gmail of its own, and with a file of these rules, if there are any.
func openTestApp(t *testing.T, rules string, changes ...func(*config.Config)) *App {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), SpamAndTrash: true}
	if rules != "" {
		file := filepath.Join(t.TempDir(), "rules.yaml")
		require.NoError(t, os.WriteFile(file, []byte(rules), 0o600))
		cfg.Paths.Rules = config.Path(file)
	}
	for _, change := range changes {
		change(&cfg)
	}
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	a, err := New(t.Context(), Config{Environment: env})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// A look at the progress of a run takes a twentieth of the time, however large the mailboxes are.
func TestProgressIsLookedAtSeldomWhereThatIsSlow(t *testing.T) {
	require.Equal(t, 250*time.Millisecond, untilLook(time.Millisecond))
	require.Equal(t, 38*time.Second, untilLook(2*time.Second))
}

// A digest needs the name of a time zone, which a schedule keeps: without notify.zone it is that of the machine.
func TestADigestHasTheZoneOfTheMachine(t *testing.T) {
	a := openTestApp(t, "", func(c *config.Config) { c.Notify.Digest = "07:00" })
	zone := when.MachineZone()
	if zone == when.LocalZone {
		require.ErrorContains(t, a.begin(t.Context()), "notify.zone")
		return
	}
	require.NoError(t, a.begin(t.Context()))
	schedules, err := a.Queue.Schedules(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(schedules, func(s queue.StoredSchedule) bool { return s.Name == digestSchedule })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, zone, schedules[i].Zone)
}
