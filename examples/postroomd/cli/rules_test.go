package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func writeFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

const untidy = "rules:\n- condition: {type: starred}   # mine\n  action: archive\n  name: 'one'\n"

func TestRulesAreFormatted(t *testing.T) {
	path := writeFile(t, "rules.yaml", untidy)
	r := postroomd(t, "rules", "fmt", "--check", path)
	require.Equal(t, exitFailed, r.status)
	require.Equal(t, path+"\n", r.stdout)
	require.Contains(t, r.stderr, "1 of 1 file is not in canonical form")

	r = postroomd(t, "rules", "fmt", path)
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, path+"\n", r.stdout)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "rules:\n  - name: one\n    condition: {type: starred}  # mine\n    action: archive\n", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left beside the file")

	r = postroomd(t, "rules", "fmt", "--check", path)
	require.Equal(t, 0, r.status, r.stderr)
	require.Empty(t, r.stdout)

	broken := writeFile(t, "broken.yaml", "rules: [")
	for _, args := range [][]string{{broken}, {path + ".none"}} {
		r = postroomd(t, append([]string{"rules", "fmt"}, args...)...)
		require.Equal(t, exitUsage, r.status, r.stderr)
	}
}

func TestTheSchemaOfRulesIsPrinted(t *testing.T) {
	r := postroomd(t, "rules", "schema")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, string(rulesfile.Schema(environment.Kinds)), r.stdout)
}

func TestRulesAreTested(t *testing.T) {
	r := postroomd(t, "rules", "test", "../config/rules.yaml")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "5 passed, 0 failed\n")

	path := writeFile(t, "rules.yaml", "rules: [{name: one, condition: {type: starred}, action: archive}]")
	r = postroomd(t, "rules", "test", path)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "rules.tests.yaml")

	beside := filepath.Join(filepath.Dir(path), "rules.tests.yaml")
	require.NoError(t, os.WriteFile(beside,
		[]byte("tests: [{name: unstarred, message: {subject: x}, actions: [archive]}]"), 0o600))
	r = postroomd(t, "rules", "test", path)
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stdout, "FAIL  unstarred")
	require.Contains(t, r.stdout, "expected archive, got nothing")
	require.Contains(t, r.stdout, "'one' no match: it fails: starred")
	require.Contains(t, r.stdout, "0 passed, 1 failed\n")
	require.Contains(t, r.stderr, "1 of 1 test failed")

	r = postroomd(t, "rules", "test", "--json", path)
	require.Equal(t, exitFailed, r.status)
	var v view.RuleTests
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
	require.Equal(t, 1, v.Failed)
	require.Equal(t, "unstarred", v.Tests[0].Name)
	require.NotEmpty(t, v.Tests[0].Reasons)

	r = postroomd(t, "rules", "test", path, "--tests", path+".none")
	require.Equal(t, exitUsage, r.status)
}

func TestRulesAreTriedOnMailThatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	before := postroomd(t, "actions", "--data", dir, "--json")

	r := postroomd(t, "rules", "backtest", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "  (move Newsletters)\n")
	require.Contains(t, r.stdout, "nothing was changed")

	other := writeFile(t, "other.yaml",
		"labels: [Mine]\nrules:\n- name: Newsletters\n  condition: {type: header_present, header: List-Unsubscribe}\n  action: move\n  parameters: {label: Mine}\n")
	page := filepath.Join(t.TempDir(), "report.html")
	r = postroomd(t, "rules", "backtest", other, "--data", dir, "--json", "--samples", "2", "--html", page)
	require.Equal(t, 0, r.status, r.stderr)
	var report backtest.Report
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &report), r.stdout)
	require.Positive(t, report.Matched)
	require.Greater(t, report.MatchedBefore, report.Matched)
	require.NotEmpty(t, report.Changes)
	require.Len(t, report.Rules[0].Samples, 2)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "move Mine")

	narrow := postroomd(t, "rules", "backtest", other, "--data", dir, "--json", "--since", "1h")
	require.Equal(t, 0, narrow.status, narrow.stderr)
	require.NoError(t, json.Unmarshal([]byte(narrow.stdout), &report))
	require.Zero(t, report.Messages)
	require.Equal(t, before.stdout, postroomd(t, "actions", "--data", dir, "--json").stdout, "nothing was done")
}

