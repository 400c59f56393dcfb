package rulesfile_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const beforeRevision = `# About my rules.

labels: [Tea] # what there is

rules:
  # The first.
  - name: Tea
    # within it
    condition: {type: subject_contains, value: tea}
    action: archive # behind it

  # The second.
  - name: Coffee
    condition: {type: subject_contains, value: coffee}
    action: star

  # The third.
  - name: Milk
    condition: {type: subject_contains, value: milk}
    action: mark_read
tests:
  - name: coffee is starred
    message: {subject: coffee}
    actions: [star]
`

func parsed(t require.TestingT, text string) *rulesfile.File {
	f, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err, "%s", text)
	return f
}

func labelRule(name, label string) rules.Rule {
	return rules.NewRule(name, rules.Condition{Type: rules.SubjectContains, Value: strings.ToLower(name)},
		postroom.ApplyLabel,
		postroom.Parameters{postroom.ParamLabel: label})
}

func TestReviseKeepsWhatIsNotChanged(t *testing.T) {
	f, err := parsed(t, beforeRevision).Revise(rulesfile.Revision{
		Remove: []string{"Milk"}, Rules: []rules.Rule{labelRule("Tea", "Tea"), labelRule("Water", "Drinks")},
		Labels: []string{"tea", "Drinks"},
	})
	require.NoError(t, err)
	rulestest.Golden(t, "testdata/revised.golden", f.Source)
	require.Equal(t, []string{"Tea", "Drinks"}, f.Labels)
	require.Len(t, f.Tests, 1)
}

func TestReviseAFileInWhichAllRulesAreTried(t *testing.T) {
	goesOn, stops := labelRule("On", "Tea"), labelRule("Stop", "Tea")
	goesOn.Continue = true
	f, err := parsed(t, "matching: all\n"+beforeRevision).Revise(rulesfile.Revision{Rules: []rules.Rule{goesOn, stops}})
	require.NoError(t, err)
	require.True(t, f.Rules[3].Continue)
	require.False(t, f.Rules[4].Continue)
	require.Equal(t, 1, strings.Count(f.Source, "stop:"), f.Source)
}

func TestReviseRefuses(t *testing.T) {
	f := parsed(t, beforeRevision)
	_, err := f.Revise(rulesfile.Revision{Remove: []string{"Juice"}})
	require.ErrorContains(t, err, `rules.yaml: there is no rule "Juice" to remove`)
	_,
		err = f.Revise(rulesfile.Revision{Rules: []rules.Rule{rules.NewRule("Empty", rules.Condition{},
		postroom.Archive, nil)}})
	var faults *rulesfile.FileError
	require.ErrorAs(t, err, &faults)
	_, err = (*rulesfile.File)(nil).Revise(rulesfile.Revision{})
	require.ErrorContains(t, err, "rules: Revise: f")
	_, err = (&rulesfile.File{Name: "x", Source: "rules: ["}).Revise(rulesfile.Revision{})
	require.ErrorAs(t, err, &faults)
}

// A rule goes on to read its values from a file while its condition stays; otherwise it is said that it does not.
func TestReviseSaysWhichFileIsNotReadAnyMore(t *testing.T) {
	files := rulesfile.WithFiles(fstest.MapFS{"teas.txt": {Data: []byte("oolong\nsencha\n")}})
	const text = `rules:
  - name: Tea
    condition: {type: subject_contains, values_from: teas.txt} # all of them
    action: archive
`
	f, err := rulesfile.Parse("rules.yaml", strings.NewReader(text), files)
	require.NoError(t, err)
	rule := f.Rules[0]
	rule.Action = postroom.Star
	f, err = f.Revise(rulesfile.Revision{Rules: []rules.Rule{rule}}, files)
	require.NoError(t, err)
	require.Empty(t, f.Warnings)
	require.Contains(t, f.Source, "values_from: teas.txt")
	require.Equal(t, 1, strings.Count(f.Source, "# all of them"), f.Source)
	require.Contains(t, f.Source, "action: star")

	rule.Condition = rules.AllOf(rule.Condition, rules.Condition{Type: rules.Starred})
	f, err = f.Revise(rulesfile.Revision{Rules: []rules.Rule{rule}}, files)
	require.NoError(t, err)
	f, err = f.Revise(rulesfile.Revision{Labels: []string{"Tea"}}, files)
	require.NoError(t, err)
	require.NotContains(t, f.Source, "values_from")
	require.Equal(t, 1, strings.Count(f.Source, "# all of them"), f.Source)
	require.Len(t, f.Warnings, 1)
	require.Contains(t, f.Warnings[0].String(), `rules.yaml: the rule "Tea" takes values from a file`)
}

// What stands at the top stays there.
func TestReviseKeepsTheFirstCommentFirst(t *testing.T) {
	f, err := parsed(t, "# Mine.\nrules: # all\n  - {name: Tea, condition: {type: starred}, action: archive}\n").
		Revise(rulesfile.Revision{Labels: []string{"Tea"}})
	require.NoError(t, err)
	require.Equal(t,
		"# Mine.\n\nlabels:\n  - Tea\n\nrules:  # all\n  - name: Tea\n    condition: {type: starred}\n    action: archive\n", f.Source)
}

// A file without text, as one that is made of stored rules, is revised as the text that Marshal makes of it.
func TestReviseAFileWithoutText(t *testing.T) {
	f, err := (&rulesfile.File{Name: "stored"}).Revise(rulesfile.Revision{Rules: []rules.Rule{labelRule("Tea", "Tea")},
		Labels: []string{"Tea"}})
	require.NoError(t, err)
	require.Len(t, f.Rules, 1)
	f, err = f.Revise(rulesfile.Revision{Remove: []string{"Tea"}})
	require.NoError(t, err)
	require.Empty(t, f.Rules)
	require.NotNil(t, f.Rules)
}

// Whatever is changed, the file says just that, and a second time changes nothing.
func TestReviseProperty(t *testing.T) {
	names := []string{"Tea", "Coffee", "Milk", "Water", "a: b", "#", "'"}
	rapid.Check(t, func(t *rapid.T) {
		f := parsed(t, beforeRevision)
		if rapid.Bool().Draw(t, "all") {
			f = parsed(t, "matching: all\n"+beforeRevision)
		}
		var change rulesfile.Revision
		want := map[string]bool{}
		for _, r := range f.Rules {
			want[r.Name] = true
		}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "rules") {
			r := labelRule(name, "Tea")
			r.Continue = rapid.Bool().Draw(t, "continue")
			change.Rules, want[name] = append(change.Rules, r), true
		}
		for _, name := range names[:3] {
			if rapid.Bool().Draw(t, "remove "+name) && !slices.ContainsFunc(change.Rules, func(r rules.Rule) bool {
				return r.Name == name
			}) {
				change.Remove = append(change.Remove, name)
				delete(want, name)
			}
		}
		got, err := f.Revise(change)
		require.NoError(t, err)
		require.Len(t, got.Rules, len(want))
		for _, r := range got.Rules {
			require.True(t, want[r.Name], r.Name)
		}
		for _, r := range change.Rules {
			i := slices.IndexFunc(got.Rules, func(other rules.Rule) bool { return other.Name == r.Name })
			require.Equal(t, r.Continue, got.Rules[i].Continue)
			require.Equal(t, postroom.ApplyLabel, got.Rules[i].Action)
		}
		require.Contains(t, got.Source, "# About my rules.")
		again, err := got.Revise(rulesfile.Revision{Rules: change.Rules})
		require.NoError(t, err)
		require.Equal(t, got.Source, again.Source)
	})
}
