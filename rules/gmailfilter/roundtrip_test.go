package gmailfilter_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/gmailfilter"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// What was imported can be exported, and means the same again.
func TestImportedFiltersAreExported(t *testing.T) {
	for query, want := range map[string]string{
		"subject:(weekly report)":          `(subject:"weekly" subject:"report")`,
		`subject:"weekly report"`:          `subject:"weekly report"`,
		"-subject:draft":                   `-subject:"draft"`,
		"invoice":                          `"invoice"`,
		"invoice OR rechnung":              `{"invoice" "rechnung"}`,
		"-{urgent cc:boss}":                `-{"urgent" cc:"boss"}`,
		"from:(ann smith)":                 `(from:"ann" from:"smith")`,
		"to:ann OR bcc:bob OR filename:py": `{to:"ann" bcc:"bob" filename:"py"}`,
		"list:dev.lists.example":           `list:"dev lists example"`,
		"deliveredto:ann@home.example":     `deliveredto:"ann home example"`,
		"is:important larger:2M":           `(is:important larger:2097152)`,
		"is:starred -in:inbox":             `(is:starred -in:inbox)`,
		"category:promotions":              `category:promotions`,
	} {
		first := gmailfilter.Import([]gmailfilter.Filter{{Query: query, AddLabels: []string{postroom.LabelStarred}}}, nil)
		require.Len(t, first.File.Rules, 1, query)
		filters, untranslated := gmailfilter.Export(first.File.Rules, nil)
		require.Empty(t, untranslated, query)
		require.Len(t, filters, 1)
		require.Equal(t, want, filters[0].Query, query)
		again := gmailfilter.Import(filters, nil)
		require.Equal(t, first.File.Rules[0].Condition, again.File.Rules[0].Condition, query)
	}
}

// Any search of words in any field comes back as it was.
func TestSearchesComeBack(t *testing.T) {
	terms := []string{"invoice", `"your order"`, "subject:a", `from:"ann b"`, "to:x", "cc:y", "bcc:z", "filename:pdf", "list:dev",
		"deliveredto:q", "is:unread", "category:forums", "has:attachment", "larger:5", "invoice invoice"}
	rapid.Check(t, func(t *rapid.T) {
		query := strings.Join(rapid.SliceOfN(rapid.SampledFrom(terms), 1, 4).Draw(t, "terms"), " ")
		if rapid.Bool().Draw(t, "either") {
			query = "{" + query + "}"
		}
		if rapid.Bool().Draw(t, "not") {
			query = "-(" + query + ") " + rapid.SampledFrom(terms).Draw(t, "also")
		}
		first := gmailfilter.Import([]gmailfilter.Filter{{Query: query, AddLabels: []string{postroom.LabelStarred}}}, nil)
		filters, untranslated := gmailfilter.Export(first.File.Rules, nil)
		require.Empty(t, untranslated, query)
		again := gmailfilter.Import(filters, nil)
		require.Equal(t, first.File.Rules[0].Condition, again.File.Rules[0].Condition, "%s\n%s", query, filters[0].Query)
	})
}

// Gmail takes searches of at most 1,500 characters: a rule with more alternatives becomes several filters.
func TestLongRulesBecomeSeveralFilters(t *testing.T) {
	data, err := os.ReadFile("testdata/long.yaml")
	require.NoError(t, err)
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(string(data)))
	require.NoError(t, err)
	check := func(list []rules.Rule, senders int) {
		filters, untranslated := gmailfilter.Export(list, nil)
		require.NotContains(t, rulestest.Listed(untranslated), "…: left out")
		var searches []string
		for _, f := range filters {
			require.LessOrEqual(t, len(f.Query), 1500)
			require.Equal(t, []string{"Spammy"}, f.AddLabels)
			searches = append(searches, f.Query)
		}
		for i := range senders {
			require.Contains(t, strings.Join(searches, " "), fmt.Sprintf(`"a%d@x%d.example"`, i, i))
		}
	}
	check(file.Rules, 150)

	with := file.Rules[0]
	with.Condition = rules.AllOf(rules.Condition{Type: rules.HasAttachment}, with.Condition)
	check([]rules.Rule{with}, 150)

	guard, err := rulesfile.Parse("rules.yaml", strings.NewReader(
		`{rules: [{name: boss, condition: {type: sender_email, value: boss@a.example}, action: none}]}`))
	require.NoError(t, err)
	check(append(guard.Rules, file.Rules[0]), 150)

	with.Condition = rules.NoneOf(file.Rules[0].Condition)
	filters, untranslated := gmailfilter.Export([]rules.Rule{with}, nil)
	require.Empty(t, filters)
	require.Contains(t, rulestest.Listed(untranslated), "left out: its search is longer than the 1,500 characters")
}
