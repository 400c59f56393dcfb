package sieve_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/sieve"
)

func TestSieveBecomesRules(t *testing.T) {
	script, err := os.ReadFile("testdata/script.sieve")
	require.NoError(t, err)
	kinds := rulestest.WithForward(t)
	translation, err := sieve.Import(string(script), kinds)
	require.NoError(t, err)
	text := string(translation.Marshal())
	rulestest.Golden(t, "testdata/rules.golden", text)
	rulestest.Golden(t, "testdata/untranslated.golden", rulestest.Listed(translation.Untranslated))
	require.Equal(t, text, rulestest.Formatted(t, text))
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text), rulesfile.WithKinds(kinds))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)

	fields := func(list ...string) (headers []postroom.Header) {
		for i := 0; i < len(list); i += 2 {
			headers = append(headers, postroom.Header{Name: list[i], Value: list[i+1]})
		}
		return headers
	}
	day := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	set := rules.NewSet(file.Rules, kinds)
	for name, tc := range map[string]struct {
		msg  postroom.Message
		at   time.Time
		want string
	}{
		"a list stops":           {postroom.Message{Headers: fields("List-Id", "<dev.lists.example>")}, day, "move Lists"},
		"a shop is copied":       {postroom.Message{From: postroom.Address{Email: "a@SHOP.example"}}, day, "apply_label Shops, mark_read, forward"},
		"detail":                 {postroom.Message{Cc: []postroom.Address{{Email: "me+orders@home.example"}}}, day, "apply_label Shops, mark_read, forward"},
		"an invoice is kept":     {postroom.Message{Headers: fields("Subject", "Your INVOICE 7"), Size: 2 << 20}, day, "star, apply_label Invoices, forward"},
		"a small invoice is not": {postroom.Message{Headers: fields("Subject", "Your invoice 7"), Size: 2 << 10}, day, "forward"},
		"in the else":            {postroom.Message{BodyPlain: "click to unsubscribe"}, day, "trash, forward"},
		"a high score stops":     {postroom.Message{Headers: fields("X-Spam-Score", "7")}, day, "trash"},
		"at night":               {postroom.Message{}, day.Add(10 * time.Hour), "mark_read, forward"},
		"a loop stops":           {postroom.Message{Headers: fields("X-Loop", "you", "X-Loop", "me")}, day, "none"},
		"any":                    {postroom.Message{Headers: fields("X-Any", "")}, day, "move Any, forward"},
	} {
		var got []string
		for _, d := range set.DecideAll(&tc.msg, tc.at) {
			label, _ := d.Parameters.Text("label")
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", d.Action, label)))
		}
		require.Equal(t, tc.want, strings.Join(got, ", "), name)
	}
}

func TestFaultyScriptsSayWhere(t *testing.T) {
	for script, want := range map[string]string{
		"keep":                             "line 1: keep is not ended",
		"if true {\nkeep;":                 "line 2: a block is not closed",
		"\nif true { keep; } }":            `line 2: "}" stands where a command belongs`,
		"/* x":                             "line 1: a comment is not closed",
		"fileinto \"a\nb;":                 "line 1: a string is not closed",
		"fileinto [\"a\" \"b\"];":          "a list of strings is not closed",
		"fileinto [\"a\", b];":             "a string is missing in a list",
		"if anyof (true, false { keep; }":  "a list of tests is not closed",
		"if { keep; }":                     "line 1: if is not written",
		"else { keep; }":                   "else stands behind no if",
		"if true { } else { } else { }":    "else is not written",
		"vacation text:\nx\n":              "a text: is not closed",
		"vacation text:\n.x\n.\n;":         "begins with one dot",
		"if size :over 99999999999999 {}":  "is too large",
		strings.Repeat("if true {", 40):    "more than 32 deep",
		"keep; \xff":                       "not text in UTF-8",
		strings.Repeat("keep;\n", 300_000): "larger than",
		strings.Repeat(
			"if not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not not true {}", 1): "more than 32 deep",
	} {
		_, err := sieve.Import(script, nil)
		require.ErrorContains(t, err, want, "%.60q", script)
	}
}

// What depends on a test that cannot be translated has no rule: without the test it would match other mail.
func TestNoRuleMatchesMoreThanItsScript(t *testing.T) {
	for _, test := range []string{
		`envelope "auth" "a@a.example"`, `header :contains "X" "${name}"`, `address :is "Errors-To" "a@a.example"`, `body :raw :contains "x"`,
		`header :comparator "i;unknown" "X" "y"`, `string :is "${a}" "b"`, `body :is ""`, `address "envelope-from" "a@a.example"`, `envelope :index 2 "to" "a"`, `header :count "eq" :index 1 ["X", "Y"] "1"`, `header :count "eq" :index 1 "X" "many"`, `date :value "gt" "Date" "hour" "9"`, `date :comparator "i;ascii-numeric" "Date" "date" "2009"`, `header :contains :comparator "i;ascii-numeric" "X" "1"`, `date :value "gt" "Date" "zone" "+0100"`, `date :comparator "i;octet" "Date" "iso8601" "x"`, `address :matches :comparator "i;ascii-numeric" "To" "1"`, `string :regex "a" "("`, `string :value "most" "a" "b"`,
		`header :regex "X" "("`, `mailboxexists "X"`, `size "x"`, `allof`,
		`header :count "gt" "X" "many"`, `date "Date" "century" "20"`, `not not header`, `header :index "X" "y"`, `header :is :value`,
	} {
		translation, err := sieve.Import("if "+test+" { discard; stop; } elsif true { discard; } else { discard; }", nil)
		require.NoError(t, err, test)
		require.Empty(t, translation.File.Rules, test)
		require.Len(t, translation.Untranslated, 3, test)
		require.Equal(t, rulesfile.Skipped, translation.Untranslated[0].Left)
	}
}

func FuzzFromSieve(f *testing.F) {
	script, err := os.ReadFile("testdata/script.sieve")
	require.NoError(f, err)
	f.Add(string(script))
	f.Add(
		`require "encoded-character"; if string :regex "${hex:40 41}" "(" { stop; } elsif envelope :is "from" ["", "a"] { discard; }`)
	f.Add(`if not anyof (true, header :is ["a", "b"] "c") { fileinto "x"; } else { keep; }`)
	kinds := rulestest.WithForward(f)
	f.Fuzz(func(t *testing.T, script string) {
		translation, err := sieve.Import(script, kinds)
		if err != nil {
			return
		}
		text := translation.Marshal()
		_, err = rulesfile.Parse("rules.yaml", strings.NewReader(string(text)), rulesfile.WithKinds(kinds))
		require.NoError(t, err, "%s", text)
	})
}
