package cli

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

const (
	rulesBefore = "rules:\n  - {name: old, condition: {type: subject_regex, value: ^Tea}, action: delete, safe_mode: dangerous_override}\n"
	rulesAfter  = "rules:\n  - {name: new, condition: {type: subject_regex, value: ^Tea}, action: star}\n"
)

// newRewritten is a mailbox with the rules from before, which it has seen already.
func newRewritten(t *testing.T, settings string) *rewritten {
	t.Helper()
	m := newTeatime(t, deleteTea, settings)
	path := filepath.Join(t.TempDir(), "rules.yaml")
	m.where = append(m.where, "--set", "paths.rules="+path)
	r := &rewritten{m, path}
	r.write(rulesBefore)
	runOnce(t, m.where...)
	return r
}

type rewritten struct {
	*teatime
	path string
}

func (r *rewritten) write(text string) { require.NoError(r, os.WriteFile(r.path, []byte(text), 0o600)) }

func (r *rewritten) deliver(letters int) {
	for n := range letters {
		_, err := r.server.Deliver(r.Context(), []byte(letterNamed(n)))
		require.NoError(r, err)
	}
}

// starred requires that the letters are decided by the rules from after, and that none is gone.
func (r *rewritten) starred(letters int) {
	r.Helper()
	for _, a := range r.actions() {
		require.Equal(r, postroom.Star, a.Action, "by rule %s", a.Rule)
	}
	require.Len(r, r.actions(), letters)
	require.Zero(r, r.server.Counts()[gmailtest.MessagesDelete])
}

// A daemon that starts with other rules decides nothing before it has stored them, however long Gmail keeps it
// waiting; the mail is taken in.
func TestADaemonDecidesByTheRulesOfTheFile(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) string{
		"SQLite":     func(*testing.T) string { return "" },
		"PostgreSQL": onPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const letters = 4
			r := newRewritten(t, database(t)+"[schedules]\nhistory_sync = \"1s\"\n")
			d := start(t, r.where...)
			d.ready() // it has made the schedules
			d.stop()
			r.write(rulesAfter)
			r.deliver(letters)
			down := gmailtest.NewGate()
			defer down.Open()
			r.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Times: -1, Gate: down})

			d = start(t, r.where...)
			d.eventually("all is taken in, and waits", func() bool {
				require.Empty(t, r.actions(), "nothing is decided")
				s := statusOf(t, r.where...)
				return s.Accounts[0].Messages == letters && s.Held == letters
			})
			require.Contains(t, r.postroomd("status").stdout, "4 messages, until the rules of the file are stored")
			status, body := d.get("readyz")
			require.Equal(t, http.StatusServiceUnavailable, status)
			require.Contains(t, body, sample.Owner+" is being set up: job ")

			down.Open()
			d.eventually("all is decided", func() bool {
				return len(r.actions()) == letters && statusOf(t, r.where...).Held == 0
			})
			d.stop()
			r.starred(letters)
		})
	}
}

// What a run leaves that is killed is decided by the rules of the file that the next one finds.
func TestARunThatIsKilledLeavesNothingToOldRules(t *testing.T) {
	t.Parallel()
	const letters = 4
	r := newRewritten(t, "")
	r.deliver(letters)
	down := gmailtest.NewGate()
	defer down.Open()
	r.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Times: -1, Gate: down})
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"run", "--once"}, r.where...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	require.NoError(t, cmd.Start())
	<-down.Arrived()
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	r.server.ClearFaults()

	r.write(rulesAfter)
	r.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Delay: time.Second})
	s := runOnce(t, r.where...)
	require.Equal(t, map[string]int{"new": letters}, s.Rules)
	require.Zero(t, s.Held)
	r.starred(letters)
}

// What the old rules have let be deleted, and was stopped, is deleted no more if the rules of the file do not say so:
// from the start on, also in a mailbox that is paused and resumed.
func TestADaemonDeletesByTheRulesOfTheFile(t *testing.T) {
	t.Parallel()
	const letters = 4
	for name, paused := range map[string]bool{"paused": true, "not paused": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRewritten(t, "[schedules]\nhistory_sync = \"1s\"\n")
			require.Equal(t, 0, r.postroomd("stop").status)
			r.deliver(letters)
			runOnce(t, r.where...)
			require.Equal(t, map[postroom.ActionState]int{postroom.ActionQueued: letters}, r.states())
			if paused {
				require.Equal(t, 0, r.postroomd("accounts", "pause", sample.Owner).status)
			}
			r.write(rulesAfter)
			down := gmailtest.NewGate()
			defer down.Open()
			r.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Times: -1, Gate: down})
			d := start(t, r.where...)
			require.Equal(t, 0, r.postroomd("resume").status)
			if paused {
				require.Equal(t, 0, r.postroomd("accounts", "resume", sample.Owner).status)
			}
			d.eventually("they wait for the rules", func() bool {
				return strings.Count(r.postroomd("jobs", "list", "--type", "action.gmail", "--json").stdout,
					"the rules are not stored yet") == letters
			})
			require.Equal(t, map[postroom.ActionState]int{postroom.ActionQueued: letters}, r.states())
			down.Open()
			d.eventually("a person is asked", func() bool { return r.states()[postroom.ActionPendingApproval] == letters })
			d.stop()
			require.Zero(t, r.server.Counts()[gmailtest.MessagesDelete])
		})
	}
}
