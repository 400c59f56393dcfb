package gmailtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// maxBatchCalls is the maximum number of calls in a batch.
const maxBatchCalls = 100

// isBatch reports whether the request is a batch of calls.
func isBatch(r *http.Request) bool {
	return r.Method == http.MethodPost && (r.URL.Path == "/batch" || strings.HasPrefix(r.URL.Path, "/batch/gmail/"))
}

// batch answers a batch: each call separately, as if it had come alone, in their order. Only a malformed batch is answered as a
// whole.
func (s *Server) batch(r *http.Request) (p wire.Reply, cut bool) {
	calls, err := readBatch(r)
	if err != nil {
		return wire.AsError(err).Reply(r.URL.Query()), false
	}
	var body bytes.Buffer
	truncated := false
	parts := multipart.NewWriter(&body)
	for _, call := range calls {
		answer, cut := s.call(call.Request)
		if cut {
			return wire.Reply{}, true
		}
		truncated = truncated || answer.Truncated
		header := textproto.MIMEHeader{"Content-Type": {"application/http"}}
		if call.contentID != "" {
			header["Content-ID"] = []string{call.answerID()}
		}
		part, err := parts.CreatePart(header)
		if err == nil {
			err = answer.WritePart(part)
		}
		if err != nil {
			return wire.AsError(err).Reply(r.URL.Query()), false
		}
	}
	_ = parts.Close() // writing to a buffer cannot fail
	p = wire.NewReply(http.StatusOK, "multipart/mixed; boundary="+parts.Boundary(), body.Bytes())
	p.Truncated = truncated
	return p, false
}

// A batchCall is one call of a batch.
type batchCall struct {
	*http.Request
	contentID string
}

// answerID returns the Content-ID of the response: <response-x> answers <x>.
func (c batchCall) answerID() string {
	return "<response-" + strings.TrimPrefix(c.contentID, "<")
}

func readBatch(r *http.Request) ([]batchCall, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") || params["boundary"] == "" {
		return nil, badContent("Failed to parse batch request, error: Missing boundary. The Content-Type must be multipart/mixed.")
	}
	parts := multipart.NewReader(http.MaxBytesReader(nil, r.Body, maxRequest), params["boundary"])
	var calls []batchCall
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, badContent("Failed to parse batch request, error: " + err.Error())
		}
		if len(calls) == maxBatchCalls {
			return nil, wire.InvalidArgument("The batch request contains too many calls: at most %d", maxBatchCalls)
		}
		call, err := readBatchCall(r, part)
		if err != nil {
			return nil, badContent(fmt.Sprintf("Failed to parse batch request, error: 0 items. Call %d: %v", len(calls)+1, err))
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return nil, badContent("Failed to parse batch request, error: 0 items.")
	}
	return calls, nil
}

// inherited are the fields of a batch that apply to its calls, unless they have their own.
var inherited = []string{"Authorization", "X-Goog-User-Project", "User-Agent"}

// readBatchCall reads an HTTP request within a part. It has no HTTP version and no host, and a length only if it has a body.
func readBatchCall(outer *http.Request, part *multipart.Part) (batchCall, error) {
	reader := bufio.NewReader(part)
	line, err := textproto.NewReader(reader).ReadLine()
	if err != nil {
		return batchCall{}, err
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return batchCall{}, fmt.Errorf("%q is no request line such as GET /gmail/v1/users/me/profile", line)
	}
	target, err := url.Parse(words[1])
	if err != nil {
		return batchCall{}, err
	}
	header, err := textproto.NewReader(reader).ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) {
		return batchCall{}, err
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return batchCall{}, err
	}
	inner := outer.Clone(outer.Context())
	inner.Method, inner.URL, inner.Header = strings.ToUpper(words[0]), target, http.Header(header)
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	for _, name := range inherited {
		if _, there := header[name]; !there {
			header[name] = slices.Clone(outer.Header[name])
		}
	}
	return batchCall{Request: inner, contentID: part.Header.Get("Content-ID")}, nil
}
