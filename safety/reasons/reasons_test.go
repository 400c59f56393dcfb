package reasons_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/injection"
	"github.com/postroom-go/postroom/safety/reasons"
)

// checks are the codes of all checks of the gate, by the names of their constants.
func checks(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../gate/verdict.go", nil, 0)
	require.NoError(t, err)
	found := map[string]string{
		"OverrideHidden": string(injection.HiddenText), "OverrideSender": string(injection.DoubtfulSender),
		"OverrideMachine": string(injection.MachineTalk),
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Override") {
			return true
		}
		code := found[spec.Names[0].Name]
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			code = strings.Trim(literal.Value, `"`)
		}
		require.NotEmpty(t, code, spec.Names[0].Name)
		found[spec.Names[0].Name] = code
		return true
	})
	require.Greater(t, len(found), 15)
	return found
}

func TestEachCheckHasASentence(t *testing.T) {
	for name, code := range checks(t) {
		require.True(t, reasons.Known(code), "%s has no sentence", name)
		require.NotContains(t, reasons.Sentence(code), "_always ", name)
	}
	require.Equal(t, "of another version", reasons.Sentence("of_another_version"))
}

func TestTheGatesOwnTextsAreSaidPlainly(t *testing.T) {
	g, err := gate.New(gate.Policy{}, nil)
	require.NoError(t, err)
	judge := func(source postroom.Source) []string {
		return reasons.Plain(g.Judge(postroom.Decision{Action: postroom.Delete, Confidence: 0.45, Source: source,
			RuleID: "1", NeedsApproval: true, Rationale: "for a test"}, gate.Evidence{Doubts: []gate.Doubt{
			{Check: gate.OverrideRule, Reason: "rule 'Receipts' decided, and it is not stored"}}}).Reasons)
	}
	always := []string{
		"what it does cannot be taken back, so it always asks",
		"the one who decided is only 0.45 sure, and below 0.70 you are asked (policy.confidence_default)",
		"you want to be asked about such an action (policy.approval_always)",
	}
	own := "rule 'Receipts' decided, and it is not stored"
	require.Equal(t, append(always, "the model wants you to look at it", own), judge(postroom.SourceModel))
	require.Equal(t, append(always[:3:3], "the rule wants you to look at it", own), judge(postroom.SourceDeterministic))
}
