package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
)

// Settings are the settings of a client under test.
type Settings struct {
	URL            string
	Key            llm.Secret
	Timeout        time.Duration // 0: the default
	MaxAnswerBytes int64         // 0: the default
}

// A Provider is a provider's client under test.
type Provider struct {
	Wire Wire
	// New makes a client of the model "fake".
	New func(t testing.TB, s Settings) llm.Client
	// Full is the client's name of the model, as provider::model. It is empty if the name depends on the address.
	Full string
	// Env are environment variables that an SDK reads and the client must ignore.
	Env []string
}

const testKey = "sk-test-0123456789abcdef"

// Conformance checks that a provider's client meets the contract of [llm.Client], against a [Server] that uses its
// protocol.
func Conformance(t *testing.T, p Provider) {
	t.Run("an answer of text has its usage, model and end", p.text)
	t.Run("a conversation arrives as it was given", p.conversation)
	t.Run("a form of the text arrives", p.output)
	t.Run("tool calls come back as they were written", p.toolCalls)
	t.Run("an answer at its bound says so", p.length)
	t.Run("a refusal is an error with its usage", p.refusal)
	t.Run("a stream is the same answer in pieces", p.stream)
	t.Run("a stream stops when its reader fails", p.streamReader)
	t.Run("a stream that breaks is no answer", p.brokenStream)
	t.Run("failures have reasons", p.failures)
	t.Run("rate limits are read from the headers", p.limits)
	t.Run("a call ends in time", p.timeout)
	t.Run("an answer over its limit is an error", p.tooLong)
	t.Run("what is no answer is an error", p.garbage)
	t.Run("an impossible request calls nobody", p.invalid)
	t.Run("the key goes into a header and nowhere else", p.key)
	t.Run("the environment changes nothing", p.environment)
	t.Run("calls may be made at once", p.concurrent)
}

func (p Provider) client(t *testing.T, s Settings, replies ...Reply) (llm.Client, *Server) {
	t.Helper()
	server := NewServer(t, p.Wire, replies...)
	s.URL = server.URL
	if s.Key == "" {
		s.Key = testKey
	}
	return p.New(t, s), server
}

func ask() *llm.Request {
	return &llm.Request{Messages: []llm.Message{{Role: llm.RoleSystem, Text: "Be brief."},
		{Role: llm.RoleUser, Text: "Hello?"}}}
}

var noteTool = llm.Tool{Name: "note", Description: "Takes a note.",
	Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}

func (p Provider) text(t *testing.T) {
	usage := llm.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 30, ReasoningTokens: 5}
	client, _ := p.client(t, Settings{},
		Reply{Text: "Good day, ä.", Usage: usage, Header: http.Header{"X-Request-Id": {"req_7"}}})
	resp, err := client.Complete(t.Context(), ask())
	require.NoError(t, err)
	require.Equal(t, "Good day, ä.", resp.Text)
	require.Equal(t, llm.StopEnd, resp.Stop)
	require.Empty(t, resp.ToolCalls)
	require.Equal(t, usage, resp.Usage)
	require.NotEmpty(t, resp.RequestID)
	if p.Full != "" {
		require.Equal(t, p.Full, resp.Model)
	}
	require.True(t, strings.HasSuffix(resp.Model, "::fake"), resp.Model)
}

func (p Provider) conversation(t *testing.T) {
	client, server := p.client(t, Settings{}, Reply{Text: "ok"})
	messages := []llm.Message{
		{Role: llm.RoleSystem, Text: "Be brief."},
		{Role: llm.RoleUser, Text: "Take two notes."},
		{Role: llm.RoleAssistant, Text: "I do.", ToolCalls: []llm.ToolCall{
			{ID: "call_a", Name: "note", Arguments: `{"text":"one"}`}, {ID: "call_b", Name: "note", Arguments: `{"text":"two"}`},
		}},
		{Role: llm.RoleTool, Text: "noted one", ToolCallID: "call_a"},
		{Role: llm.RoleTool, Text: "noted two", ToolCallID: "call_b"},
	}
	req := &llm.Request{Messages: messages, Tools: []llm.Tool{noteTool}, ForceTool: "note", MaxOutputTokens: 77,
		Temperature: new(float64)}
	_, err := client.Complete(t.Context(), req)
	require.NoError(t, err)
	asked, err := server.Asked(server.Seen()[0])
	require.NoError(t, err)
	require.Equal(t, messages, asked.Messages)
	require.Equal(t, []string{"note"}, asked.Tools)
	require.Equal(t, "note", asked.ForceTool)
	require.Equal(t, 77, asked.MaxOutput)
}

