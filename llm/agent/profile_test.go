package agent_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
)

const supportFile = `name: support
model: small
instructions: |
  Answer questions about orders.
tools: [read_thread, read_files]
outcomes:
  - draft
  - escalate
limits:
  model_calls: 4
  call_time: 30s
  cost: 0.25
`

func TestAProfileIsReadFromAFile(t *testing.T) {
	p, err := agent.ReadProfile("support.yaml", []byte(supportFile))
	require.NoError(t, err)
	require.Equal(t, []string{"read_thread", "read_files"}, p.Tools)
	require.Equal(t, []agent.Outcome{agent.OutcomeDraft, agent.OutcomeEscalate, agent.OutcomeNone}, p.Outcomes)
	require.Equal(t, "Answer questions about orders.", p.Instructions)
	require.Equal(t, agent.Limits{ModelCalls: 4, ToolCalls: 12, EqualCalls: 3, CallTime: 30 * time.Second,
		RunTime: 5 * time.Minute, Tokens: 30_000, Cost: llm.Dollar / 4, RunsADay: 30, RunsAThread: 2, Failures: 3}, p.Limits)
	other, err := agent.ReadProfile("support.yaml", []byte(supportFile+"  failures: 4\n"))
	require.NoError(t, err)
	require.NotEqual(t, p.Version, other.Version)
	require.Len(t, p.Version, 12)
}

func TestWhatIsWrongInAProfileIsSaidWithItsLine(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"a key of the profile":  {"tools:", "tool:", `p.yaml:5: unknown field "tool"; the keys are name, model,`},
		"a key of the limits":   {"call_time", "call_tim", `p.yaml:11: unknown field "call_tim"; the keys are`},
		"another type":          {"model_calls: 4", "model_calls: four", "p.yaml:10: "},
		"zero is no default":    {"model_calls: 4", "model_calls: 0", "p.yaml:10: model_calls is 0; write more than 0 and at most 100"},
		"too much":              {"cost: 0.25", "cost: 101", "p.yaml:12: cost is $101.00; write more than 0 and at most $100.00"},
		"less than nothing":     {"cost: 0.25", "cost: -1", "p.yaml:12: cost is -$1.00"},
		"no time":               {"30s", "30", `p.yaml:11: call_time is "30"; write a time such as 60s`},
		"an unknown outcome":    {"- draft", "- drafts", `p.yaml:7: unknown outcome "drafts"; the outcomes are archive, create_task,`},
		"an outcome twice":      {"- draft", "- escalate", "p.yaml:8: the outcome escalate is listed twice"},
		"a tool twice":          {"read_files", "read_thread", `p.yaml:5: the tool "read_thread" is listed twice`},
		"a name":                {"name: support", "name: Support Team", `p.yaml:1: the name "Support Team" is not one`},
		"no instructions":       {"  Answer questions about orders.\n", "", "p.yaml:3: there are no instructions"},
		"no model":              {"model: small\n", "", "p.yaml: there is no model; write model: and the name of one"},
		"a key twice":           {"model: small", "model: small\nmodel: large", "p.yaml:3: "},
		"no YAML":               {"tools: [", "tools: ]", "p.yaml:5: "},
		"a second document":     {"limits:", "---\nlimits:", "the file must hold one document"},
		"nothing":               {supportFile, "", "p.yaml: "},
		"too large a file":      {"limits:", strings.Repeat("#\n", 9000) + "limits:", "bytes; write at most 16384"},
		"too long instructions": {"orders.", strings.Repeat("orders ", 2000), "p.yaml:3: the instructions have 14"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, supportFile, tt.old)
			_, err := agent.ReadProfile("p.yaml", []byte(strings.Replace(supportFile, tt.old, tt.new, 1)))
			require.ErrorContains(t, err, tt.want)
			file := (*agent.FileError)(nil)
			require.ErrorAs(t, err, &file)
		})
	}
}

func TestAllFaultsOfAFileAreSaidInTheOrderOfItsLines(t *testing.T) {
	_, err := agent.ReadProfile("p.yaml", []byte("model: small\nname: A\ninstructions: x\nlimits: {tokens: 0, failures: 0}\n"))
	file := (*agent.FileError)(nil)
	require.ErrorAs(t, err, &file)
	require.Len(t, file.Faults, 3)
	require.Contains(t, file.Faults[0], "p.yaml:2: ")
	require.Contains(t, file.Faults[2], "p.yaml:4: ")
}

func TestTheProfilesOfAFolder(t *testing.T) {
	folder := fstest.MapFS{"a.yaml": {Data: []byte(supportFile)}, "notes.txt": {Data: []byte("no profile")}}
	list, err := agent.ReadProfiles(folder)
	require.NoError(t, err)
	require.Len(t, list, 1)
	folder["b.yaml"] = &fstest.MapFile{Data: []byte(supportFile)}
	folder["c.yaml"] = &fstest.MapFile{Data: []byte("name: c")}
	_, err = agent.ReadProfiles(folder)
	require.ErrorContains(t, err, `b.yaml: the name "support" is that of another file`)
	require.ErrorContains(t, err, "c.yaml: there is no model")
}

func FuzzReadProfile(f *testing.F) {
	f.Add([]byte(supportFile))
	f.Add([]byte("name: {a: [b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := agent.ReadProfile("p.yaml", text); err == nil {
			require.NotEmpty(t, p.Name)
			require.Positive(t, p.Limits.ModelCalls)
		}
	})
}
