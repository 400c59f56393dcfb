package rulesfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// supported is what the host of these tests can execute.
var supported = rulesfile.WithKinds(func() *postroom.Kinds {
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Without: []postroom.ActionType{
		postroom.MarkRead, postroom.MarkUnread, postroom.RemoveLabel, postroom.Restore, postroom.Snooze, postroom.Trash,
		postroom.Unstar,
	}})
	if err != nil {
		panic(err)
	}
	return kinds
}())

func TestFaultyFilesSayWhatIsWrongAndWhere(t *testing.T) {
	paths, err := filepath.Glob("testdata/invalid/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()

			parsed, err := rulesfile.Parse(filepath.Base(path), file, supported)
			require.Nil(t, parsed)
			var faulty *rulesfile.FileError
			require.ErrorAs(t, err, &faulty)
			require.NotEmpty(t, faulty.Problems)
			for i := range faulty.Problems[1:] {
				require.LessOrEqual(t, faulty.Problems[i].Line, faulty.Problems[i+1].Line)
			}
			rulestest.Golden(t, strings.TrimSuffix(path, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}

func TestWarningsPointAtWhatIsProbablyNotMeant(t *testing.T) {
	paths, err := filepath.Glob("testdata/warnings/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := rulesfile.ParseFile(path, supported)
			require.NoError(t, err)
			var text strings.Builder
			for _, w := range file.Warnings {
				w.File = filepath.Base(w.File)
				text.WriteString(w.String() + "\n")
			}
			rulestest.Golden(t, strings.TrimSuffix(path, ".yaml")+".golden", text.String())
		})
	}
}

func TestNotesSayWhatIsDecidedOnce(t *testing.T) {
	const text = `rules:
  - name: ages
    condition:
      op: or
      children:
        - {type: newer_than, value: 2d}
        - {type: now, part: weekday, value: "1"}
        - {op: not, children: [{type: older_than, value: 3d}]}
        - {type: older_than, value: 4d}
        - {type: thread_quiet, value: 5d}
        - {type: i_answered}
    action: archive
`
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
	notes := make([]string, len(file.Notes))
	for i, n := range file.Notes {
		notes[i] = fmt.Sprintf("%d: %s", n.Line, n.Message)
	}
	require.Equal(t, []string{
		"6: newer_than is decided when the message arrives, and not again later",
		"7: now is decided when the message arrives, and not again later",
		"8: not older_than is decided when the message arrives, and not again later",
		"9: messages are asked about again when they are older than 4d",
		"10: the messages of a thread are asked about again when this is longer ago than 5d",
		"11: i_answered is decided when the message arrives, and again only with older_than, thread_quiet or since_i_wrote " +
			"in the rule",
	}, notes)
}

const whole = `
labels: [Receipts, "Work/2026"]
rules:
  - name: everything said
    description: |
      Two lines
      of it.
    enabled: false
    scope: sender
    scope_ref: Amy@Example.com
    priority: -5
    condition:
      op: and
      children:
        - {type: header_match, header: List-Id, pattern: 'a: \d'}
        - op: not
          children:
            - type: subject_contains
              value: "2026"
    action: apply_label
    parameters: {label: Receipts}
    safe_mode: always_safe
  - name: only what is needed
    condition: {type: has_attachment}
    action: archive
`

func TestParseReadsAllThatARuleCanSay(t *testing.T) {
	file, err := rulesfile.Parse("whole.yaml", strings.NewReader(whole))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
	require.Equal(t, []string{"Receipts", "Work/2026"}, file.Labels)

	said := rules.NewRule("everything said", rules.AllOf(
		rulestest.Header("List-Id", `a: \d`),
		rules.NoneOf(rulestest.Predicate(rules.SubjectContains, "2026")),
	), postroom.ApplyLabel, postroom.Parameters{"label": "Receipts"})
	said.Description = "Two lines\nof it."
	said.Enabled = false
	said.Scope, said.ScopeRef = rules.ScopeSender, "amy@example.com"
	said.Priority, said.Position = -5, 1
	said.SafeMode = postroom.SafeAlwaysSafe

	needed := rules.NewRule("only what is needed", rulestest.Predicate(rules.HasAttachment, ""), postroom.Archive,
		postroom.Parameters{})
	needed.Position = 2
	require.Equal(t, []rules.Rule{said, needed}, file.Rules)
}

func TestParametersAreWhatJSONWouldMakeOfThem(t *testing.T) {
	file, err := rulesfile.Parse("p.yaml", strings.NewReader(`
rules:
  - name: r
    condition: {type: has_attachment}
    action: snooze
    parameters:
      amount: 3
      factor: 0.5
      units: days
      flags: [true, null, "x"]
      more: {deep: text}
`))
	require.NoError(t, err)
	require.Equal(t, postroom.Parameters{
		"amount": 3.0, "factor": 0.5, "units": "days", "flags": []any{true, nil, "x"}, "more": map[string]any{"deep": "text"},
	}, file.Rules[0].Parameters)
}

func TestParseFileNamesAFileThatCannotBeRead(t *testing.T) {
	_, err := rulesfile.ParseFile(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "none.yaml")

	_, err = rulesfile.Parse("half.yaml", iotest.ErrReader(os.ErrClosed))
	require.ErrorIs(t, err, os.ErrClosed)
	require.ErrorContains(t, err, "half.yaml")
}

func TestParseBoundsTheFile(t *testing.T) {
	_, err := rulesfile.Parse("big.yaml", strings.NewReader("rules: # "+strings.Repeat("x", 2<<20)))
	require.ErrorContains(t, err, "big.yaml: the file is larger than 1048576 bytes; split it")

	_, err = rulesfile.Parse("big.yaml", strings.NewReader(whole+strings.Repeat("\r\n", 600_000)+"and this is cut off"))
	require.ErrorContains(t, err, "larger than", "line ends count as they are in the file")

	for name, text := range map[string]string{
		"brackets": "rules: " + strings.Repeat("[", 100_000),
		"braces":   "rules: " + strings.Repeat("{a: ", 100_000),
		"pairs":    "rules: " + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
		"dashes":   strings.Repeat("- ", 100_000),
		"lines":    "rules: " + strings.Repeat("[\n", 100_000),
	} {
		_, err := rulesfile.Parse(name, strings.NewReader(text))
		require.ErrorContains(t, err, "nested too deeply", name)
	}
	_, err = rulesfile.Parse("r.yaml",
		strings.NewReader("rules:\n"+strings.Repeat(
			"  - {name: a, condition: {type: subject_regex, value: '^\\['}, action: archive}\n", 200)))
	require.NotContains(t, err.Error(), "nested too deeply", "brackets in quotes are text")
}

func TestResolveLabelsPutsIdsInThePlaceOfNames(t *testing.T) {
	file, err := rulesfile.Parse("l.yaml", strings.NewReader(`
labels: [Receipts]
rules:
  - name: r
    condition:
      op: or
      children:
        - {type: label_present, value: receipts}
        - {type: label_present, value: INBOX}
        - {type: subject_contains, value: receipts}
    action: archive
`))
	require.NoError(t, err)
	before := file.Rules[0].Condition
	file.ResolveLabels(func(name string) (string, bool) { return "Label_7", strings.EqualFold(name, "Receipts") })
	require.Equal(t, rules.AnyOf(rulestest.OnLabel("Label_7"), rulestest.OnLabel("INBOX"),
		rulestest.Predicate(rules.SubjectContains, "receipts")), file.Rules[0].Condition)
	require.Equal(t, "receipts", before.Children[0].Value, "a condition that was taken before stays as it was")
}

// Whatever a file holds, reading it ends, and either every rule of it is valid or each fault has a place in it.
func FuzzParse(f *testing.F) {
	for _, glob := range []string{"testdata/*/*.yaml", "../../examples/postroomd/config/rules.yaml"} {
		paths, err := filepath.Glob(glob)
		require.NoError(f, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(string(text))
		}
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, text string) {
		file, err := rulesfile.Parse("fuzz.yaml", strings.NewReader(text))
		if err == nil {
			for _, r := range file.Rules {
				require.NoError(t, r.Validate(nil))
			}
			return
		}
		var faulty *rulesfile.FileError
		require.ErrorAs(t, err, &faulty)
		require.NotEmpty(t, faulty.Problems)
		lines := strings.Count(text, "\n") + 1
		for _, p := range faulty.Problems {
			require.LessOrEqual(t, p.Line, lines)
			require.NotEmpty(t, p.Message)
			require.NotEmpty(t, p.String())
		}
	})
}

