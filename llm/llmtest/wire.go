package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/postroom-go/postroom/llm"
)

// A Wire is the protocol of a provider.
type Wire string

// The protocols of a [Server].
const (
	ChatCompletions Wire = "chat completions" // POST /chat/completions, as at OpenAI
	Messages        Wire = "messages"         // POST /v1/messages, as at Anthropic
	GenerateContent Wire = "generateContent"  // POST /v1beta/models/{model}:generateContent, as at Gemini
)

// A Reply is the response of a [Server] to a request.
type Reply struct {
	// The answer, whole or as a stream, as requested. Gemini's protocol requires valid JSON in tool calls.
	Text      string
	ToolCalls []llm.ToolCall
	Stop      llm.Stop // default: tools with tool calls, otherwise end
	Usage     llm.Usage

	// Refusal answers with a refusal that has this text.
	Refusal string
	// Status, if not 0, answers with a failure in the form of the protocol: its code and its message.
	Status  int
	Code    string
	Message string
	// Header is added to the answer.
	Header http.Header
	// Body, if not empty, is sent with Status or 200 in place of everything else.
	Body string
	// CutAfter, if above 0, ends a stream after the given number of events, without its end. Fault, if not empty, then
	// sends a failure with this code.
	CutAfter int
	Fault    string
	// Hang sends nothing until the client has gone.
	Hang bool
}

// A Seen is a request as it arrived at a [Server].
type Seen struct {
	Path   string
	Header http.Header
	Body   map[string]any
}

// A Server implements the protocol of a provider, by HTTP on a local address. It follows the providers' published
// descriptions of their APIs; nothing in it was recorded from them.
type Server struct {
	URL  string // with the version in the protocol's base URL
	wire Wire

	answer func(Asked) Reply // nil: the replies in order

	mu      sync.Mutex
	replies []Reply
	seen    []Seen
}

// NewServer starts a server that sends the replies in order, and the last one to all further requests. It ends with the
// test.
func NewServer(t testing.TB, wire Wire, replies ...Reply) *Server {
	return start(t, &Server{wire: wire, replies: replies})
}

// NewServerFunc starts a server that replies by a function of the request, which must be safe for concurrent use. It
// ends with the test.
func NewServerFunc(t testing.TB, wire Wire, answer func(Asked) Reply) *Server {
	return start(t, &Server{wire: wire, answer: answer})
}

func start(t testing.TB, s *Server) *Server {
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	if s.wire == ChatCompletions {
		s.URL += "/v1"
	}
	return s
}

// Seen returns the requests that have arrived, in order.
func (s *Server) Seen() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Seen(nil), s.seen...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	seen := Seen{Path: r.URL.Path, Header: r.Header.Clone()}
	// The body must be read to its end: only then the server notices that the client has gone.
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &seen.Body)
	}
	if err != nil {
		http.Error(w, "not JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.note(seen)
	reply := s.replyTo(seen)
	if reply.Hang {
		<-r.Context().Done()
		return
	}
	maps.Copy(w.Header(), reply.Header)
	switch {
	case reply.Body != "" || reply.Status >= 300:
		s.fail(w, reply)
	case streams(r, seen):
		s.stream(w, reply)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, encode(s.whole(reply)))
	}
}

func (s *Server) note(seen Seen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, seen)
}

func (s *Server) next() Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		return Reply{Status: http.StatusInternalServerError, Message: "no reply is prepared"}
	}
	reply := s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	return reply
}

func (s *Server) replyTo(seen Seen) Reply {
	if s.answer == nil {
		return s.next()
	}
	asked, err := s.Asked(seen)
	if err != nil {
		return Reply{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return s.answer(asked)
}

func streams(r *http.Request, seen Seen) bool {
	return seen.Body["stream"] == true || strings.HasSuffix(r.URL.Path, ":streamGenerateContent")
}

func (s *Server) fail(w http.ResponseWriter, reply Reply) {
	status := reply.Status
	if status == 0 {
		status = http.StatusOK
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	if reply.Body != "" {
		_, _ = fmt.Fprint(w, reply.Body)
		return
	}
	_, _ = fmt.Fprint(w, encode(s.failure(status, reply.Code, reply.Message)))
}

// failure returns a failure in the form of the protocol.
func (s *Server) failure(status int, code, message string) object {
	switch s.wire {
	case Messages:
		return object{"type": "error", "error": object{"type": code, "message": message}}
	case GenerateContent:
		return object{"error": object{"code": status, "message": message, "status": code}}
	default:
		return object{"error": object{"message": message, "type": "error", "param": nil, "code": code}}
	}
}

func (s *Server) whole(reply Reply) object {
	switch s.wire {
	case Messages:
		return messagesWhole(reply)
	case GenerateContent:
		return geminiWhole(reply)
	default:
		return chatWhole(reply)
	}
}

// An event is one of a stream: its name, which only Anthropic gives, and its data.
type event struct {
	name string
	data any
}

func (s *Server) stream(w http.ResponseWriter, reply Reply) {
	var events []event
	switch s.wire {
	case Messages:
		events = messagesEvents(reply)
	case GenerateContent:
		events = geminiEvents(reply)
	default:
		events = chatEvents(reply)
	}
	if reply.CutAfter > 0 {
		events = events[:min(reply.CutAfter, len(events))]
		if reply.Fault != "" {
			events = append(events, event{"error", s.failure(http.StatusServiceUnavailable, reply.Fault, "it broke")})
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		if e.name != "" && s.wire == Messages {
			_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", encode(e.data))
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

type object map[string]any

// encode encodes JSON, and leaves a text unchanged.
func encode(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: the wire is made of plain values: %v", err))
	}
	return string(b)
}

// halves cuts a text in two, so that a stream has pieces.
func halves(text string) []string {
	if len(text) < 2 {
		return []string{text}
	}
	runes := []rune(text)
	return []string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}

// HTTPClient returns an HTTP client whose connections end with the test.
func HTTPClient(t testing.TB) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
