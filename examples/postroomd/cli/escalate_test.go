package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// A topic keeps what it is told.
type topic struct {
	*httptest.Server

	mu   sync.Mutex
	told []string
}

func newTopic(t *testing.T) *topic {
	t.Helper()
	topic := &topic{}
	topic.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		topic.mu.Lock()
		defer topic.mu.Unlock()
		topic.told = append(topic.told, string(text))
	}))
	t.Cleanup(topic.Close)
	return topic
}

func (p *topic) texts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.told)
}

// labelled counts the messages of a mailbox with a label.
func labelled(t *testing.T, server *gmailtest.Server, name string) (n int) {
	t.Helper()
	all, err := server.Snapshot(t.Context())
	require.NoError(t, err)
	for _, m := range all {
		if slices.Contains(m.Labels, name) {
			n++
		}
	}
	return n
}

const actionRequired = "Postroom/Action Required"

// A rule hands a message to the owner: it gets the label, the owner is told once, and undo takes the label off.
func TestARuleEscalates(t *testing.T) {
	t.Parallel()
	topic := newTopic(t)
	m := newTeatime(t, "{action: escalate, parameters: {reason: Cake is missing}}",
		fmt.Sprintf("[notify]\nntfy_url = %q\n", topic.URL+"/t"), letterNamed(1))
	runOnce(t, m.where...)
	require.Equal(t, 1, labelled(t, m.server, actionRequired))
	runOnce(t, m.where...)
	require.Len(t, topic.texts(), 1)
	require.Contains(t, topic.texts()[0], "has the label "+actionRequired)

	actions := m.actions()
	require.Len(t, actions, 1)
	require.Equal(t, postroom.ActionCompleted, actions[0].State)
	require.Contains(t, m.postroomd("explain", actions[0].ID).stdout, "Cake is missing")
	require.Equal(t, 0, m.postroomd("undo", actions[0].ID).status)
	runOnce(t, m.where...)
	require.Zero(t, labelled(t, m.server, actionRequired))
	require.Len(t, topic.texts(), 1)
}

// A label that a person has put on before stays when the escalation is undone.
func TestAnEscalationTakesOffOnlyItsOwnLabel(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, "{action: escalate, parameters: {}}", "", letterNamed(1))
	service, err := m.server.Service(t.Context())
	require.NoError(t, err)
	list, err := service.Users.Messages.List("me").Do()
	require.NoError(t, err)
	require.NoError(t, m.server.Person().Label(t.Context(), actionRequired, list.Messages[0].Id))
	runOnce(t, m.where...)
	require.Equal(t, postroom.ActionCompleted, m.actions()[0].State)
	require.Equal(t, 0, m.postroomd("undo", m.actions()[0].ID).status)
	runOnce(t, m.where...)
	require.Equal(t, 1, labelled(t, m.server, actionRequired))
}

// A model may hand mail to the owner without being asked, and is told by the policy if it may not.
func TestAModelEscalates(t *testing.T) {
	t.Parallel()
	gmail := inbox(t, "tea at five")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision("escalate", `{"reason":"a question about money"}`, 0.95)}}}
	})
	where := withModel(t, gmail, model.URL, "")
	runOnce(t, where...)
	require.Equal(t, 1, labelled(t, gmail, actionRequired))
	r := postroomd(t, append([]string{"actions"}, where...)...)
	require.True(t, strings.Contains(r.stdout, "escalate") && strings.Contains(r.stdout, "completed"), r.stdout)
}

// A note has nowhere to be kept: a rule that would make one is refused.
func TestARuleCannotMakeANote(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules:\n  - {name: Tea, condition: {type: subject_regex, value: ^Tea}, "+
		"action: add_note, parameters: {note: cake}}\n"), 0o600))
	r := postroomd(t, "rules", "check", file)
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stdout+r.stderr, "action add_note is not carried out here")
}
