package drafts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
)

func TestChangesOfADraft(t *testing.T) {
	line := func(sign, text string) drafts.Line { return drafts.Line{Sign: sign, Text: text} }
	require.Equal(t, []drafts.Line{line("same", "  Hello,"), line("removed", "− five is fine."),
		line("added", "+ six is fine."), line("added", "+ Bring cake."), line("same", "  Ada")},
		drafts.Changes("Hello,\nfive is fine.\nAda", "Hello, \r\nsix is fine.\r\nBring cake.\r\nAda\r\n"))
	require.Empty(t, drafts.Changes("Hello", " Hello \n"))
	require.Empty(t, drafts.Changes("Hello", strings.Repeat("x\n", 500)))
}

func TestFactsToCheckAreMarked(t *testing.T) {
	const text = "At [check: 18:30], [check: 5] EUR."
	require.Equal(t, []drafts.Span{{"At ", false}, {"[check: 18:30]", true}, {", ", false}, {"[check: 5]", true},
		{" EUR.", false}}, drafts.Spans(text))
	require.Equal(t, 2, drafts.Checks(text))
	require.Empty(t, drafts.Spans(""))
	require.Zero(t, drafts.Checks("[check: "))
}
