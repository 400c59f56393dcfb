package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A Reply is a response as it is sent.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte

	Truncated bool // only the first half is sent
}

// NewReply returns a reply that is written as the request asks for.
func NewReply(status int, contentType string, body []byte) Reply {
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	return Reply{Status: status, Header: header, Body: body}
}

// ReplyTo makes the reply from the result of a handler: a value, nil, a reply, or an error. mask selects the fields
// of a value; nil selects all.
func ReplyTo(query url.Values, mask Mask, answer any, err error) Reply {
	if own, ok := answer.(Reply); ok && err == nil {
		return own
	}
	if err != nil {
		return AsError(err).Reply(query)
	}
	if answer == nil {
		return NewReply(http.StatusNoContent, "", nil)
	}
	text, err := mask.marshal(answer)
	if err != nil {
		return AsError(err).Reply(query)
	}
	return NewReply(http.StatusOK, jsonType, pretty(query, text))
}

const jsonType = "application/json; charset=UTF-8"

// pretty indents JSON, unless the caller sends prettyPrint=false, as client libraries do.
func pretty(query url.Values, text []byte) []byte {
	if wish := query.Get("prettyPrint") + query.Get("$prettyPrint"); wish == "false" || wish == "0" {
		return text
	}
	var lines bytes.Buffer
	if err := json.Indent(&lines, text, "", "  "); err != nil {
		return text
	}
	lines.WriteByte('\n')
	return lines.Bytes()
}

// smallReply is the size in bytes up to which replies are not compressed.
const smallReply = 512

// Send writes the reply, compressed if the client accepts that.
func (p Reply) Send(w http.ResponseWriter, r *http.Request) {
	if len(p.Body) > smallReply && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(p.Body) // writing to a buffer cannot fail
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		p.Body = packed.Bytes()
	}
	w.Header().Set("Cache-Control", "private")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header()["Vary"] = []string{"Origin", "X-Origin", "Referer"}
	p.Write(w)
}

// Write writes the reply uncompressed.
func (p Reply) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.Header)
	if p.Truncated {
		w.Header().Set("Content-Length", strconv.Itoa(len(p.Body)))
		p.Body = p.Body[:len(p.Body)/2]
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(p.Body)
	if p.Truncated {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// WriteJSON answers a request that is not a method of the API.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("{}")
	}
	NewReply(status, jsonType, text).Write(w)
}

// WritePart writes the reply as an HTTP response.
func (p Reply) WritePart(w io.Writer) error {
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", p.Status, http.StatusText(p.Status))
	header := p.Header.Clone()
	header.Set("Content-Length", strconv.Itoa(len(p.Body)))
	if err := header.Write(&head); err != nil {
		return err
	}
	head.WriteString("\r\n")
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	_, err := w.Write(p.Body)
	return err
}
