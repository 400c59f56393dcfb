package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/undo"
)

// result is what a command printed and how it ended.
type result struct {
	status         int
	stdout, stderr string
}

func postroomd(t *testing.T, args ...string) result {
	t.Helper()
	var (
		stdout bytes.Buffer
		stderr spoken
	)
	status := Run(t.Context(), args, &stdout, &stderr)
	return result{status, stdout.String(), stderr.said.String()}
}

// spoken is a standard error, to which the log and the progress are written at the same time.
type spoken struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.Write(p)
}

// secret puts a value where a setting may refer to it.
func secret(t *testing.T, value string) (reference string) {
	t.Helper()
	name := fmt.Sprintf("SECRET_%x", value)
	t.Setenv(name, value)
	return "env:" + name
}

func TestDemoSortsTheSampleOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first := runDemo(t, "--data", dir)
	require.GreaterOrEqual(t, first.Messages, 60)
	require.Equal(t, first.Messages, first.New)
	require.Positive(t, first.Approvals)
	require.Positive(t, first.Unmatched)
	require.Empty(t, first.Broken, "whatever is in the sample is read")
	require.Zero(t, first.Jobs["queued"]+first.Jobs["running"])

	second := demoJSON(t, "--data", dir)
	require.Zero(t, second.New)
	second.New, second.Seconds, second.Jobs = first.New, first.Seconds, first.Jobs
	require.Equal(t, first, second, "a second run does nothing twice")
}

func TestDemoTellsAPersonWhatToDoNext(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	r := postroomd(t, "demo", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "wait for approval")
	require.Contains(t, r.stdout, "postroomd undo ACTION_ID --data "+dir)
	require.Contains(t, r.stderr, "Everything is kept in "+dir)
	first, _, _ := strings.Cut(r.stderr, "\n")
	require.Contains(t, first, "postroomd demo --dashboard 127.0.0.1:8080")
}

// The demo leaves a draft, and says that no model has written it; the page and the commands show it.
func TestDemoHasADraft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	r := postroomd(t, "demo", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, scripted.Note)
	require.Contains(t, r.stdout, "postroomd drafts list --data "+dir)
	list := postroomd(t, "drafts", "list", "--data", dir)
	require.Equal(t, 0, list.status, list.stderr)
	require.Regexp(t, `(?m)^\w+ +drafted +`+regexp.QuoteMeta(sample.Owner)+` +Re: Picnic for Dad's 70th `, list.stdout)
	require.Equal(t, 2, strings.Count(list.stdout, "\n"))
	var page struct {
		Drafts []struct{ ID string }
	}
	require.NoError(t, json.Unmarshal([]byte(postroomd(t, "drafts", "list", "--json", "--data", dir).stdout), &page))
	shown := postroomd(t, "drafts", "show", page.Drafts[0].ID, "--data", dir)
	require.Equal(t, 0, shown.status, shown.stderr)
	require.Contains(t, shown.stdout, "[check: 10:15]")
	require.Contains(t, shown.stdout, "mara@family.example")
	require.Contains(t, shown.stdout, "the Gmail of a demo runs with", "nothing asks Google")
	again := postroomd(t, "drafts", "rework", page.Drafts[0].ID, "shorter", "--data", dir)
	require.Equal(t, 0, again.status, again.stderr)
	require.Equal(t, 1, runDemo(t, "--data", dir).Drafts)
	shown = postroomd(t, "drafts", "show", page.Drafts[0].ID, "--data", dir)
	require.Contains(t, shown.stdout, "eleven at his door is fine")
}

