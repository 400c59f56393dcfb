package rulesfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func TestFormat(t *testing.T) {
	paths, err := filepath.Glob("testdata/format/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			rulestest.Golden(t, strings.TrimSuffix(path, ".yaml")+".golden", rulestest.Formatted(t, string(data)))
		})
	}
}

func TestFormatLeavesTheSampleAsItIs(t *testing.T) {
	data, err := os.ReadFile("../../examples/postroomd/config/rules.yaml")
	require.NoError(t, err)
	require.Equal(t, string(data), rulestest.Formatted(t, string(data)))
}

func TestFormatRefusesWhatItWouldNotKeep(t *testing.T) {
	for text, want := range map[string]string{
		"rules: [":                   "rules.yaml:1:8: bad YAML",
		"a: &x 1\nb: *x":             "anchors, aliases and tags are not supported",
		"a: !!str 1":                 "anchors, aliases and tags are not supported",
		"a: 1\n---\nb: 2":            "second document",
		"":                           "the file is empty",
		"1: b":                       "a key of a mapping is not text",
		"a: \xff":                    "not UTF-8",
		strings.Repeat("x", 2<<20):   "larger than",
		strings.Repeat("[", 200):     "nested too deeply",
		"rules:\n\t- {name: tabbed}": "a tab where blanks belong",
	} {
		_, err := rulesfile.Format("rules.yaml", []byte(text))
		require.ErrorContains(t, err, want)
	}
}

// commented is a file whose lines take comments anywhere.
var commented = strings.Split(`labels: [One, "Two: 2"]
matching: first
rules:
- name: first
  condition:
    op: or
    children:
    - {type: subject_contains, value: "a # b"}
    - type: address
      fields: [from, reply_to]
      values:
      - a@a.example
      - b@b.example
  actions:
  - action: star
  - {action: apply_label, parameters: {label: One}}
- condition: {type: has_attachment}
  action: archive
  schedule: {
    weekdays: [
      mon,
      tue
    ]
  }
  name: second
  description: "several words"`, "\n")

// Wherever comments stand, the formatted file has them all, says the same, and is its own canonical form.
func TestFormatKeepsRulesAndComments(t *testing.T) {
	want, err := rulesfile.Parse("rules.yaml", strings.NewReader(strings.Join(commented, "\n")))
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		lines := slices.Clone(commented)
		notes := rapid.IntRange(0, 6).Draw(t, "comments")
		for i := range notes {
			note := "# note " + string(rune('a'+i))
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch rapid.IntRange(0, 2).Draw(t, "place") {
			case 0:
				if !strings.Contains(lines[at], "# note") {
					lines[at] += " " + note
					continue
				}
				fallthrough
			case 1:
				indent := strings.Repeat(" ", rapid.IntRange(0, 10).Draw(t, "indent"))
				lines = slices.Insert(lines, at, indent+note)
			default:
				lines = slices.Insert(lines, at, "", note, "")
			}
		}
		out := rulestest.Formatted(t, strings.Join(lines, "\n"))
		require.Equal(t, notes, strings.Count(out, "# note"))
		got, err := rulesfile.Parse("rules.yaml", strings.NewReader(out))
		require.NoError(t, err)
		got.Source = want.Source
		require.Equal(t, want, got)
	})
}

// anyYAMLText draws texts that YAML would read otherwise if they were written carelessly.
func anyYAMLText() *rapid.Generator[string] {
	parts := []string{
		"a", "B", "1", "0", "-", "#", ":", " ", "'", `"`, `\`, ",", "[", "]", "{", "}", "?", "*", "&", "!", "|", ">", "%", "@", "`", "~", "=", "<", ".", "_",
		"\n", "\t", "\u00a0", "\u202e", "\u2028", "\ufeff", "日", "😀", "null", "no", "1e3", "2026-01-31", "...", "---",
	}
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12), func(list []string) string {
		return strings.Join(list, "")
	})
}

// Whatever a rule says, its file says.
func TestMarshalledRulesAreReadAsTheyWere(t *testing.T) {
	text := anyYAMLText()
	something := text.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	rapid.Check(t, func(t *rapid.T) {
		condition := rules.AnyOf(rulestest.AnyCondition(3).Draw(t, "condition"),
			rulestest.Predicate(rules.Subject, something.Draw(t, "subject")),
			rules.Condition{Type: rules.Body, Values: []string{something.Draw(t, "one"), something.Draw(t, "other")}})
		name := strings.NewReplacer("\n", "", "\t", "").Replace(something.Draw(t, "name"))
		rule := rules.NewRule(name+".", condition, postroom.Trash, postroom.Parameters{
			something.Draw(t, "key"): text.Draw(t, "parameter"),
			"list":                   []any{text.Draw(t, "entry"), 1.5, true, nil, map[string]any{"in": text.Draw(t, "inner")}},
		})
		rule.Description = text.Draw(t, "description") + strings.Repeat(" word", rapid.IntRange(0, 40).Draw(t, "words"))
		rule.Enabled, rule.Continue = rapid.Bool().Draw(t, "enabled"), rapid.Bool().Draw(t, "continue")
		rule.Priority = rapid.IntRange(-5, 200).Draw(t, "priority")
		if rapid.Bool().Draw(t, "more") {
			rule.Also = []rules.RuleAction{{Type: postroom.Star, Parameters: postroom.Parameters{}}}
			rule.Schedule = rules.Schedule{From: "2026-01-31", Times: []string{"22:00-06:00"}, Weekdays: []string{"mon"},
				Zone: "Europe/Berlin"}
			rule.Scope, rule.ScopeRef, rule.Authentication, rule.SafeMode = rules.ScopeDomain, "a.example",
				rules.AuthenticationRequired, postroom.SafeAlwaysSafe
		}
		want := &rulesfile.File{Labels: []string{"One", "no", "1_0"}, Rules: []rules.Rule{rule}}
		out := string(rulesfile.Marshal(want))
		require.Equal(t, out, rulestest.Formatted(t, out))
		got, err := rulesfile.Parse("rules.yaml", strings.NewReader(out))
		require.NoError(t, err, "%s", out)
		want.Rules[0].Position = 1
		if len(want.Rules[0].Also) > 0 {
			got.Rules[0].Also[0].Parameters = postroom.Parameters{}
		}
		require.Equal(t, want.Labels, got.Labels)
		require.Equal(t, want.Rules, got.Rules, "%s", out)
	})
}

func FuzzFormat(f *testing.F) {
	f.Add(strings.Join(commented, "\n"))
	for _, name := range []string{"comments", "places"} {
		data, err := os.ReadFile("testdata/format/" + name + ".yaml")
		require.NoError(f, err)
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if out, err := rulesfile.Format("rules.yaml", []byte(text)); err == nil {
			again, err := rulesfile.Format("rules.yaml", out)
			require.NoError(t, err, "%s", out)
			require.Equal(t, string(out), string(again))
		}
	})
}
