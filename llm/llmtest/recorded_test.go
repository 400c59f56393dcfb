package llmtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/llm"
)

// recordings is a collection of exchanges with the real providers that is not part of the repository.
var recordings = corpora.Path("08-llm")

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

// ask has the client ask what was asked then, as far as the answer goes by it: which tools there were, and whether it
// was a stream.
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
			found[fmt.Sprintf("%s %d", filepath.Base(file), n)] = &exchange{[]byte(i.Request.Body), i.Response.Code,
				i.Response.Headers, []byte(i.Response.Body)}
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

func replay(t *testing.T, exchanges map[string]*exchange, client func(url string) llm.Client,
	read func(t *testing.T, e *exchange) said, ends map[string]llm.Stop) {
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
