package decide_test

import (
	"testing"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/stretchr/testify/require"
)

// A model that does not follow a direction is told so, and then a person looks.
func TestDirectionsAreCheckedAfterTheModel(t *testing.T) {
	never := guide(decide.Guidance{Directions: []string{"Be brief.", "Never delete anything."}})
	trash := llmtest.Decides("trash", "{}", 1)
	client := llmtest.NewScripted(t, llmtest.Decides("delete", "{}", 1), llmtest.Decides("archive", "{}", 1))
	d := decided(t, newDecider(t, decide.Config{Client: client, Guidance: never}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	require.Contains(t, client.Requests()[1].Messages[3].Text, `action delete is forbidden by the direction "Never delete anything."`)

	named := guide(decide.Guidance{Rules: []decide.Rule{{Name: "keep", Text: "Never delete anything."}}})
	d = decided(t, newDecider(t, decide.Config{Client: llmtest.NewScripted(t, trash, llmtest.Decides("archive", "{}", 1)), Guidance: named}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action, "a rule for some mail forbids as well")

	stubborn := llmtest.NewScripted(t, trash, trash, trash)
	d = decided(t, newDecider(t, decide.Config{Client: stubborn, Guidance: never}), mail("x"))
	require.Equal(t, postroom.None, d.Action)
	require.True(t, d.NeedsApproval)
	require.Contains(t, d.Rationale, "forbidden by the direction")

	maybe := guide(decide.Guidance{Directions: []string{"Never archive receipts."}})
	d = decided(t, newDecider(t, decide.Config{Client: llmtest.NewScripted(t, llmtest.Decides("archive", "{}", 1)), Guidance: maybe}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	require.True(t, d.NeedsApproval, "a person says whether it is a receipt")
	require.Contains(t, d.Explanations.SalientFeatures, "a direction may forbid this: Never archive receipts.")
}
