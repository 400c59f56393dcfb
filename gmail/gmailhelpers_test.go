package gmail

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailapi"
)

const outgoing = "From: you@example.com\r\nTo: ann@example.com\r\nSubject: Tea\r\nMessage-ID: <tea@example.com>\r\n\r\nAt five?\r\n"

// rawAt returns the bytes of a message at Gmail.
func (w *world) rawAt(id string) []byte {
	w.t.Helper()
	m, err := w.client.GetRaw(w.t.Context(), id)
	require.NoError(w.t, err)
	raw, err := m.Bytes()
	require.NoError(w.t, err)
	return raw
}

// hideFromSearch answers a search for a Message-ID as Gmail does before it has indexed the message.
func hideFromSearch(r *http.Request, answer *http.Response) {
	if strings.Contains(r.URL.Query().Get("q"), "rfc822msgid:") {
		setBody(answer, `{"resultSizeEstimate":0}`)
	}
}

// clientOf makes a client of a server that answers every call with the handler.
func clientOf(t *testing.T, handler http.HandlerFunc) *gmailapi.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := gmailapi.NewClient(gmailapi.ClientConfig{HTTPClient: server.Client(), Endpoint: server.URL})
	require.NoError(t, err)
	return c
}
