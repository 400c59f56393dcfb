package cli

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

const neighbour = "neighbour@example.com"

// neighbours are two mailboxes in one PostgreSQL database: that of the configuration, and one that is signed in to.
type neighbours struct {
	*teatime
	other *gmailtest.Account
}

func newNeighbours(t *testing.T) *neighbours {
	t.Helper()
	m := newSender(t, onPostgres(t)+"[schedules]\nhistory_sync = \"1s\"\n", answerAndForward)
	for _, set := range []string{"client_id=me", "auth_server=" + m.server.URL(), "tokens=file",
		"passphrase=" + inEnv(t, "correct horse")} {
		m.where = append(m.where, "--set", "gmail."+set)
	}
	other, err := m.server.Account(t.Context(), neighbour)
	require.NoError(t, err)
	signInAs(t, neighbour, m.where...)
	return &neighbours{m, other}
}

// bills delivers a bill, which a rule forwards, to each of the mailboxes: the same bytes.
func (n *neighbours) bills(id string, deliver ...func(ctx context.Context, raw []byte) (gmailtest.Message, error)) {
	n.Helper()
	for _, to := range deliver {
		_, err := to(n.Context(), []byte(letterAbout("Bill", id)))
		require.NoError(n, err)
	}
}

// taken reports whether the mailboxes are here, with all their mail, and nothing is left to do but polls.
func (n *neighbours) taken(emails ...string) bool {
	n.Helper()
	s := statusOf(n.T, n.where...)
	here := map[string]int{}
	for _, a := range s.Accounts {
		if a.Backfill == "done" {
			here[a.Email] = a.Messages
		}
	}
	for _, email := range emails {
		if messages, ok := here[email]; !ok || messages < n.arrived(email) {
			return false
		}
	}
	return len(s.Accounts) == len(emails)
}

// Of two mailboxes, one is removed and comes back while daemons run: what it has sent is not sent again, and the
// other goes on.
func TestAMailboxComesBackBesideAnother(t *testing.T) {
	t.Parallel()
	for name, daemons := range map[string]int{"one daemon": 1, "two daemons": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNeighbours(t)
			n.bills("both", n.other.Deliver) // the owner has it as well
			running := make([]*running, daemons)
			for i := range running {
				running[i] = start(t, n.where...)
			}
			for _, r := range running {
				r.ready()
			}
			first := running[0]
			forwarded := func(bills, teas int) {
				t.Helper()
				first.eventually("it is forwarded", func() bool { return n.arrived(colleague) >= bills && n.arrived(ann) >= teas })
			}
			forwarded(2, 1)
			first.eventually("all is taken in", func() bool { return n.taken(sample.Owner, neighbour) })

			n.remove()
			n.bills("alone", n.other.Deliver)
			forwarded(3, 1)

			n.bills("back", n.server.Deliver, n.other.Deliver)
			first.stop() // the mailbox of the configuration comes back at a start
			running[0] = start(t, n.where...)
			first = running[0]
			first.ready()
			forwarded(5, 1)
			first.eventually("all is taken in", func() bool { return n.taken(sample.Owner, neighbour) })
			done := map[postroom.ActionState]int{postroom.ActionCompleted: 6, postroom.ActionCanceled: 2}
			first.eventually("all is done, and nobody is asked", func() bool { return maps.Equal(done, n.states()) })
			require.Contains(t, strings.Join(n.errors(postroom.ActionCanceled), "\n"),
				"not sent again: a forward of this message was sent to "+colleague+" on ")
			for _, r := range running {
				r.stop()
			}
			require.Equal(t, []int{1, 5}, []int{n.arrived(ann), n.arrived(colleague)})
			require.Equal(t, 0, n.postroomd("audit", "verify").status)
		})
	}
}
