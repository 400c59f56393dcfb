package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
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

// A BatchCall is one call of a batch.
type BatchCall struct {
	*http.Request
	ContentID string
}

// AnswerID returns the Content-ID of the response: <response-x> answers <x>.
func (c BatchCall) AnswerID() string {
	return "<response-" + strings.TrimPrefix(c.ContentID, "<")
}

// ReadBatch reads the calls of a batch request.
func ReadBatch(r *http.Request, limit int64) ([]BatchCall, error) {
	mediaType, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") || params["boundary"] == "" {
		return nil,
			BadContent("Failed to parse batch request, error: Missing boundary. The Content-Type must be multipart/mixed.")
	}
	parts := multipart.NewReader(http.MaxBytesReader(nil, r.Body, limit), params["boundary"])
	var calls []BatchCall
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, BadContent("Failed to parse batch request, error: " + err.Error())
		}
		if len(calls) == maxBatchCalls {
			return nil, InvalidArgument("The batch request contains too many calls: at most %d", maxBatchCalls)
		}
		call, err := readBatchCall(r, part)
		if err != nil {
			return nil, BadContent(fmt.Sprintf("Failed to parse batch request, error: 0 items. Call %d: %v", len(calls)+1, err))
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return nil, BadContent("Failed to parse batch request, error: 0 items.")
	}
	return calls, nil
}

// inherited are the fields of a batch that apply to its calls, unless they have their own.
var inherited = []string{"Authorization", "X-Goog-User-Project", "User-Agent"}

// readBatchCall reads an HTTP request within a part. It has no HTTP version and no host, and a length only if it has
// a body.
func readBatchCall(outer *http.Request, part *multipart.Part) (BatchCall, error) {
	reader := bufio.NewReader(part)
	line, err := textproto.NewReader(reader).ReadLine()
	if err != nil {
		return BatchCall{}, err
	}
	words := strings.Fields(line)
	if len(words) < 2 {
		return BatchCall{}, fmt.Errorf("%q is no request line such as GET /gmail/v1/users/me/profile", line)
	}
	target, err := url.Parse(words[1])
	if err != nil {
		return BatchCall{}, err
	}
	header, err := textproto.NewReader(reader).ReadMIMEHeader()
	if err != nil && !errors.Is(err, io.EOF) {
		return BatchCall{}, err
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return BatchCall{}, err
	}
	inner := outer.Clone(outer.Context())
	inner.Method, inner.URL, inner.Header = strings.ToUpper(words[0]), target, http.Header(header)
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	for _, name := range inherited {
		if _, there := header[name]; !there {
			header[name] = slices.Clone(outer.Header[name])
		}
	}
	return BatchCall{Request: inner, ContentID: part.Header.Get("Content-ID")}, nil
}
