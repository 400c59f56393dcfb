package gmailfilter_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/gmailfilter"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// With the owner's address "me" is that address: no mail to the owner is trashed for not being to "me".
func TestOwnerIsAnAddress(t *testing.T) {
	data, err := os.ReadFile("testdata/me.xml")
	require.NoError(t, err)
	filters, err := gmailfilter.Read(strings.NewReader(string(data)), nil)
	require.NoError(t, err)
	require.Empty(t, gmailfilter.Import(filters, nil).File.Rules)

	got := gmailfilter.Import(filters, &gmailfilter.ImportOptions{Owner: "ada@home.example"})
	require.Len(t, got.File.Rules, 4, rulestest.Listed(got.Untranslated)) // nobody gives mail the label Sent
	require.Equal(t, rulesfile.Approximate, got.Untranslated[0].Left)
	set := rules.NewSet(got.File.Rules, nil)
	for to, want := range map[string]string{
		"ada@home.example": "star", "Ada@Home.example": "star", "ada+shop@home.example": "star",
		"me@home.example": "move NotToMe, trash", "ada@elsewhere.example": "move NotToMe, trash",
	} {
		var done []string
		msg := postroom.Message{From: postroom.Address{Email: "x@x.example"}, To: []postroom.Address{{Name: "me", Email: to}}}
		for _, d := range set.DecideAll(&msg, rulestest.Now) {
			label, _ := d.Parameters.Text("label")
			done = append(done, strings.TrimSpace(string(d.Action)+" "+label))
		}
		require.Equal(t, want, strings.Join(done, ", "), to)
	}
}

// What Gmail's language has and rules lack is no word.
func TestOperatorsAreNoWords(t *testing.T) {
	star := []string{postroom.LabelStarred}
	for query, want := range map[string]string{
		"listid:dev.lists.example": "List-Id",
		"category:promotions":      "CATEGORY_PROMOTIONS",
		"category:reservations":    "", "has:red-star": "", "is:muted": "", "replyto:ann": "", "-lang:de": "", "in:snoozed": "",
		"from:": "", `"replyto:ann"`: "replyto",
	} {
		got := gmailfilter.Import([]gmailfilter.Filter{{Query: query, AddLabels: star}}, nil)
		if want == "" {
			require.Empty(t, got.File.Rules, query)
			require.Equal(t, rulesfile.Skipped, got.Untranslated[0].Left)
			continue
		}
		require.Len(t, got.File.Rules, 1, query)
		require.Contains(t, string(got.Marshal()), want)
	}
}

// A form of which it is not known what Gmail makes of it is no words either.
func TestFormsOfListsAreNoWords(t *testing.T) {
	star := []string{postroom.LabelStarred}
	options := &gmailfilter.ImportOptions{Owner: "ada@home.example"}
	for _, query := range []string{"to:me,ann", "to:(me,ann)", "-to:me,ann", "to:me|ann", "to:me;ann", "to:(me, ann)",
		"-{to:me,ann}",
		`to:"me",ann`, "from:ann@x.example,bob@y.example",
		"-from:(ann@x.example, bob@y.example)", "subject:a|b", "a|b", "NOT a",
		"a AND NOT b", "AROUND 5 a", "a AROUND b", "(a", "{a b", "a)", `"a b`, "a) OR (b", "(a}", "-(a",
		"delivered-to:me",
		"Reply-To:ann", "list-id:x", "deliveredto:me,ann"} {
		for _, f := range []gmailfilter.Filter{{Query: query}, {NegatedQuery: query}} {
			f.AddLabels = star
			got := gmailfilter.Import([]gmailfilter.Filter{f}, options)
			require.Empty(t, got.File.Rules, query)
			require.Equal(t, rulesfile.Skipped, got.Untranslated[0].Left)
		}
	}
	for _, f := range []gmailfilter.Filter{{To: "me,ann"}, {From: "ann@x.example, bob@y.example"},
		{Subject: "a) OR (b"},
		{From: "a) (b"},
		{NegatedQuery: "a} {b"}, {Subject: "(a"}} {
		f.AddLabels = star
		require.Empty(t, gmailfilter.Import([]gmailfilter.Filter{f}, options).File.Rules, f)
	}
	for _, query := range []string{"to:(me ann)", "{to:me cc:me}", "a AND b", `from:"Lee, Ann"`, "subject:(a, b)",
		"a | b", "+a",
		"-(a b)",
		"a not b", `"a AND NOT b"`, "(to:me) OR {a b}", `subject:"a|b"`, "http://x.example/a", "12:30"} {
		got := gmailfilter.Import([]gmailfilter.Filter{{Query: query, AddLabels: star}}, options)
		require.Len(t, got.File.Rules, 1, query)
	}
}
