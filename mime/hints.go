package mime

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// charsetHints are the charsets that a message names anywhere: in the type of another part, in an encoded-word, or in the meta
// tag of a part that is not encoded. A program that omits the charset of one part has probably named it in another.
//
// QUIRK: a text without a charset, next to one that has it. Sample: charset-elsewhere.
type charsetHints struct {
	raw     []byte
	scanned bool
	names   []string
	lent    int
}

// maxLent bounds the header sections of a message that may use the following text as a sample: reading a sample costs as much as
// a large text.
const maxLent = 50

// lend returns a sample of the text after a header section; nothing of UTF-8, which does not show a charset.
func (h *charsetHints) lend(body []byte) []byte {
	body = body[:min(len(body), maxSample)]
	if h == nil || h.lent >= maxLent || utf8.Valid(body) {
		return nil
	}
	h.lent++
	return body
}

// named returns the candidates that the message names. The first call searches the message.
func (h *charsetHints) named() []string {
	if h == nil || h.scanned {
		return h.list()
	}
	h.scanned = true
	for rest := h.raw; ; {
		i := bytes.IndexByte(rest, '=')
		if i < 0 {
			return h.names
		}
		before := rest[max(0, i-len("charset")):i]
		rest = rest[i+1:]
		switch {
		case bytes.EqualFold(before, []byte("charset")):
			h.add(bytes.Trim(rest[:min(len(rest), maxCharset)], "\"' \t"))
		case bytes.HasPrefix(rest, []byte{'?'}):
			h.add(rest[1:min(len(rest), maxCharset)])
		}
	}
}

func (h *charsetHints) list() []string {
	if h == nil {
		return nil
	}
	return h.names
}

// add adds the name at the start of b.
func (h *charsetHints) add(b []byte) {
	end := bytes.IndexFunc(b, func(r rune) bool { return !isTokenRune(r) && r != '_' })
	if end < 0 {
		end = len(b)
	}
	if end == 0 || len(h.names) == len(candidates) {
		return
	}
	enc := lookupCharset(charsetName(string(b[:end])))
	if name := canonicalCharset(enc); name != "" && !slices.Contains(h.names, name) {
		h.names = append(h.names, name)
	}
}

// canonicalCharset returns the name of an encoding in detectCharset; empty if it is not there.
func canonicalCharset(enc encoding.Encoding) string {
	if enc == nil {
		return ""
	}
	if enc == lookupCharset(western) {
		return western
	}
	for i := range candidates {
		if candidates[i].enc == enc {
			return candidates[i].name
		}
	}
	return ""
}
