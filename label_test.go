package postroom_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestCheckLabelName(t *testing.T) {
	for _, name := range []string{
		"Bills", "Bills/2026/March", "日本", "Größe", "می\u200cخواهم", "👩\u200d👧 Family", "drafts/old", "^x",
		strings.Repeat("é", 225), "Label_12",
	} {
		require.NoError(t, postroom.CheckLabelName(name), "%q", name)
	}
	tests := []struct{ name, label, want string }{
		{"empty", "", "blank"},
		{"blank", " \t", "blank"},
		{"blank at the end", "Bills ", "begins or ends with a blank"},
		{"too long", strings.Repeat("é", 226), "it has 226 characters and Gmail takes 225"},
		{"Gmail's own", "inBox", "the name is one of Gmail's own"},
		{"Gmail's own view", "All Mail", "the name is one of Gmail's own"},
		{"category", "category_social", "the name is one of Gmail's own"},
		{"slash at the start", "/Bills", "a slash nests labels"},
		{"slash at the end", "Bills/", "a slash nests labels"},
		{"two slashes", "Bills//2026", "a slash nests labels"},
		{"blank part", "Bills/ /2026", "a slash nests labels"},
		{"line end", "Bills\r\n2026", "U+000D"},
		{"NUL", "Bills\x00", "U+0000"},
		{"turned text", "Bills\u202etxt", "U+202E"},
		{"isolate", "Bills\u2066", "U+2066"},
		{"zero width", "Bil\u200bls", "U+200B"},
		{"line separator", "Bills\u2028 ", "begins or ends"},
		{"line separator within", "Bills\u2028x", "U+2028"},
		{"not UTF-8", "Bills\xff", "not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := postroom.CheckLabelName(tt.label)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "\u202e", "an error is shown to people")
			require.Less(t, len(err.Error()), 400)
		})
	}
}

// A decision cannot name a label that a person would take for another, whoever decides.
func TestALabelOfADecisionIsReadable(t *testing.T) {
	for label, fault := range map[string]string{
		"Receipts": "", "Family \U0001F468\u200D\U0001F469\u200D\U0001F467": "", "Label_7": "", "INBOX": "",
		"Rec\u202Estpie":              "U+202E",
		"Rece\u200Bipts":              "U+200B",
		"Rece\x00ipts":                "U+0000",
		"a\nb":                        "U+000A",
		"\xff":                        "it is not UTF-8",
		strings.Repeat("\u00e4", 226): "it has 226 characters and Gmail takes 225",
	} {
		for _, action := range []postroom.ActionType{postroom.ApplyLabel, postroom.RemoveLabel, postroom.Move} {
			var kinds *postroom.Kinds
			err := kinds.Check(action, postroom.Parameters{"label": label}, decidedAt)
			if fault == "" {
				require.NoError(t, err, label)
				continue
			}
			require.ErrorContains(t, err, fault)
		}
	}
}

func TestOnlyTextsAreRecipients(t *testing.T) {
	kind := postroom.Kind{
		Type: "tell", Summary: "tell", Job: "tell",
		Parameters: []postroom.Parameter{{Name: "whom", Type: postroom.LabelParameter, Recipient: true}},
	}
	_, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{kind}})
	require.ErrorContains(t, err, `"whom" is a Recipient, which only a TextParameter or a TextsParameter may be`)
}