func TestRulesAreTriedOnMailFromElsewhere(t *testing.T) {
	path := writeFile(t, "rules.yaml",
		"labels: [Mine]\nrules:\n- name: one\n  condition: {op: and, children: [{type: label_present, value: Mine}, {type: category, value: social}]}\n  action: star\n")
	mbox := writeFile(t, "mail.mbox",
		"From x Sat Jan 31 08:00:00 2026\nX-Gmail-Labels: Inbox,Mine,Category Social\nSubject: hello\n\nx\n\nFrom x Sun Feb  1 08:00:00 2026\nX-Gmail-Labels: Mine\nSubject: other\n\nx\n")
	r := postroomd(t, "rules", "backtest", path, "--mbox", mbox)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "2 messages of 2026-01-31 to 2026-02-01, 1 matched (50.0 %)")
	require.NotContains(t, r.stdout, "What would change")
	r = postroomd(t, "rules", "backtest", path, "--mbox", mbox, "--against", "../config/rules.yaml")
	require.Contains(t, r.stdout, "What would change: 1 message\n")

	for says, args := range map[string][]string{
		"name the rules file":   {"--mbox", mbox},
		"--samples is 101":      {path, "--samples", "101"},
		"--since soon":          {path, "--since", "soon"},
		"no mail is in between": {path, "--since", "1d", "--until", "2d"},
		"one run takes one":     {path, "--mbox", mbox, "--eml", "."},
		"nothing is kept":       {path, "--data", t.TempDir()},
		"other.mbox":            {path, "--mbox", "other.mbox"},
		"no such file":          {"none.yaml", "--mbox", mbox},
	} {
		r := postroomd(t, append([]string{"rules", "backtest"}, args...)...)
		require.Equal(t, exitUsage, r.status, "%s: %s", says, r.stderr)
		require.Contains(t, r.stderr, says)
	}
}

// imagesOf are the labels of all mail, by message.
func imagesOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	images := map[string][]string{}
	for _, m := range mailJSON(t, "--data", dir, "--spam-trash", "--limit", "500").Messages {
		images[m.ID] = m.Labels
	}
	return images
}

func TestRulesAreDoneToMailThatIsThereAndTakenBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	none := writeFile(t, "none.yaml", "rules: []")
	demoJSON(t, "--data", dir, "--rules", none)
	before := imagesOf(t, dir)
	some := writeFile(t, "some.yaml",
		"labels: [Later]\nrules:\n- name: news\n  condition: {type: header_present, header: List-Unsubscribe}\n  action: move\n  parameters: {label: Later}\n- name: gone\n  condition: {type: subject_contains, value: order}\n  action: delete\n")
	demoJSON(t, "--data", dir, "--rules", some)
	require.Equal(t, before, imagesOf(t, dir), "rules decide about mail that arrives")

	apply := func(args ...string) (v view.Applied) {
		t.Helper()
		r := postroomd(t, append([]string{"rules", "apply", "--yes", "--json", "--data", dir}, args...)...)
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
		return v
	}
	dry := apply("--dry-run")
	require.Positive(t, dry.Actions["move"])
	require.Positive(t, dry.Actions["delete"])
	require.Equal(t, before, imagesOf(t, dir), "a dry run does nothing")

	done := apply("--batch", "first")
	require.Equal(t, dry.Actions, done.Actions)
	require.Equal(t, done.Actions["delete"], done.Waiting, "what is dangerous waits")
	require.True(t, done.Finished)
	after := imagesOf(t, dir)
	require.Len(t, after, len(before), "nothing is deleted")
	moved := 0
	for id, labels := range after {
		if slices.Contains(labels, "Later") {
			moved++
			require.NotContains(t, labels, "INBOX")
		} else {
			require.Equal(t, before[id], labels)
		}
	}
	require.Equal(t, done.Actions["move"], moved)
	require.Zero(t, apply("--rule", "news").Actions["move"], "what is so already is left alone")

	r := postroomd(t, "undo", "--data", dir, "--batch", "second", "--dry-run")
	require.Equal(t, exitUsage, r.status)
	require.Equal(t,
		"postroomd: --batch second: no 'postroomd rules apply' or 'mail act' has done anything by this name; the latest are first\n",
		r.stderr)
	r = postroomd(t, "undo", "--data", dir, "--batch", "first", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, fmt.Sprintf("%d actions taken back, 0 not", moved))
	require.Equal(t, before, imagesOf(t, dir), "all is as it was")

	r = postroomd(t, "rules", "apply", "--yes", "--data", dir, "--rule", "none")
	require.Equal(t, exitUsage, r.status, r.stderr)
	require.Equal(t, "postroomd: --rule none: no rule has this name; did you mean gone?\n", r.stderr)
	r = postroomd(t, "rules", "apply", "--yes", "--data", dir, "--rule", "news")
	require.Contains(t, r.stdout, fmt.Sprintf("left alone  %d actions", moved), "what was undone is not done again")
	r = postroomd(t, "rules", "apply", "--yes", "--data", dir, "--rule", "news", "--again")
	require.Contains(t, r.stdout, "takes it back")
}

