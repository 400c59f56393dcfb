package gmailtest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// A reply is a response as it is sent.
type reply struct {
	status int
	header http.Header
	body   []byte

	truncated bool // only the first half is sent
}

func newReply(status int, contentType string, body []byte) reply {
	header := http.Header{}
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	return reply{status: status, header: header, body: body}
}

// replyTo makes the reply from the result of a handler: a value, nil, a reply, or an error. mask selects the fields of a value;
// nil selects all.
func replyTo(query url.Values, mask mask, answer any, err error) reply {
	if own, ok := answer.(reply); ok && err == nil {
		return own
	}
	if err != nil {
		return asAPIError(err).reply(query)
	}
	if answer == nil {
		return newReply(http.StatusNoContent, "", nil)
	}
	text, err := mask.marshal(answer)
	if err != nil {
		return asAPIError(err).reply(query)
	}
	return newReply(http.StatusOK, jsonType, pretty(query, text))
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

// send writes the reply, compressed if the client accepts that.
func (p reply) send(w http.ResponseWriter, r *http.Request) {
	if len(p.body) > smallReply && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(p.body) // writing to a buffer cannot fail
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		p.body = packed.Bytes()
	}
	w.Header().Set("Cache-Control", "private")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header()["Vary"] = []string{"Origin", "X-Origin", "Referer"}
	p.write(w)
}

// write writes the reply uncompressed.
func (p reply) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.header)
	if p.truncated {
		w.Header().Set("Content-Length", strconv.Itoa(len(p.body)))
		p.body = p.body[:len(p.body)/2]
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(p.body)
	if p.truncated {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// writeJSON answers a request that is not a method of the API.
func writeJSON(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("{}")
	}
	newReply(status, jsonType, text).write(w)
}
