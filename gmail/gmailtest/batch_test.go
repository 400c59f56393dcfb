package gmailtest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// A batchAnswer is one answer within that to a batch.
type batchAnswer struct {
	status int
	text   string
}

// postBatch sends parts, each a Content-ID and an HTTP request, and returns the answers by their Content-IDs.
func postBatch(t *testing.T, server *gmailtest.Server, header http.Header, parts ...[2]string) (status int,
	answers map[string]batchAnswer) {
	t.Helper()
	var body strings.Builder
	for _, part := range parts {
		fmt.Fprintf(&body, "--b\r\nContent-Type: application/http\r\nContent-ID: %s\r\n\r\n%s\r\n", part[0], part[1])
	}
	body.WriteString("--b--\r\n")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"batch/gmail/v1",
		strings.NewReader(body.String()))
	require.NoError(t, err)
	request.Header = header.Clone()
	request.Header.Set("Content-Type", "multipart/mixed; boundary=b")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	_, params, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	require.NoError(t, err)
	answers = map[string]batchAnswer{}
	reader := multipart.NewReader(response.Body, params["boundary"])
	for {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return response.StatusCode, answers
		}
		require.NoError(t, err)
		require.Equal(t, "application/http", part.Header.Get("Content-Type"))
		answer, err := http.ReadResponse(bufio.NewReader(part), nil)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		answers[part.Header.Get("Content-ID")] = batchAnswer{answer.StatusCode, string(text)}
	}
}

func TestBatch(t *testing.T) {
	server, users := serve(t, letters(2))
	another(t, server, "ann@example.com")
	id := find(t, users, "0@example.com")
	units := server.Units()
	server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Status: 429})
	status, answers := postBatch(t, server, http.Header{"Authorization": {"Bearer gmailtest"}},
		[2]string{"<item1>", "GET /gmail/v1/users/me/profile?prettyPrint=false\r\n"},
		[2]string{"<item2>", "POST /gmail/v1/users/me/messages/" + id +
			"/modify HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n" +
			`{"addLabelIds":["STARRED"]}`},
		[2]string{"<item3>", "GET https://gmail.googleapis.com/gmail/v1/users/me/messages/0123456789abcdef\r\n"},
		[2]string{"<item4>", "DELETE /gmail/v1/users/me/messages/" + id + "\r\nAuthorization: nonsense\r\n\r\n"},
		[2]string{"<item5>", "GET /gmail/v1/users/me/profile\r\nAuthorization: Bearer gmailtest:ann@example.com\r\n"},
		[2]string{"<item6>", "GET /gmail/v1/users/me/labels\r\n\r\n"},
		[2]string{"<item7>", "GET /nonsense\r\n"},
		[2]string{"<item8>", "DELETE /gmail/v1/users/me/messages/" + find(t, users, "1@example.com") + "\r\n"},
	)
	require.Equal(t, 200, status)
	require.Len(t, answers, 8)
	for id, want := range map[string]int{"1": 200, "2": 200, "3": 404, "4": 401, "5": 200, "6": 429, "7": 404, "8": 204} {
		require.Equal(t, want, answers["<response-item"+id+">"].status, id)
	}
	require.Contains(t, answers["<response-item1>"].text, `"emailAddress":"you@example.com"`)
	require.Contains(t, answers["<response-item3>"].text, "Requested entity was not found.")
	require.Contains(t, answers["<response-item5>"].text, `"ann@example.com"`)
	require.Contains(t, labels(t, server, id), "STARRED")
	require.Equal(t, 1+5+20+1+10+5, server.Units()-units, "a call costs what it costs alone, and one search was between")
}

// A batch is one answer: when a call of it is truncated, the batch is.
func TestABatchWhoseAnswerIsTruncated(t *testing.T) {
	server, _ := serve(t, nil)
	server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Truncate: true})
	body := "--b\r\nContent-Type: application/http\r\n\r\nGET /gmail/v1/users/me/labels\r\n\r\n\r\n--b--\r\n"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"batch/gmail/v1",
		strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer any")
	request.Header.Set("Content-Type", "multipart/mixed; boundary=b")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	_, err = io.ReadAll(response.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.True(t, server.Calls()[0].Cut)
}

func TestBatchesThatAreNone(t *testing.T) {
	server, _ := serve(t, nil)
	token := http.Header{"Authorization": {"Bearer gmailtest"}}
	many := make([][2]string, 101)
	for i := range many {
		many[i] = [2]string{fmt.Sprintf("<%d>", i), "GET /gmail/v1/users/me/profile\r\n"}
	}
	status, _ := postBatch(t, server, token, many...)
	require.Equal(t, 400, status)
	require.Empty(t, server.Calls(), "none was done")
	status, answers := postBatch(t, server, token, many[:100]...)
	require.Equal(t, 200, status)
	require.Len(t, answers, 100)
	status, _ = postBatch(t, server, token)
	require.Equal(t, 400, status)
	status, _ = postBatch(t, server, token, [2]string{"<1>", "nonsense\r\n"})
	require.Equal(t, 400, status)
	status, answers = postBatch(t, server, http.Header{}, many[0])
	require.Equal(t, 200, status, "each part is asked for its own token")
	require.Equal(t, 401, answers["<response-0>"].status)
	status, _, _ = ask(t, server, "POST", "/batch", "{}")
	require.Equal(t, 400, status)
	status, _, _ = ask(t, server, "GET", "/batch", "")
	require.Equal(t, 404, status)
}

// A call without a Content-ID is answered without one.
func TestABatchWithoutContentIDs(t *testing.T) {
	server, _ := serve(t, nil)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL()+"batch",
		strings.NewReader("--b\r\nContent-Type: application/http\r\n\r\nGET /gmail/v1/users/me/profile\r\n\r\n--b--\r\n"))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer gmailtest")
	request.Header.Set("Content-Type", "multipart/mixed; boundary=b")
	response, err := noRedirect.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), "HTTP/1.1 200 OK")
	_, answer, _ := strings.Cut(string(text), "HTTP/1.1 ")
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	body, _, _ = strings.Cut(body, "\r\n--")
	require.Contains(t, head, fmt.Sprintf("Content-Length: %d\r\n", len(body)))
	require.NotContains(t, strings.ToLower(string(text)), "content-id")
}
