package gmailtest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

func FuzzBatch(f *testing.F) {
	f.Add(
		"--b\r\nContent-ID: <1>\r\n\r\nGET /gmail/v1/users/me/profile\r\n\r\n--b\r\n\r\nPOST /x HTTP/1.1\r\nA: b\r\n\r\n{}\r\n--b--\r\n")
	f.Add("--b\r\n\r\nGET http://[::1\r\n--b--")
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/batch", strings.NewReader(body))
		r.Header.Set("Content-Type", "multipart/mixed; boundary=b")
		calls, err := wire.ReadBatch(r, maxRequest)
		if err != nil {
			require.Equal(t, http.StatusBadRequest, wire.AsError(err).Status, err)
			return
		}
		require.NotEmpty(t, calls)
		require.LessOrEqual(t, len(calls), 100)
		for _, call := range calls {
			require.NotNil(t, call.URL)
			_, _ = findRoute(call.Method, call.URL.EscapedPath())
		}
	})
}

// Whatever comes under /upload is a message, or is refused with a reason.
func FuzzUpload(f *testing.F) {
	const related = "multipart/related; boundary=b"
	f.Add("", "message/rfc822", "To: a@example.com\r\n\r\nText")
	f.Add("multipart", related,
		"--b\r\nContent-Type: application/json\r\n\r\n{\"labelIds\": []}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nTo: a\r\n\r\n--b--")
	f.Add("", related, "--b\n\n{}\n--b\nContent-Type: message/rfc822; x\n\ncut")
	f.Add("multipart", related, "--b\r\nno header\r\n--b--")
	f.Add("multipart", "multipart/related", "--\r\n\r\n{}\r\n--\r\n")
	f.Add("media", "text/plain", "x")
	f.Fuzz(func(t *testing.T, uploadType, contentType, body string) {
		r := &request{
			Request: httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)),
			match:   match{route: &route{upload: 1000}}, query: url.Values{"uploadType": {uploadType}},
		}
		r.Header.Set("Content-Type", contentType)
		u, err := r.receive()
		if err != nil {
			require.Contains(t, []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, wire.AsError(err).Status, err)
			return
		}
		require.LessOrEqual(t, len(u.media), 1000)
		require.Contains(t, body, string(u.media))
		require.Contains(t, body, string(u.metadata))
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("max_results=1&$alt=json&labelIds=a&label_ids=b")
	f.Fuzz(func(t *testing.T, raw string) {
		query, err := routeOf(MessagesList).parseQuery(raw)
		if err != nil {
			require.Equal(t, http.StatusBadRequest, wire.AsError(err).Status)
			return
		}
		_, err = url.ParseQuery(query.Encode())
		require.NoError(t, err)
	})
}

// Whatever a message holds, its words are words and its sender can be replaced.
func FuzzMessage(f *testing.F) {
	f.Add([]byte("From: a <a@example.com>\nTo: \"b, c\" <b@example.com>,, d\n\tfolded\nBcc: x\n\n<b>un</b>subscribe"))
	f.Add([]byte("from: x\r\n y\r\nFROM: z\r\n\r\nFrom: body"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		words := rawmail.ReadWords(rawmail.Parse(raw))
		for _, list := range words.Fields {
			for _, word := range list {
				require.NotContains(t, word, " ")
				require.NotContains(t, word, `"`)
			}
		}
		kept := withoutField(raw, "From")
		require.LessOrEqual(t, len(kept), len(raw))
		header, body := rawmail.Split(raw)
		after, rest := rawmail.Split(kept)
		if len(header) > 0 && header.Get("From") == "" && len(kept) == len(raw) {
			require.Equal(t, string(body), string(rest))
			require.Equal(t, header, after)
		}
	})
}
