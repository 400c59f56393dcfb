package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A rulesDesk is a mailbox that has been sorted once, with its rules in a file.
type rulesDesk struct {
	*testing.T
	server *gmailtest.Server
	path   string // of the rules
	where  []string
}

func newRulesDesk(t *testing.T) *rulesDesk {
	t.Helper()
	gmail := inbox(t, "a letter")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, proposes)
	d := &rulesDesk{T: t, server: gmail, path: filepath.Join(t.TempDir(), "mine.yaml")}
	d.write("# Mine.\n" + modelRules)
	d.where = append(withModel(t, gmail, model.URL, ""), "--set", "paths.rules="+d.path)
	runOnce(t, d.where...)
	return d
}

func (d *rulesDesk) write(text string) {
	d.Helper()
	require.NoError(d, os.WriteFile(d.path, []byte(text), 0o600))
}

func (d *rulesDesk) read() string {
	d.Helper()
	text, err := os.ReadFile(d.path)
	require.NoError(d, err)
	return string(text)
}

func (d *rulesDesk) rules(args ...string) result {
	d.Helper()
	return postroomd(d.T, append(append([]string{"rules"}, args...), d.where...)...)
}

// proposed begins a session in which the model has proposed something.
func (d *rulesDesk) proposed() view.ChatReply {
	d.Helper()
	r := d.rules("chat", "say", "Letters.", "--json", "--since", "0")
	require.Equal(d, 0, r.status, r.stderr)
	var said view.ChatReply
	require.NoError(d, json.Unmarshal([]byte(r.stdout), &said))
	require.Equal(d, 2, said.Number)
	return said
}

func (d *rulesDesk) open() *app.App { return (&teatime{T: d.T, where: d.where}).open() }

// Of two who accept at once what was proposed for the same rules, the second would take back what the first has
// changed.
func TestTwoProposalsForTheSameRules(t *testing.T) {
	d := newRulesDesk(t)
	one, other := d.proposed(), d.proposed()
	r := d.rules("chat", "accept", one.Session, "2")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, one.File, d.read())
	r = d.rules("chat", "accept", other.Session, "2")
	// The same rules were proposed: they are there.
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "0 rules are added, 0 changed, 0 removed")

	d.write("# Mine.\n" + modelRules)
	said := d.proposed()
	d.write("# By hand.\n" + modelRules)
	r = d.rules("chat", "accept", said.Session, "2")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "have changed since")
	require.Equal(t, "# By hand.\n"+modelRules, d.read())
}

// A process that is killed between the file and the end of its transaction has changed the file. The next start takes
// it, and accepting it again ends what was begun.
func TestAcceptingGoesOnAfterAKill(t *testing.T) {
	d := newRulesDesk(t)
	said := d.proposed()
	d.write(said.File)
	runOnce(t, d.where...)
	r := d.rules("chat", "accept", said.Session, "2")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, said.File, d.read())
	require.Contains(t, d.rules("chat", "show", said.Session).stdout, "accepted by "+app.CurrentUser())
}

// What does not come to an end changes neither the store nor the file.
func TestRulesThatCannotBeStoredChangeNoFile(t *testing.T) {
	d := newRulesDesk(t)
	h := d.open()
	account, err := onlyAccount(t.Context(), h)
	require.NoError(t, err)
	before, failure := d.read(), errors.New("the disk is full")
	_, err = h.RuleEditor.Change(t.Context(), account, "a test",
		func(context.Context, queue.Tx, string) (*rulesfile.File, error) {
			return nil, failure
		})
	require.ErrorIs(t, err, failure)
	require.Equal(t, before, d.read())

	ctx, cancel := context.WithCancel(t.Context())
	_, err = h.RuleEditor.Change(ctx, account, "a test", func(_ context.Context, _ queue.Tx, text string) (
		*rulesfile.File, error) {
		cancel()
		return h.RuleEditor.Parse(d.path, text+"  - {name: More, condition: {type: starred}, action: archive}\n")
	})
	list, listErr := h.Rules.List(t.Context())
	require.NoError(t, listErr)
	changed := strings.Contains(d.read(), "More")
	require.Equal(t, err == nil, changed, "the file is changed if and only if the change is")
	require.Equal(t, changed, len(list) > 1 && list[len(list)-1].Name == "More")
}

