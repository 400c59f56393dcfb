package scripted_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/mime"
)

// The message that is answered is one of the sample; every other one is left to the person.
func TestOneMessageOfTheSampleIsAnswered(t *testing.T) {
	c, err := compose.New(compose.Config{Client: scripted.Model{}})
	require.NoError(t, err)
	answered := 0
	for m, err := range sample.Mailbox().Messages() {
		require.NoError(t, err)
		read, err := mime.ParseBytes(m.Raw, nil)
		if err != nil {
			continue // some are broken
		}
		msg := &postroom.Message{ID: m.Name, Subject: read.Subject, BodyPlain: read.Text, ReceivedAt: m.Received}
		text, err := c.Write(t.Context(), compose.Request{AccountID: "a", Message: msg})
		require.NoError(t, err)
		if text == "" {
			continue
		}
		answered++
		require.Equal(t, scripted.Answered, read.MessageID)
		require.Contains(t, text, "[check: 10:15]", "the marks of facts are shown")
		text, err = c.Write(t.Context(), compose.Request{AccountID: "a", Message: msg, Text: text, Instruction: "shorter"})
		require.NoError(t, err)
		require.NotContains(t, text, "10:15")
	}
	require.Equal(t, 1, answered)
	_, err = scripted.Model{}.Complete(t.Context(), &llm.Request{ForceTool: "record_decision"})
	require.ErrorContains(t, err, "the demo has no model")
}

// As an agent the model knows one message too, leaves others alone, and says in each case that it is a script.
func TestTheAgentLeavesOtherMailAlone(t *testing.T) {
	act := &llm.Request{Purpose: "agent.act", Messages: []llm.Message{{Role: llm.RoleUser, Text: "MESSAGE\nLunch?"}}}
	answer, err := scripted.Model{}.Complete(t.Context(), act)
	require.NoError(t, err)
	require.Equal(t, "finish_none", answer.ToolCalls[0].Name)
	require.Contains(t, answer.ToolCalls[0].Arguments, "the demo has no model")
	answer, err = scripted.Model{}.Complete(t.Context(), &llm.Request{Purpose: "agent.report"})
	require.NoError(t, err)
	require.Contains(t, answer.Text, scripted.AgentNote)
}

// A profile that a person has changed stays as it is, and one that was removed does not come back.
func TestProfilesAreWrittenOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "agents")
	require.NoError(t, scripted.WriteProfiles(folder))
	profile := filepath.Join(folder, scripted.Household+".yaml")
	require.FileExists(t, profile)
	require.NoError(t, os.Remove(profile))
	require.NoError(t, scripted.WriteProfiles(folder))
	require.NoFileExists(t, profile)
}