func (p Provider) output(t *testing.T) {
	client, server := p.client(t, Settings{}, Reply{Text: `{"text":"x"}`})
	req := ask()
	req.Output = &llm.Output{Name: "note", Schema: noteTool.Schema}
	resp, err := client.Complete(t.Context(), req)
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"x"}`, resp.Text)
	asked, err := server.Asked(server.Seen()[0])
	require.NoError(t, err)
	require.True(t, asked.HasSchema)
	require.Positive(t, asked.MaxOutput, "an answer is always bounded")
}

func (p Provider) toolCalls(t *testing.T) {
	calls := []llm.ToolCall{{ID: "call_a", Name: "note", Arguments: `{"text":"ä \"q\""}`},
		{ID: "call_b", Name: "note", Arguments: `{}`}}
	state := ""
	if p.Wire == GenerateContent {
		state = "c2lnbmVk"
	}
	calls[0].State = state
	client, server := p.client(t, Settings{}, Reply{ToolCalls: calls}, Reply{Text: "done"})
	req := &llm.Request{Messages: ask().Messages, Tools: []llm.Tool{noteTool}}
	resp, err := client.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, llm.StopTools, resp.Stop)
	require.Equal(t, calls, resp.ToolCalls)

	req.Messages = append(req.Messages, resp.Message(),
		llm.Message{Role: llm.RoleTool, ToolCallID: "call_a", Text: "1"},
		llm.Message{Role: llm.RoleTool, ToolCallID: "call_b", Text: "2"})
	_, err = client.Complete(t.Context(), req)
	require.NoError(t, err)
	asked, err := server.Asked(server.Seen()[1])
	require.NoError(t, err)
	require.Equal(t, calls, asked.Messages[2].ToolCalls, "what the model called goes back unchanged")
}

func (p Provider) length(t *testing.T) {
	client, _ := p.client(t, Settings{}, Reply{Text: "It was a", Stop: llm.StopLength})
	resp, err := client.Complete(t.Context(), ask())
	require.NoError(t, err)
	require.Equal(t, llm.StopLength, resp.Stop)
	require.Equal(t, "It was a", resp.Text)
}

func (p Provider) refusal(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		client, _ := p.client(t, Settings{}, Reply{Refusal: "I will not.", Usage: llm.Usage{InputTokens: 9}})
		req := ask()
		if streaming {
			req.Stream = func(llm.Chunk) error { return nil }
		}
		_, err := client.Complete(t.Context(), req)
		require.ErrorIs(t, err, llm.ErrRefused)
		var e *llm.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 9, e.Usage.InputTokens, "a refusal costs")
		require.Equal(t, llm.Fatal, e.Class())
	}
}

func (p Provider) stream(t *testing.T) {
	reply := Reply{
		Text: "Good day.", ToolCalls: []llm.ToolCall{{ID: "call_a", Name: "note", Arguments: `{"text":"one"}`},
			{ID: "call_b", Name: "note", Arguments: `{"text":"two"}`}},
		Usage:  llm.Usage{InputTokens: 100, OutputTokens: 20, CacheReadTokens: 30, ReasoningTokens: 5},
		Header: http.Header{"X-Request-Id": {"req_7"}},
	}
	client, _ := p.client(t, Settings{}, reply)
	req := &llm.Request{Messages: ask().Messages, Tools: []llm.Tool{noteTool}}
	whole, err := client.Complete(t.Context(), req)
	require.NoError(t, err)

	text, arguments, pieces := "", "", 0
	req.Stream = func(c llm.Chunk) error {
		pieces++
		text += c.Text
		if c.Arguments != "" {
			require.Equal(t, "note", c.Tool)
		}
		arguments += c.Arguments
		return nil
	}
	streamed, err := client.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, whole, streamed)
	require.Equal(t, reply.Text, text)
	require.JSONEq(t, `[{"text":"one"},{"text":"two"}]`, "["+strings.ReplaceAll(arguments, "}{", "},{")+"]")
	require.GreaterOrEqual(t, pieces, 4)
}

func (p Provider) streamReader(t *testing.T) {
	client, _ := p.client(t, Settings{}, Reply{Text: "Good day."})
	enough := errors.New("enough")
	req, calls := ask(), 0
	req.Stream = func(llm.Chunk) error { calls++; return enough }
	_, err := client.Complete(t.Context(), req)
	require.Equal(t, enough, err)
	require.Equal(t, 1, calls)
}

func (p Provider) invalid(t *testing.T) {
	client, server := p.client(t, Settings{}, Reply{Text: "x"})
	for _, req := range []*llm.Request{
		{},
		{Messages: []llm.Message{{Role: llm.RoleSystem, Text: "x"}}},
		{Messages: []llm.Message{{Role: "boss", Text: "x"}}},
		{Messages: ask().Messages, ForceTool: "none"},
		{Messages: ask().Messages, Tools: []llm.Tool{{Name: "x", Schema: json.RawMessage("{")}}},
		{Messages: ask().Messages, Tools: []llm.Tool{noteTool}, Output: &llm.Output{Name: "x", Schema: json.RawMessage("{}")}},
	} {
		_, err := client.Complete(t.Context(), req)
		require.ErrorIs(t, err, llm.ErrBadRequest)
	}
	require.Empty(t, server.Seen())
}

func (p Provider) key(t *testing.T) {
	const key = llm.Secret("a-key-like-no-other")
	echo := "Incorrect API key provided: " + string(key) + " (Bearer " + string(key) + ")"
	replies := []Reply{
		{Status: 401, Code: "bad " + string(key), Message: echo}, {Status: 500, Body: echo}, {Body: echo},
		{Status: 200, Body: `{"error":{"message":"` + echo + `","code":"` + string(key) + `"}}`}, {Status: 302, Body: echo, Header: http.Header{"Location": {"/" + string(key)}}},
		{Refusal: echo, Header: http.Header{"X-Request-Id": {"req_1"}}},
	}
	for _, streaming := range []bool{false, true} {
		for i, reply := range replies {
			client, server := p.client(t, Settings{Key: key}, reply)
			req := ask()
			if streaming {
				req.Stream = func(llm.Chunk) error { return nil }
			}
			_, err := client.Complete(t.Context(), req)
			require.Error(t, err, "reply %d", i)
			seen := server.Seen()[0]
			require.NotContains(t, seen.Path+fmt.Sprint(seen.Body), string(key))
			require.Contains(t, fmt.Sprint(seen.Header), string(key), "the key is sent")
			for e := err; e != nil; e = errors.Unwrap(e) {
				require.NotContains(t, shown(e), string(key), "reply %d, streaming %v", i, streaming)
			}
			require.NotContains(t, shown(client), string(key))
		}
	}
	require.NotContains(t, shown(Settings{Key: key}), string(key))
}

// shown returns a value in each form in which programs print values.
func shown(v any) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%v %+v %#v %s", v, v, v, v)
	slog.New(slog.NewJSONHandler(&b, nil)).Info("x", "v", v)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "v", v)
	encoded, _ := json.Marshal(v) //nolint:errchkjson // a value that cannot be encoded prints nothing
	return b.String() + string(encoded)
}

func (p Provider) environment(t *testing.T) {
	for _, name := range p.Env {
		t.Setenv(name, "http://decoy.invalid/decoy")
	}
	client, server := p.client(t, Settings{}, Reply{Text: "x"})
	_, err := client.Complete(t.Context(), ask())
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(server.Seen()), "decoy")
}

func (p Provider) concurrent(t *testing.T) {
	client, server := p.client(t, Settings{}, Reply{Text: "Good day."})
	var wg sync.WaitGroup
	faults := make([]error, 16)
	for i := range faults {
		wg.Go(func() {
			req := ask()
			if i%2 == 0 {
				req.Stream = func(llm.Chunk) error { return nil }
			}
			resp, err := client.Complete(t.Context(), req)
			if err == nil && resp.Text != "Good day." {
				err = fmt.Errorf("the text is %q", resp.Text)
			}
			faults[i] = err
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(faults...))
	require.Len(t, server.Seen(), len(faults))
}
