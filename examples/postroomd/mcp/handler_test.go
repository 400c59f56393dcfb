package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
)

// serve serves postroomd with a token for assistants; empty: without.
func (w *world) serve(token string) *httptest.Server {
	w.Helper()
	w.app.Env.Config.MCP = config.MCP{Token: config.Secret(token), Propose: true}
	handler, onClose, err := httpapi.NewHandler(w.app, nil)
	require.NoError(w, err)
	s := httptest.NewServer(handler)
	w.Cleanup(func() { s.Close(); onClose() })
	return s
}

// A bearer adds a token to requests.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func TestAssistantsCallByHTTP(t *testing.T) {
	const token = "a token that nobody can guess, it seems"
	w := newWorld(t, mcp.Caller{Name: "test"}, mail("ann@example.com", "Tea", "At five?", true))
	w.writes("ann@example.com", "")
	s := w.serve(token)
	connect := func(token string) (*sdk.ClientSession, error) {
		return sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
			Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1}, nil)
	}
	session, err := connect(token)
	require.NoError(t, err)
	w.ClientSession = session
	tea := w.find("from:ann")
	require.Len(t, tea, 1)
	var p proposals
	require.NoError(t, w.call("action_propose", args{"messages": tea, "action": "star", "why": "x"}, &p))
	require.Equal(t, "queued", p.Proposals[0].State)
	require.NoError(t, session.Close())
	_, err = connect("another token that is as long as it")
	require.ErrorContains(t, err, "Unauthorized")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader("{}"))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusForbidden, response.StatusCode)
	request.Method, request.Body = http.MethodGet, http.NoBody
	request.Header.Del("Sec-Fetch-Site")
	response, err = http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, "it has nothing to say unasked")
}

// A stored token is an assistant of its own: its scope says whether it proposes, and its session is nobody else's.
func TestAssistantsCallByStoredTokens(t *testing.T) {
	w := newWorld(t, mcp.Caller{Name: "test"}, mail("ann@example.com", "Tea", "At five?", true))
	s := w.serve("a token that nobody can guess, it seems")
	connect := func(name string, scope tokens.Scope, mailboxes ...string) (*sdk.ClientSession, string) {
		secret, err := tokens.New(w.app.DB).Add(t.Context(), tokens.Token{Name: name, Scope: scope, Mailboxes: mailboxes})
		require.NoError(t, err)
		session, err := sdk.NewClient(&sdk.Implementation{Name: name}, nil).Connect(t.Context(),
			&sdk.StreamableClientTransport{Endpoint: s.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer(secret)},
				MaxRetries: -1}, nil)
		require.NoError(t, err)
		return session, secret
	}
	offers := func(session *sdk.ClientSession) (names []string) {
		list, err := session.ListTools(t.Context(), nil)
		require.NoError(t, err)
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	reader, _ := connect("reader", tokens.See)
	require.NotContains(t, offers(reader), "action_propose")
	proposer, secret := connect("proposer", tokens.Propose)
	require.Contains(t, offers(proposer), "action_propose")
	w.ClientSession = proposer
	require.Len(t, w.find("from:ann"), 1)
	var callers []string
	require.NoError(t, w.app.DB.Reader().Select(&callers, "SELECT caller FROM assistant_calls"))
	require.Equal(t, []string{"proposer"}, callers)

	stranger, _ := connect("stranger", tokens.See, "eve@example.org")
	w.ClientSession = stranger
	require.ErrorContains(t, w.call("mail_search", args{"query": "tea"}, nil), "must be one of []")
	require.ErrorContains(t, w.call("actions_list", args{}, nil), "must be one of []")
	require.ErrorContains(t, w.call("approvals_list", args{}, nil), "must be one of []")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp",
		strings.NewReader(`{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}`))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+secret)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Session-Id", reader.ID())
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusForbidden, response.StatusCode, "the session of another token")
	for _, session := range []*sdk.ClientSession{reader, proposer, stranger} {
		require.NoError(t, session.Close())
	}
}

func TestAssistantsAreNotServedWithoutAToken(t *testing.T) {
	s := newWorld(t, mcp.Caller{Name: "test"}).serve("")
	response, err := http.Get(s.URL + "/mcp")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}
