package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
)

const (
	ann  = "ann@example.com"
	boss = "boss@example.com"

	// answerAndForward sends without a person: an answer to each mail about tea, and each bill to a colleague.
	answerAndForward = `rules:
  - {name: Tea, condition: {type: subject_regex, value: ^Tea}, action: auto_reply, parameters: {body: Gladly.}, safe_mode: dangerous_override}
  - {name: Bill, condition: {type: subject_regex, value: ^Bill}, action: forward, parameters: {to: ` + colleague + `}, safe_mode: dangerous_override}
`
)

func letterAbout(subject, id string) string {
	return strings.NewReplacer("Tea?", subject, "tea@", id+"@").Replace(letterWithFile)
}

// newSender is a mailbox with those rules.
func newSender(t *testing.T, settings, rules string) *teatime {
	t.Helper()
	m := newTeatime(t, answerTea, settings, letterAbout("Tea?", "tea"), letterAbout("Bill", "bill"))
	m.rules(rules)
	for _, address := range []string{ann, colleague, boss} {
		require.Zero(t, m.arrived(address))
	}
	return m
}

func (m *teatime) rules(text string) {
	m.Helper()
	file := filepath.Join(m.TempDir(), "rules.yaml")
	require.NoError(m, os.WriteFile(file, []byte(text), 0o600))
	m.where = append(append([]string{}, m.where...), "--set", "paths.rules="+file)
}

// arrived is how many messages a mailbox has got.
func (m *teatime) arrived(address string) int {
	m.Helper()
	account, err := m.server.Account(m.Context(), address)
	require.NoError(m, err)
	n, err := account.Count(m.Context())
	require.NoError(m, err)
	return n
}

// errors are those of the actions in a state.
func (m *teatime) errors(state postroom.ActionState) (errors []string) {
	m.Helper()
	for _, a := range m.actions() {
		if a.State == state {
			errors = append(errors, a.Error)
		}
	}
	return errors
}

func (m *teatime) remove(flags ...string) {
	m.Helper()
	r := m.postroomd(append([]string{"accounts", "remove", "you@example.com", "--yes"}, flags...)...)
	require.Equal(m, 0, r.status, r.stderr)
}

// A mailbox that is removed and comes back is sorted anew, and what it had sent is not sent again.
func TestASendHappensOnceThoughTheMailboxComesBack(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": onPostgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSender(t, settings(t)+"[safety]\ncaps = [\"forward,auto_reply 2/1h\"]\nbreaker_actions = 3\n",
				answerAndForward)
			runOnce(t, m.where...)
			require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 2}, m.states())
			once := []int{1, 1}
			require.Equal(t, once, []int{m.arrived(ann), m.arrived(colleague)})

			for removals := 1; removals <= 3; removals++ {
				m.remove()
				s := runOnce(t, m.where...)
				require.Zero(t, s.Approvals, "nobody is asked about what is done")
				require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 2, postroom.ActionCanceled: 2 * removals},
					m.states(), "all is sorted anew")
				require.Equal(t, once, []int{m.arrived(ann), m.arrived(colleague)})
			}
			canceled := strings.Join(m.errors(postroom.ActionCanceled), "\n")
			require.Contains(t, canceled, "not sent again: a reply to this message was sent to "+ann+" on ")
			require.Contains(t, canceled, "not sent again: a forward of this message was sent to "+colleague+" on ")
			require.Equal(t, 0, m.postroomd("audit", "verify").status)
		})
	}
}

// The limits of a recipient go on where a mailbox comes back, until it is forgotten.
func TestLimitsGoOnWhereTheMailboxComesBack(t *testing.T) {
	m := newSender(t, "[outbound]\nrecipients_day = 1\n", answerAndForward)
	runOnce(t, m.where...)
	m.remove()
	for _, letter := range []string{letterAbout("Tea again", "tea2"), letterAbout("Bill again", "bill2")} {
		_, err := m.server.Deliver(t.Context(), []byte(letter))
		require.NoError(t, err)
	}
	runOnce(t, m.where...)
	require.Equal(t, 2, m.states()[postroom.ActionQueued], "they wait for the next day")
	require.Equal(t, 2, m.sent())

	m.remove("--forget")
	runOnce(t, m.where...)
	require.Equal(t, 4, m.sent(), "one to each, since nothing is known")
}

// Whom a person answers anyway is told what was sent, and may send it once more. Targets that have not got it are
// asked about as well.
func TestAPersonMayHaveItSentAgain(t *testing.T) {
	m := newSender(t, "", answerAndForward)
	runOnce(t, m.where...)
	m.remove()
	m.rules(strings.Replace(strings.Replace(answerAndForward, "{to: "+colleague+"}", "{to: ["+colleague+", "+boss+"]}", 1),
		"Gladly.}, safe_mode: dangerous_override", "Gladly.}", 1))
	runOnce(t, m.where...)
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 2, postroom.ActionPendingApproval: 2},
		m.states())
	list := m.postroomd("approvals", "list").stdout
	require.Contains(t, list, "a reply to this message was sent to "+ann)
	require.Contains(t, list, "a forward of this message was sent to "+colleague)
	require.Contains(t, list, "not to "+boss)
	require.Equal(t, 0, m.postroomd("stop").status) // the command does not wait for a postroomd that runs
	r := m.postroomd("approvals", "approve", "--kind", "forward", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, 0, m.postroomd("resume").status)
	runOnce(t, m.where...)
	require.Equal(t, []int{2, 1}, []int{m.arrived(colleague), m.arrived(boss)})
}

func TestARemovalIsConfirmed(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	r := m.postroomd("accounts", "remove", "you@example.com")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "nobody can be asked here; add --yes to go on\n")
	require.Contains(t, m.postroomd("accounts", "list").stdout, "you@example.com")
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionPendingApproval: 1}, m.states())

	r = m.postroomd("accounts", "remove", "you@example.com", "--yes", "--forget")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t,
		"you@example.com is removed; what was done stays on record\nyou@example.com has sent nothing that is to be forgotten\n", r.stdout)
	r = m.postroomd("accounts", "remove", "you@example.com", "--yes")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "there is no mailbox you@example.com here")
	require.Zero(t, m.server.Counts()[gmailtest.MessagesDelete])
}