// TestAFileNamesOnlyWhatIsCarriedOut: an action that nobody carries out is an error of the file, unless the host says
// that it does.
func TestAFileNamesOnlyWhatIsCarriedOut(t *testing.T) {
	parse := func(action postroom.ActionType, options ...rulesfile.ParseOption) error {
		text := fmt.Sprintf("rules:\n  - name: r\n    condition: {type: sender_domain, value: example.com}\n    action: %s\n"+
			"    parameters: {label: x, amount: 3, units: days, reason: odd}\n", action)
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(text), options...)
		return err
	}
	_, err := rulesfile.Parse("r.yaml", nil)
	require.EqualError(t, err, "rules: Parse: r is nil; it is required: give the text of the file")
	var builtin *postroom.Kinds
	for _, action := range builtin.Types() {
		require.NoError(t, parse(action, rulesfile.ParseOption{}))
	}
	require.ErrorContains(t, parse(postroom.Escalate), "r.yaml:4:13: action escalate is not carried out here")

	escalate, _ := postroom.StandardKind(postroom.Escalate)
	escalate.Job, escalate.Danger = "escalate.pager", postroom.Dangerous
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{escalate},
		Without: []postroom.ActionType{postroom.Trash}})
	require.NoError(t, err)
	require.NoError(t, parse(postroom.Escalate, rulesfile.WithKinds(kinds)))
	require.ErrorContains(t, parse(postroom.Trash, rulesfile.WithKinds(kinds)), "action trash is not carried out here")
}