var idPattern = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f-]{27})?\b`)

func firstID(t *testing.T, listing, line string) string {
	t.Helper()
	for l := range strings.Lines(listing) {
		if id := idPattern.FindString(l); id != "" && strings.Contains(l, line) {
			return id
		}
	}
	require.Fail(t, "no such line", "%q in\n%s", line, listing)
	return ""
}

func TestTakeBackApproveAndReject(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	before := demoJSON(t, "--data", dir)

	moved := firstID(t, postroomd(t, "actions", "--data", dir, "--type", "move").stdout, "completed")
	r := postroomd(t, "undo", moved, "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "INBOX")
	r = postroomd(t, "undo", moved, "--data", dir)
	require.Equal(t, exitUsage, r.status, "what has been taken back cannot be taken back again")

	waiting := postroomd(t, "approvals", "list", "--data", dir).stdout
	ids := regexp.MustCompile(`(?m)^[0-9a-f]{8}\b( +delete)`).FindAllString(waiting, -1)
	require.GreaterOrEqual(t, len(ids), 2, waiting)
	for i := range ids {
		ids[i], _, _ = strings.Cut(ids[i], " ")
	}
	r = postroomd(t, "approvals", "approve", ids[0], "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "completed")
	r = postroomd(t, "approvals", "reject", ids[1], "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "rejected")
	r = postroomd(t, "approvals", "approve", ids[1], "--data", dir)
	require.Equal(t, exitUsage, r.status, "an answer is final")

	r = postroomd(t, "undo", ids[0], "--data", dir)
	require.Equal(t, exitUsage, r.status, "a deletion cannot be taken back")
	require.Equal(t, before.Approvals-2, demoJSON(t, "--data", dir).Approvals)
}

func TestTakeBackMany(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	completed := func() int {
		return strings.Count(postroomd(t, "actions", "--data", dir, "--type", "archive", "--limit", "100").stdout,
			"completed")
	}
	n := completed()
	require.Positive(t, n)
	r := postroomd(t, "undo", "--type", "archive", "--dry-run", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, fmt.Sprintf("%d actions would be taken back, 0 not", n))
	r = postroomd(t, "undo", "--type", "archive", "--yes", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, fmt.Sprintf("%d actions taken back, 0 not", n))
	r = postroomd(t, "undo", "--type", "archive", "--yes", "--data", dir)
	require.Contains(t, r.stdout, "0 actions taken back, 0 not", "they are taken back already")

	undone := firstID(t, postroomd(t, "actions", "--data", dir, "--type", "undo_archive").stdout, "completed")
	r = postroomd(t, "undo", undone, "--dry-run", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "would be taken back")
	r = postroomd(t, "undo", undone, "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "taken off: INBOX")
	r = postroomd(t, "undo", "--type", "archive", "--yes", "--data", dir)
	require.Contains(t, r.stdout, "1 action taken back, 0 not", "its undo has been taken back")
}

// failedJob makes a job that fails whenever it is tried: there is no such action.
func failedJob(t *testing.T, dir string) (id, reason string) {
	t.Helper()
	demoJSON(t, "--data", dir)
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	receipt, err := h.Queue.Enqueue(t.Context(),
		undo.JobAction.New(undo.ActionPayload{AccountID: "nobody", OriginalActionID: "none"}, nil))
	require.NoError(t, err)
	require.NoError(t, h.Close())
	demoJSON(t, "--data", dir)
	h, err = app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	job, err := h.Queue.Job(t.Context(), receipt.ID)
	require.NoError(t, err)
	require.Equal(t, queue.StateFailed, job.State)
	require.NoError(t, h.Close())
	return job.ID, job.LastError
}

func TestFailedJobsCanBeRetried(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	id, reason := failedJob(t, dir)
	r := postroomd(t, "jobs", "retry", id, "--data", dir)
	require.Equal(t, exitFailed, r.status, "there is still no such action")
	require.Contains(t, r.stderr, reason)

	r = postroomd(t, "jobs", "show", id, "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "undo.action")

	r = postroomd(t, "jobs", "explain", id, "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "undo.action "+id+" is failed\n- ")
	r = postroomd(t, "jobs", "explain", id, "--json", "--data", dir)
	var reasons []map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &reasons), r.stdout)
	require.Equal(t, "finished", reasons[0]["cause"])
}

func TestDoctorExaminesTheQueue(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	r := postroomd(t, "jobs", "doctor", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "ok: all invariants hold\n")

	db, err := sql.Open(sqlite.DriverName, environment.Folder(dir).Database())
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE jobs SET finished_at = NULL WHERE id = (SELECT MIN(id) FROM jobs)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	r = postroomd(t, "jobs", "doctor", "--json", "--data", dir)
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stdout, "a job has finished exactly when it is completed, failed or canceled")
	require.Contains(t, r.stderr, "there are problems")
}

func TestBadInputIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	tmp := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(tmp, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	notMbox := write("letter.pdf", "%PDF-1.4 hello")
	badRegex := write("regex.yaml",
		"rules:\n  - name: a\n    condition: {type: subject_regex, value: '('}\n    action: archive\n")
	unknownKey := write("key.yaml", "rulez: []\n")
	noLabel := write("label.yaml",
		"rules:\n  - name: a\n    condition: {type: subject_contains, value: x}\n    action: apply_label\n")
	labelled := "rules:\n  - name: a\n    condition: {type: subject_contains, value: x}\n    action: apply_label\n    parameters: {label: %q}\n"
	sentLabel := write("sent.yaml", fmt.Sprintf(labelled, "SENT"))
	blankLabel := write("blank.yaml", fmt.Sprintf(labelled, "  "))
	full := filepath.Join(tmp, "full")
	require.NoError(t, os.Mkdir(full, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(full, "thesis.txt"), nil, 0o600))

	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"mbox that does not exist":   {[]string{"demo", "--mbox", filepath.Join(tmp, "none.mbox")}, []string{"none.mbox"}},
		"file that is no mailbox":    {[]string{"demo", "--mbox", notMbox}, []string{"letter.pdf", "From "}},
		"folder instead of a file":   {[]string{"demo", "--mbox", tmp}, []string{tmp}},
		"maildir without cur":        {[]string{"demo", "--maildir", tmp}, []string{"cur"}},
		"no eml files":               {[]string{"demo", "--eml", full}, []string{".eml"}},
		"rules that do not exist":    {[]string{"demo", "--rules", filepath.Join(tmp, "none.yaml")}, []string{"none.yaml"}},
		"bad regex":                  {[]string{"demo", "--rules", badRegex}, []string{"regex.yaml:3", "regex"}},
		"unknown key":                {[]string{"demo", "--rules", unknownKey}, []string{"key.yaml:1", "rulez", "rules"}},
		"label nobody may change":    {[]string{"rules", "check", sentLabel}, []string{"sent.yaml:", "SENT"}},
		"blank label":                {[]string{"rules", "check", blankLabel}, []string{"blank.yaml", "label"}},
		"action without parameter":   {[]string{"rules", "check", noLabel}, []string{"label.yaml:4", "label"}},
		"two mailboxes":              {[]string{"demo", "--mbox", notMbox, "--eml", tmp}, []string{"mbox", "eml"}},
		"unknown flag":               {[]string{"demo", "--frob"}, []string{"frob"}},
		"unknown command":            {[]string{"frob"}, []string{"frob", "postroomd --help"}},
		"misspelt command":           {[]string{"rulse"}, []string{"rulse", "did you mean rules?"}},
		"unknown command below":      {[]string{"jobs", "frob"}, []string{"frob", "postroomd jobs --help"}},
		"misspelt command below":     {[]string{"rules", "chek"}, []string{"did you mean check"}},
		"no data":                    {[]string{"actions"}, []string{"--data"}},
		"data that does not exist":   {[]string{"actions", "--data", filepath.Join(tmp, "none")}, []string{"none"}},
		"data of somebody else":      {[]string{"actions", "--data", full}, []string{full}},
		"demo into somebody's files": {[]string{"demo", "--data", full}, []string{full}},
		"undo without id":            {[]string{"undo"}, []string{"give an action's id", "--rule"}},
		"undo of one and of many":    {[]string{"undo", "01", "--all"}, []string{"not both"}},
		"undo until when":            {[]string{"undo", "--until", "soon"}, []string{"--until soon", "24h"}},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.args
			data := filepath.Join(t.TempDir(), "data")
			if args[0] == "demo" && name != "demo into somebody's files" {
				args = append(args, "--data", data)
			}
			r := postroomd(t, args...)
			require.Equal(t, exitUsage, r.status, r.stderr)
			require.Empty(t, r.stdout)
			for _, s := range c.says {
				require.Contains(t, r.stderr, s)
			}
			require.NoDirExists(t, data, "nothing is written")
		})
	}
}

func TestAFolderHoldsOneMailbox(t *testing.T) {
	tmp := t.TempDir()
	dir := filepath.Join(tmp, "data")
	mbox := filepath.Join(tmp, "my.mbox")
	require.NoError(t, os.WriteFile(mbox,
		[]byte("From a@example.com Thu Jan  1 00:00:00 2026\nSubject: one\nFrom: a@example.com\n\nhello\n"), 0o600))
	require.Equal(t, 1, demoJSON(t, "--data", dir, "--mbox", mbox).Messages)
	require.Equal(t, 1, demoJSON(t, "--data", dir).Messages, "the folder remembers its mailbox")

	r := postroomd(t, "demo", "--data", dir, "--eml", tmp)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, mbox)

	grown, err := os.OpenFile(mbox, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_,
		err = grown.WriteString(
		"\nFrom b@example.com Thu Jan  1 00:00:01 2026\nSubject: two\nFrom: b@example.com\n\nhello again\n")
	require.NoError(t, err)
	require.NoError(t, grown.Close())
	s := demoJSON(t, "--data", dir)
	require.Equal(t, 2, s.Messages)
	require.Equal(t, 1, s.New, "new mail arrives through the history")
}

func TestRulesCheck(t *testing.T) {
	r := postroomd(t, "rules", "check", "../config/rules.yaml")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "no faults")
	require.NotContains(t, r.stderr, "warning:", "the sample rules give none")
}

func TestOneWorksAtATime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	release, err := environment.Folder(dir).Lock(t.Context())
	require.NoError(t, err)
	r := postroomd(t, "demo", "--data", dir)
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stderr, "another postroomd")
	require.Equal(t, 0, postroomd(t, "actions", "--data", dir).status, "looking needs no lock")
	require.NoError(t, release())
}

// A person approved, and the process died before the action was done: asked again, it is done.
func TestApprovalThatWasInterruptedGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	id := idPattern.FindString(postroomd(t, "approvals", "list", "--json", "--data", dir).stdout)
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := h.Ledger.Approve(ctx, tx, id, "me")
		return err
	}))
	require.NoError(t, h.Close())
	r := postroomd(t, "approvals", "approve", id, "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "completed")
}

// What cannot be done is said, and not retried in vain.
func TestFailedActionsAreTold(t *testing.T) {
	tmp := t.TempDir()
	dir, rules := filepath.Join(tmp, "data"), filepath.Join(tmp, "rules.yaml")
	require.NoError(t, os.WriteFile(rules,
		[]byte("rules:\n  - name: all\n    condition: {type: subject_regex, value: .}\n"+
			"    action: apply_label\n    parameters: {label: Label_999}\n"), 0o600))
	s := demoJSON(t, "--data", dir, "--rules", rules)
	require.Positive(t, s.Failed)
	require.Equal(t, s.Failed, s.Actions["apply_label"])
	r := postroomd(t, "demo", "--data", dir, "--rules", rules)
	require.Contains(t, r.stdout, "actions failed; to see why")
	r = postroomd(t, "actions", "--data", dir, "--state", "failed", "--json", "--limit", "1")
	require.Contains(t, r.stdout, "Label_999")
}

// The store knows who has written before.
func TestRulesMayAskForTheSender(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(rules,
		[]byte("rules:\n  - name: new\n    condition: {op: not, children: [{type: sender_seen}]}\n    action: star\n"),
		0o600))
	dir := filepath.Join(t.TempDir(), "data")
	s := demoJSON(t, "--data", dir, "--rules", rules)
	require.Positive(t, s.Rules["new"], "a rule that cannot be asked is disabled")
	require.Zero(t, s.Failed)

	var listed struct{ Messages []struct{ ID string } }
	r := postroomd(t, "mail", "list", "--data", dir, "--json", "--limit", "1")
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &listed), r.stdout)
	require.Len(t, listed.Messages, 1)
	r = postroomd(t, "explain", listed.Messages[0].ID, "--data", dir, "--json")
	require.Equal(t, 0, r.status, r.stderr)
	require.NotContains(t, r.stdout, "needs a record of senders")
	r = postroomd(t, "rules", "apply", "--yes", "--data", dir, "--rule", "new", "--dry-run", "--json")
	require.Equal(t, 0, r.status, r.stderr)
	var applied struct{ Matched int }
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &applied), r.stdout)
	require.Positive(t, applied.Matched)
	require.LessOrEqual(t, applied.Matched, s.Rules["new"], "while older mail was still coming, more senders were new")
}

// A download that broke off is a fault that scripts see, and the whole messages before it are kept.
func TestMailboxThatIsCutShortIsTold(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	for i := range 300 {
		_, err := fmt.Fprintf(w, "From a@example.com Thu Jan  1 00:00:00 2026\nSubject: %d\nFrom: a@example.com\n\n%x\n\n",
			i, sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	write := func(name string, content []byte) string {
		path := filepath.Join(tmp, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	cut := demoJSON(t, "--data", filepath.Join(tmp, "cut"), "--mbox", write("cut.gz", packed.Bytes()[:packed.Len()/2]))
	require.NotEmpty(t, cut.Broken)
	require.Contains(t, cut.Broken[0].Reason, "cut short")
	require.Greater(t, cut.Messages, 75)

	padded := demoJSON(t, "--data", filepath.Join(tmp, "padded"), "--mbox",
		write("padded.gz", append(packed.Bytes(), make([]byte, 512)...)))
	require.Empty(t, padded.Broken)
	require.Equal(t, 300, padded.Messages)
}

// The id of an action, as 'actions' lists it, explains the message that it is of.
func TestAnActionIsExplainedByItsMessage(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	for _, a := range m.actions() {
		for _, id := range []string{a.ID, a.ID[:len(a.ID)-1]} {
			var x view.Explanation
			r := m.postroomd("explain", id, "--json")
			require.Equal(t, 0, r.status, r.stderr)
			require.NoError(t, json.Unmarshal([]byte(r.stdout), &x), r.stdout)
			require.Equal(t, a.Subject, x.Message.Subject)
			require.Equal(t, a.ID, x.Decisions[0].Actions[0].ID)
			require.Contains(t, r.stderr, "action "+a.ID+" is of message "+x.Message.ID)
		}
	}
	r := m.postroomd("explain", "01")
	require.Equal(t, exitUsage, r.status, r.stdout)
	require.Contains(t, r.stderr, "'postroomd actions' lists the actions", "it is the beginning of several ids")
	r = m.postroomd("explain", "oolong")
	require.Equal(t, exitUsage, r.status, r.stdout)
	require.Contains(t, r.stderr, "has no message oolong, and no action of its messages has that id")
	r = m.postroomd("explain", m.actions()[0].ID, "--mailbox", "nobody@example.com")
	require.Equal(t, exitUsage, r.status, r.stdout)
	require.Contains(t, r.stderr, "there is no mailbox nobody@example.com here")
}
