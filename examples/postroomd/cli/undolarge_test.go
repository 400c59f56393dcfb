package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/undo"
)

// manyEnv names the environment variable with the number of messages of TestABatchOfManyIsUndoneOnce.
const manyEnv = "POSTROOM_TEST_CHAOS"

// teas are so many messages about tea, which differ in their labels.
type teas int

func (n teas) Name() string { return "teas" }

func (n teas) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		for i := range int(n) {
			m := mailbox.Message{Position: i + 1, Name: fmt.Sprintf("%d.eml", i), Labeled: true,
				Received: time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local), Raw: fmt.Appendf(nil,
					"From: a%d@example.com\r\nTo: %s\r\nSubject: Tea %d\r\nMessage-ID: <%d@example.com>\r\n\r\nAt five?\r\n", i%50,
					sample.Owner, i, i)}
			if i%3 > 0 {
				m.Labels = append(m.Labels, postroom.LabelInbox)
			}
			if i%4 > 0 {
				m.Labels = append(m.Labels, postroom.LabelUnread)
			}
			if !yield(m, nil) {
				return
			}
		}
	}
}

// A manyUndos is a mailbox with a rule that was applied to many messages.
type manyUndos struct {
	*teatime

	n int
}

func newManyUndos(t *testing.T, database string) *manyUndos {
	t.Helper()
	n := 90
	if text := os.Getenv(manyEnv); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	settings := ""
	if database != "" {
		settings = fmt.Sprintf("database = %q\n", inEnv(t, database))
	}
	n -= n % 3
	m := &manyUndos{teatime: newTeatime(t, "{action: archive}", settings), n: n}
	_, err := m.server.Import(t.Context(), teas(n), func(int) {})
	require.NoError(t, err)
	m.measure("backfill", append(append([]string{"run", "--once"}, m.where...), "--set", "paths.rules=")...)
	return m
}

// measure runs a command as a process of its own, and logs what it takes.
func (m *manyUndos) measure(what string, args ...string) (stdout string) {
	m.Helper()
	return m.begin(what, args...)()
}

// begin starts a command, and returns what waits for its end.
func (m *manyUndos) begin(what string, args ...string) (end func() (stdout string)) {
	m.Helper()
	began := time.Now()
	cmd := exec.CommandContext(m.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(m, cmd.Start())
	return func() string {
		m.Helper()
		err := cmd.Wait()
		m.logUsed(what, cmd.ProcessState, time.Since(began))
		require.NoError(m, err, errs.String())
		return out.String()
	}
}

func (m *manyUndos) logUsed(what string, p *os.ProcessState, took time.Duration) {
	m.Logf("%d messages: %s: %.1f s of processor time, %.1f s", m.n, what, (p.UserTime() + p.SystemTime()).Seconds(),
		took.Seconds())
}

// peak is the most memory that a running process has had, where the system says so. What is left of it when the
// process has ended counts the one that it was started by.
func peak(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	most, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(most)
}

// work begins a command beside a daemon, lets them work until it is enough, and kills the daemon or asks it to stop.
func (m *manyUndos) work(what string, kill bool, enough func() bool, command ...string) (end func() (stdout string)) {
	m.Helper()
	began := time.Now()
	r := start(m.T, m.where...)
	r.ready()
	if len(command) > 0 {
		end = m.begin(strings.Join(command, " "), append(command, m.where...)...)
	}
	for !enough() {
		require.Less(m, time.Since(began), patienceOf(m.n), r.log())
		time.Sleep(10 * time.Millisecond) // the instant of the kill is the test
	}
	m.Logf("%s: %s of memory at most", what, peak(r.cmd.Process.Pid))
	if kill {
		r.kill()
	} else {
		r.stop()
	}
	m.logUsed(what, r.cmd.ProcessState, time.Since(began))
	return end
}

// patienceOf is as long as a loaded machine may take for so many.
func patienceOf(n int) time.Duration { return 2*time.Minute + time.Duration(n)*100*time.Millisecond }

// modified is how often a message was changed.
func (m *manyUndos) modified() int { return m.server.Counts()[gmailtest.MessagesModify] }

// noJobs reports whether no job is left.
func (m *manyUndos) noJobs() bool {
	s := statusOf(m.T, m.where...)
	return s.Jobs["queued"]+s.Jobs["running"] == 0
}

// results are those of undo --json, by their endings.
func (m *manyUndos) results(what string, args ...string) (endings map[undo.Ending]int) {
	m.Helper()
	var v struct{ Endings map[undo.Ending]int }
	out := m.measure(what, append(append([]string{"undo", "--json", "--yes"}, args...), m.where...)...)
	require.NoError(m, json.Unmarshal([]byte(out), &v))
	return v.Endings
}

// A batch of many actions is undone by a daemon that is killed in the middle: the mailbox is as it was, and no
// message was changed twice but those that were under way.
func TestABatchOfManyIsUndoneOnce(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); undoMany(t, "") })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); undoMany(t, dbtest.MigratedDSN(t)) })
}

func undoMany(t *testing.T, database string) {
	m := newManyUndos(t, database)
	before := mailOf(t, m.server)
	const inInbox = 2 // of three
	acted := m.n * inInbox / 3
	m.work("archive", false, func() bool {
		return m.modified() >= acted && m.noJobs()
	}, "rules", "apply", "--yes", "--batch", "tea")()
	archived := mailOf(t, m.server)

	planned := m.results("undo --dry-run", "--batch", "tea", "--dry-run")
	require.Equal(t, map[undo.Ending]int{undo.EndingRestored: acted}, planned)
	require.True(t, archived == mailOf(t, m.server), "a dry run changes nothing")
	require.Equal(t, map[undo.Ending]int{undo.EndingOpen: acted}, m.results("undo --report, before", "--batch",
		"tea", "--report"))

	requested := m.work("undo, killed in the middle", true, func() bool {
		return m.modified()-acted >= acted/2
	}, "undo", "--batch", "tea", "--yes")
	require.False(t, before == mailOf(t, m.server), "it was killed in the middle")
	m.work("undo, the rest", false, func() bool { return m.modified() >= 2*acted && m.noJobs() })
	requested()
	require.True(t, before == mailOf(t, m.server), "the mailbox is as it was")
	require.LessOrEqual(t, m.modified()-acted, acted+manyUnderWay)
	t.Logf("%d messages were changed, and changed back by %d calls", acted, m.modified()-acted)
	require.Equal(t, planned, m.results("undo --report", "--batch", "tea", "--report"))
	require.Equal(t, planned, m.results("undo --report of all", "--all", "--since", "1d", "--report"))
	require.Empty(t, m.results("undo of what is undone", "--all", "--since", "1d"))
}

// manyUnderWay is how many jobs a daemon carries out at a time: so many calls may not have been noted when it was
// killed.
const manyUnderWay = 64
