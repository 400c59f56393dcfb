package gmailquery_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/gmailquery"
)

func TestSlipsAreDoubted(t *testing.T) {
	const (
		words = "there is no such operator; it is searched for as words"
		never = "the operator does not know it; no message has it"
		none  = "nothing follows the operator; no message has it"
	)
	for q, want := range map[string][]gmailquery.Doubt{
		"is:unred":                   {{"is:unred", never, "is:unread"}},
		"IS:Unred tea":               {{"is:Unred", never, "is:unread"}},
		"-is:raed":                   {{"is:raed", never, "is:read"}},
		"is:(unread or starrd)":      {{"is:or", never, ""}, {"is:starrd", never, "is:starred"}},
		"is:florp":                   {{"is:florp", never, ""}},
		"category:promotion":         {{"category:promotion", never, "category:promotions"}},
		"has:attachement":            {{"has:attachement", never, "has:attachment"}},
		"after:yesterday":            {{"after:yesterday", never, "after:2026/03/01"}},
		"larger:big newer_than:week": {{"larger:big", never, "larger:10M"}, {"newer_than:week", never, "newer_than:2d"}},
		"zzzzz:bar":                  {{"zzzzz:bar", words, ""}},
		"form:ann form:ann":          {{"form:ann", words, "from:ann"}},
		"subjct:tea OR frm:ann":      {{"subjct:tea", words, "subject:tea"}, {"frm:ann", words, "from:ann"}},
		"from:":                      {{"from:", none, "from:ann"}},
		"tea AROUND 5 zzzzz:x":       {{"zzzzz:x", words, ""}},
		"tea at 12:30 https://example.com/x \"foo:bar\" :x x: from:ann is:read in:archive label:nowhere after:2026/01/01 from:re:x": nil,
	} {
		require.Equal(t, want, parse(t, q).Doubts, q)
	}
	require.Len(t, parse(t, strings.Repeat("a", 5)+strings.Join(many("foo:", 100), " ")).Doubts, 20)
}

func many(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strings.Repeat("x", i+1)
	}
	return list
}

// Every example and every value that is documented is beyond doubt.
func TestWhatOperatorsKnowIsNotDoubted(t *testing.T) {
	for _, o := range gmailquery.Operators() {
		require.Empty(t, parse(t, o.Example).Doubts, o.Example)
	}
}