// A daemon reads its rules, and stores them when the labels are there: what is accepted in between stays.
func TestTheDaemonTakesBackNothingThatWasAccepted(t *testing.T) {
	d := newRulesDesk(t)
	h := d.open()
	said := d.proposed()
	down := gmailtest.NewGate()
	defer down.Open()
	d.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Times: 1, Gate: down})
	daemon := start(t, d.where...)
	<-down.Arrived()
	r := d.rules("chat", "accept", said.Session, "2")
	require.Equal(t, 0, r.status, r.stderr)
	down.Open()
	daemon.ready()
	list, err := h.Rules.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Letters", list[len(list)-1].Name)
	labels, err := h.Mail.Labels(t.Context(), list[len(list)-1].AccountID)
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(labels, func(l postroom.Label) bool { return l.Name == "Letters" }))
	daemon.stop()
}

func TestAChatIsAboutOneMailbox(t *testing.T) {
	d := newRulesDesk(t)
	said := d.proposed()
	r := d.rules("chat", "say", "x", "--session", said.Session, "--mailbox", "other@example.org")
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stderr, "session")
	for _, args := range [][]string{{said.Session, "x"}, {said.Session, "1"}, {said.Session, "3"}} {
		r = d.rules(append([]string{"chat", "accept"}, args...)...)
		require.Equal(t, exitUsage, r.status, r.stderr)
	}
	d.write("rules: [")
	require.Equal(t, 0, d.rules("chat", "show", said.Session).status,
		"what was said can be read whatever became of the rules")
}

// One file is the rules of several mailboxes: going back is for all of them, and labels are named by their names there.
func TestGoingBackIsForAllMailboxes(t *testing.T) {
	d := newRulesDesk(t)
	h := d.open()
	var second string
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		if second, err = h.Mail.EnsureAccount(ctx, tx, "second@example.org", time.Time{}); err != nil {
			return err
		}
		return h.Mail.SaveLabel(ctx, tx, second, postroom.Label{ID: "Label_77", Name: "Club", Type: postroom.LabelUser})
	}))
	first, err := h.Rules.Versions(t.Context(), rulestore.VersionFilter{Limit: 1})
	require.NoError(t, err)
	account := first[0].AccountID
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if err := h.Mail.SaveLabel(ctx, tx, account,
			postroom.Label{ID: "Label_5", Name: "Club", Type: postroom.LabelUser}); err != nil {
			return err
		}
		made, err := rulesfile.Parse("x",
			strings.NewReader("rules: [{name: Club, condition: {type: label_present, value: Label_5}, action: star}]"))
		require.NoError(t, err)
		_, err = h.Rules.Import(ctx, tx, account, made.Rules) // a version without a file
		return err
	}))
	byProgram, err := h.Rules.Versions(t.Context(), rulestore.VersionFilter{Limit: 1})
	require.NoError(t, err)

	r := d.rules("restore", "1")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "2 mailboxes read that file")
	require.Equal(t, "# Mine.\n"+modelRules, d.read())
	require.Equal(t, namesOf(t, h, account), namesOf(t, h, second))

	r = d.rules("restore", "2")
	require.Equal(t, 0, r.status, r.stderr)
	require.EqualValues(t, 2, byProgram[0].Number)
	require.Contains(t, d.read(), "value: Club")
	for id, label := range map[string]string{account: "Label_5", second: "Label_77"} {
		list, err := h.Rules.List(t.Context())
		require.NoError(t, err)
		for _, rule := range list {
			if rule.AccountID == id {
				require.Equal(t, label, rule.Condition.Value)
			}
		}
	}
	jobs, err := h.Queue.Jobs(t.Context(), queue.Filter{Types: []string{string(gmail.JobLabelsSync)},
		States: []queue.State{queue.StateQueued}})
	require.NoError(t, err)
	require.NotEmpty(t, jobs, "the labels that the file names are made")
}

func namesOf(t *testing.T, h *app.App, account string) (names []string) {
	t.Helper()
	list, err := h.Rules.List(t.Context())
	require.NoError(t, err)
	for _, r := range list {
		if r.AccountID == account {
			names = append(names, r.Name)
		}
	}
	return names
}

// What nobody needs any more is deleted; what decided about mail can still be explained.
func TestOldSessionsAndVersionsAreDeleted(t *testing.T) {
	d := newRulesDesk(t)
	said, h := d.proposed(), d.open()
	require.NoError(t, h.PruneRules(t.Context(), time.Now().Add(app.KeepSessions-time.Hour)))
	require.Equal(t, 0, d.rules("chat", "show", said.Session).status)
	require.NoError(t, h.PruneRules(t.Context(), time.Now().Add(app.KeepSessions+time.Hour)))
	require.Equal(t, exitUsage, d.rules("chat", "show", said.Session).status)
	require.Equal(t, 0, d.rules("show", "1").status, "the newest stay")
}
