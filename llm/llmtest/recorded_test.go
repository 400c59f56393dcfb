package llmtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/anthropic"
	"github.com/postroom-go/postroom/llm/gemini"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/llm/openai"
)

// recordings is a collection of exchanges with the real providers that is not part of the repository.
const recordings = "../../../shared/corpora/08-llm"

// An exchange is a request and its answer, as somebody else's client recorded them.
type exchange struct {
	asked  []byte
	status int
	header http.Header
	body   []byte
}

// isStream reports whether the answer came in pieces.
func (e *exchange) isStream() bool { return bytes.Contains(e.body, []byte("data:")) }

// serve answers every request as the provider did.
func (e *exchange) serve(t *testing.T) (url string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for name, values := range e.header {
			switch name {
			case "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection":
			default:
				w.Header()[name] = values
			}
		}
		if e.isStream() {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(e.status)
		_, _ = w.Write(e.body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// ask has the client ask what was asked then, as far as the answer goes by it: which tools there were, and whether it was a stream.
func (e *exchange) ask(t *testing.T, client llm.Client) (resp *llm.Response, streamed string, err error) {
	req := question("Hello?")
	req.Tools = e.tools()
	if e.isStream() {
		req.Stream = func(c llm.Chunk) error { streamed += c.Text; return nil }
	}
	resp, err = client.Complete(t.Context(), req)
	return resp, streamed, err
}

// tools are those that were offered, on any wire.
func (e *exchange) tools() (tools []llm.Tool) {
	type named struct{ Name string }
	var asked struct {
		Tools []struct {
			Name                 string
			Function             named
			FunctionDeclarations []named
		}
	}
	_ = json.Unmarshal(e.asked, &asked)
	for _, tool := range asked.Tools {
		for _, n := range append(tool.FunctionDeclarations, named{tool.Name}, tool.Function) {
			if n.Name != "" {
				tools = append(tools, llm.Tool{Name: n.Name, Description: "A tool.", Schema: json.RawMessage(`{"type":"object"}`)})
			}
		}
	}
	return tools
}

// events are the answers of a stream, or the one that there is.
func (e *exchange) events(t *testing.T) (events []json.RawMessage) {
	if !e.isStream() {
		return []json.RawMessage{e.body}
	}
	lines := bufio.NewScanner(bytes.NewReader(e.body))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok && strings.TrimSpace(data) != "[DONE]" {
			events = append(events, json.RawMessage(strings.TrimSpace(data)))
		}
	}
	require.NoError(t, lines.Err())
	return events
}

// requireCorpus skips the test, loudly, when the recordings are not there.
func requireCorpus(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(recordings); err != nil {
		t.Skip("THE PROVIDERS' RECORDED ANSWERS ARE NOT TESTED: " + recordings + " is not there")
	}
}

// traces reads files in which lengths stand before requests and answers.
func traces(t *testing.T, pattern, host string) map[string]*exchange {
	files, err := filepath.Glob(filepath.Join(recordings, pattern))
	require.NoError(t, err)
	found := map[string]*exchange{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		_, rest, _ := bytes.Cut(raw, []byte("\n"))
		for n := 0; len(bytes.TrimSpace(rest)) > 0; n++ {
			var asked, answered int
			line, after, _ := bytes.Cut(rest, []byte("\n"))
			_, err := fmt.Sscan(string(line), &asked, &answered)
			require.NoError(t, err, "%s", file)
			require.GreaterOrEqual(t, len(after), asked+answered, "%s", file)
			request, answer := after[:asked], after[asked:asked+answered]
			rest = after[asked+answered:]
			if bytes.Contains(request, []byte(host)) && !bytes.Contains(request, []byte("/embeddings")) {
				found[fmt.Sprintf("%s %d", filepath.Base(file), n)] = recorded(t, request, answer)
			}
		}
	}
	return found
}

func recorded(t *testing.T, request, answer []byte) *exchange {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, body, ok := bytes.Cut(answer, []byte("\r\n\r\n"))
	if !ok {
		_, body, _ = bytes.Cut(answer, []byte("\n\n"))
	}
	_, asked, ok := bytes.Cut(request, []byte("\r\n\r\n"))
	if !ok {
		_, asked, _ = bytes.Cut(request, []byte("\n\n"))
	}
	return &exchange{asked: asked, status: resp.StatusCode, header: resp.Header, body: body}
}

// cassettes reads the files of Anthropic's SDK, and its streams.
func cassettes(t *testing.T) map[string]*exchange {
	found := map[string]*exchange{}
	files, err := filepath.Glob(filepath.Join(recordings, "anthropic-sdk-go", "*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		var cassette struct {
			Interactions []struct {
				Request  struct{ Body string }
				Response struct {
					Body    string
					Code    int
					Headers map[string][]string
				}
			}
		}
		require.NoError(t, yaml.Unmarshal(raw, &cassette))
		for n, i := range cassette.Interactions {
			found[fmt.Sprintf("%s %d", filepath.Base(file), n)] = &exchange{[]byte(i.Request.Body), i.Response.Code, i.Response.Headers, []byte(i.Response.Body)}
		}
	}
	files, err = filepath.Glob(filepath.Join(recordings, "anthropic-sdk-go", "sse", "*.sse"))
	require.NoError(t, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		found[filepath.Base(file)] = &exchange{status: http.StatusOK, header: http.Header{}, body: raw}
	}
	return found
}

// A said is what an answer says, read by the test alone.
type said struct {
	text          string
	calls         []llm.ToolCall
	end           string
	input, output int
	refusal       bool
}

func replay(t *testing.T, exchanges map[string]*exchange, client func(url string) llm.Client, read func(t *testing.T, e *exchange) said, ends map[string]llm.Stop) {
	require.NotEmpty(t, exchanges)
	t.Logf("%d recorded exchanges", len(exchanges))
	for name, e := range exchanges {
		t.Run(name, func(t *testing.T) {
			resp, streamed, err := e.ask(t, client(e.serve(t)))
			if e.status >= http.StatusBadRequest {
				var failure *llm.Error
				require.ErrorAs(t, err, &failure)
				require.Equal(t, e.status, failure.Status)
				require.Error(t, failure.Reason)
				return
			}
			want := read(t, e)
			if want.refusal {
				require.ErrorIs(t, err, llm.ErrRefused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want.text, resp.Text)
			if e.isStream() {
				require.Equal(t, want.text, streamed)
			}
			require.Len(t, resp.ToolCalls, len(want.calls))
			for i, call := range want.calls {
				require.Equal(t, call.Name, resp.ToolCalls[i].Name)
				require.JSONEq(t, call.Arguments, resp.ToolCalls[i].Arguments)
				if call.ID != "" {
					require.Equal(t, call.ID, resp.ToolCalls[i].ID)
				}
			}
			require.Contains(t, ends, want.end)
			require.Equal(t, ends[want.end], resp.Stop)
			require.Equal(t, want.input, resp.Usage.InputTokens)
			require.Equal(t, want.output, resp.Usage.OutputTokens)
		})
	}
}

func TestRecordedChatCompletions(t *testing.T) {
	requireCorpus(t)
	exchanges := map[string]*exchange{}
	for _, pattern := range []string{"langchaingo/openai/*.httprr", "langchaingo/agents/*.httprr", "langchaingo/chains/*.httprr"} {
		maps.Copy(exchanges, traces(t, pattern, "/chat/completions"))
	}
	client := func(url string) llm.Client {
		c, err := openai.New(openai.Config{Model: "fake", Key: "x", BaseURL: url, HTTPClient: llmtest.HTTPClient(t)})
		require.NoError(t, err)
		return c
	}
	replay(t, exchanges, client, saidByChat, map[string]llm.Stop{"stop": llm.StopEnd, "tool_calls": llm.StopTools, "length": llm.StopLength})
}

func saidByChat(t *testing.T, e *exchange) (s said) {
	type message struct {
		Content   string
		ToolCalls []struct {
			Index    int
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	for _, event := range e.events(t) {
		var answer struct {
			Choices []struct {
				Message, Delta message
				FinishReason   string `json:"finish_reason"`
			}
			Usage struct {
				Input  int `json:"prompt_tokens"`
				Output int `json:"completion_tokens"`
			}
		}
		require.NoError(t, json.Unmarshal(event, &answer))
		s.input, s.output = max(s.input, answer.Usage.Input), max(s.output, answer.Usage.Output)
		for _, c := range answer.Choices {
			s.text += c.Message.Content + c.Delta.Content
			for _, call := range append(c.Message.ToolCalls, c.Delta.ToolCalls...) {
				if call.ID != "" {
					s.calls = append(s.calls, llm.ToolCall{ID: call.ID})
				}
				last := &s.calls[len(s.calls)-1]
				last.Name += call.Function.Name
				last.Arguments += call.Function.Arguments
			}
			if c.FinishReason != "" {
				s.end = c.FinishReason
			}
		}
	}
	return s
}

func TestRecordedMessages(t *testing.T) {
	requireCorpus(t)
	client := func(url string) llm.Client {
		c, err := anthropic.New(anthropic.Config{Model: "fake", Key: "x", BaseURL: url, HTTPClient: llmtest.HTTPClient(t)})
		require.NoError(t, err)
		return c
	}
	replay(t, cassettes(t), client, saidInMessages, map[string]llm.Stop{"end_turn": llm.StopEnd, "tool_use": llm.StopTools, "max_tokens": llm.StopLength})
}

func saidInMessages(t *testing.T, e *exchange) (s said) {
	type usage struct {
		Input, Output int
		Created       int `json:"cache_creation_input_tokens"`
		Read          int `json:"cache_read_input_tokens"`
		In            int `json:"input_tokens"`
		Out           int `json:"output_tokens"`
	}
	type block struct {
		Type, Text, ID, Name string
		Input                json.RawMessage
	}
	take := func(b block) {
		s.text += b.Text
		if b.Type == "tool_use" {
			s.calls = append(s.calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		}
	}
	count := func(u usage) {
		s.input, s.output = max(s.input, u.In+u.Created+u.Read), max(s.output, u.Out)
	}
	for _, event := range e.events(t) {
		var answer struct {
			Type         string
			Content      []block
			StopReason   string `json:"stop_reason"`
			Usage        usage
			Message      struct{ Usage usage }
			ContentBlock block `json:"content_block"`
			Delta        struct {
				Text        string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
		}
		require.NoError(t, json.Unmarshal(event, &answer))
		count(answer.Usage)
		count(answer.Message.Usage)
		for _, b := range append(answer.Content, answer.ContentBlock) {
			if answer.Type == "content_block_start" {
				b.Input = nil // which comes in pieces
			}
			take(b)
		}
		s.text += answer.Delta.Text
		if answer.Delta.PartialJSON != "" {
			s.calls[len(s.calls)-1].Arguments += answer.Delta.PartialJSON
		}
		s.end += answer.StopReason + answer.Delta.StopReason
	}
	s.refusal = s.end == "refusal"
	return s
}

func TestRecordedGenerateContent(t *testing.T) {
	requireCorpus(t)
	exchanges := traces(t, "langchaingo/googleai/*.httprr", "GenerateContent")
	maps.Copy(exchanges, traces(t, "langchaingo/googleai/*.httprr", ":generateContent"))
	for _, e := range exchanges {
		e.body = named(t, e.body)
	}
	client := func(url string) llm.Client {
		c, err := gemini.New(gemini.Config{Model: "fake", Key: "x", BaseURL: url, HTTPClient: llmtest.HTTPClient(t)})
		require.NoError(t, err)
		return c
	}
	replay(t, exchanges, client, saidByGemini, map[string]llm.Stop{"STOP": llm.StopEnd, "MAX_TOKENS": llm.StopLength, "tools": llm.StopTools})
}

// named writes an answer as it comes to who does not ask for numbers in place of names, and pieces as events.
func named(t *testing.T, body []byte) []byte {
	names := map[string][]string{"finishReason": {"FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER"}}
	var rename func(v any)
	rename = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, each := range v {
				rename(each)
			}
		case map[string]any:
			delete(v, "safetyRatings")
			for key, value := range v {
				number, isNumber := value.(float64)
				switch {
				case key == "modality":
					v[key] = "TEXT"
				case isNumber && names[key] != nil:
					v[key] = names[key][int(number)]
				default:
					rename(value)
				}
			}
		}
	}
	var answer any
	if json.Unmarshal(body, &answer) != nil {
		return body
	}
	rename(answer)
	pieces, isStream := answer.([]any)
	if !isStream {
		pieces = []any{answer}
	}
	var out bytes.Buffer
	for _, piece := range pieces {
		encoded, err := json.Marshal(piece)
		require.NoError(t, err)
		if isStream {
			fmt.Fprintf(&out, "data: %s\n\n", encoded)
		} else {
			out.Write(encoded)
		}
	}
	return out.Bytes()
}

func saidByGemini(t *testing.T, e *exchange) (s said) {
	for _, event := range e.events(t) {
		var answer struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text         string
						FunctionCall *struct {
							Name string
							Args json.RawMessage
						}
					}
				}
				FinishReason string
			}
			UsageMetadata struct{ PromptTokenCount, CandidatesTokenCount int }
		}
		require.NoError(t, json.Unmarshal(event, &answer))
		if u := answer.UsageMetadata; u.PromptTokenCount > 0 { // the first ones are estimates
			s.input, s.output = u.PromptTokenCount, u.CandidatesTokenCount
		}
		for _, c := range answer.Candidates {
			for _, part := range c.Content.Parts {
				s.text += part.Text
				if call := part.FunctionCall; call != nil {
					s.calls = append(s.calls, llm.ToolCall{Name: call.Name, Arguments: string(call.Args)})
				}
			}
			if c.FinishReason != "" {
				s.end = c.FinishReason
			}
		}
	}
	if len(s.calls) > 0 {
		s.end = "tools"
	}
	return s
}