func TestFiltersOfOthersBecomeRulesAndBack(t *testing.T) {
	sieve := writeFile(t, "script.sieve", "if header :is \"X\" \"y\" { fileinto \"Z\"; }\nvacation \"away\";\n")
	r := postroomd(t, "rules", "import", "sieve", sieve)
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, "line 2: left out: the command vacation\n", r.stderr)
	made := writeFile(t, "rules.yaml", r.stdout)
	r = postroomd(t, "rules", "check", made)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "1 rule, no faults")

	r = postroomd(t, "rules", "export", "gmail", "../config/rules.yaml")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "Junk: left out: ")
	filters := writeFile(t, "mailFilters.xml", r.stdout)
	r = postroomd(t, "rules", "import", "gmail", filters)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "{label: Large}")

	for says, args := range map[string][]string{
		"line 1: ":          {"import", "sieve", writeFile(t, "bad.sieve", "keep")},
		"neither an export": {"import", "gmail", sieve},
		"no such file":      {"import", "gmail", "none.xml"},
	} {
		r := postroomd(t, append([]string{"rules"}, args...)...)
		require.Equal(t, exitUsage, r.status, r.stderr)
		require.Contains(t, r.stderr, says)
	}
}

// What could never be done is a fault where rules are checked, with its line.
func TestRulesCheckFindsWhatCannotBeDone(t *testing.T) {
	for written, says := range map[string]string{
		"{action: forward, parameters: {to: bob}}":                                            `action forward needs as the parameter "to" an address such as name@example.com, or a list of addresses, not "bob"`,
		"{action: forward, parameters: {to: [bob@example.com, x]}}":                           `not "x"`,
		`{action: forward, parameters: {to: "a@b.c\r\nBcc: x@y.z"}}`:                          `not "a@b.c\r\nBcc: x@y.z"`,
		"{action: auto_reply, parameters: {to: nobody, body: Hi.}}":                           `not "nobody"`,
		"{action: snooze, parameters: {until: 2020-01-01T00:00:00Z}}":                         "action snooze: 2020-01-01T00:00:00Z is not in the future",
		"{action: snooze, parameters: {until: 2099-01-01T00:00:00Z}}":                         "action snooze: 2099-01-01T00:00:00Z is more than 365 days ahead",
		"{action: snooze, parameters: {amount: 366, units: days}}":                            "366 days is not a time within 1 minute and 365 days",
		"{action: snooze, parameters: {until: 2020-01-01T00:00:00Z, amount: 3, units: days}}": `one of "when", "until", and "amount" with "units"`,
	} {
		path := writeFile(t, "rules.yaml", "rules:\n  - name: one\n    condition: {type: starred}\n    actions:\n      - "+
			written+"\n")
		r := postroomd(t, "rules", "check", path)
		require.Equal(t, exitUsage, r.status, written)
		require.Contains(t, r.stderr, path+":5:", written)
		require.Contains(t, r.stderr, says)
	}
}
