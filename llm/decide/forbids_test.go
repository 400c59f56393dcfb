package decide_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// What an instruction forbids is not offered to the model. One that decides it all the same is told so, and then a
// person looks.
func TestForbiddenActionsAreNotOffered(t *testing.T) {
	keep := guide(decide.Guidance{Instructions: []guidance.Instruction{{Text: "Be brief."},
		{Forbids: []postroom.ActionType{postroom.Delete, postroom.Trash}}}})
	trash := llmtest.Decides("trash", "{}", 1)
	client := llmtest.NewScripted(t, trash, llmtest.Decides("archive", "{}", 1))
	d := decided(t, newDecider(t, decide.Config{Client: client, Guidance: keep}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	first := client.Requests()[0]
	require.Contains(t, first.Messages[1].Text, "The actions are: apply_label,")
	require.NotContains(t, first.Messages[1].Text, "trash")
	require.NotContains(t, string(first.Tools[0].Schema), "delete")
	require.Contains(t, client.Requests()[1].Messages[3].Text, "action trash is not offered")

	stubborn := llmtest.NewScripted(t, trash, trash, trash)
	d = decided(t, newDecider(t, decide.Config{Client: stubborn, Guidance: keep}), mail("x"))
	require.Equal(t, postroom.None, d.Action)
	require.False(t, d.NeedsApproval)
}

// The text of an instruction is advice: the program does not read it.
func TestTheTextOfAnInstructionForbidsNothing(t *testing.T) {
	advice := guide(decide.Guidance{Instructions: []guidance.Instruction{{Text: "Never archive anything."}}})
	client := llmtest.NewScripted(t, llmtest.Decides("archive", "{}", 1))
	d := decided(t, newDecider(t, decide.Config{Client: client, Guidance: advice}), mail("x"))
	require.Equal(t, postroom.Archive, d.Action)
	require.False(t, d.NeedsApproval)
}
