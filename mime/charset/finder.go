package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// A Finder finds the charsets of the texts of one message. It knows the charsets that the message names anywhere: in
// the type of another part, in an encoded-word, or in the meta tag of a part that is not encoded. A program that omits
// the charset of one part has probably named it in another. A nil Finder knows none. It is not safe for concurrent use.
//
// QUIRK: a text without a charset, next to one that has it. Sample: charset-elsewhere.
type Finder struct {
	raw     []byte
	scanned bool
	names   []string
	lent    int
}

// NewFinder returns a Finder for a raw message, which it reads when a charset is in doubt.
func NewFinder(raw []byte) *Finder { return &Finder{raw: raw} }

// Find returns the charset of a text that declares a charset by name, or none. It returns another if the text cannot
// be in the declared one, with a problem.
func (h *Finder) Find(b []byte, name string) (Charset, Problem) {
	if isUTF7(name) {
		return Charset{isUTF7: true}, problemOfUTF7(b)
	}
	enc, problem := bodyCharset(b, name, h)
	return Charset{enc: enc}, problem
}

// Likeliest returns the likeliest charset of text that is not UTF-8: a sample from a header section, and the body
// behind it, which may be nil. If no charset is likely, it is Windows-1252, and ok is false.
func (h *Finder) Likeliest(sample, body []byte) (c Charset, ok bool) {
	found := detectCharset(append(sample, h.lend(body)...), h.named(), "")
	return Charset{enc: lookupCharset(found)}, found != western
}

// Words find the charsets of the encoded-words of one header section. Nil Words use only the word itself.
type Words struct {
	Finder *Finder
	// Like returns the charset that the section's words and the body seem to be in where they are not UTF-8, if one is
	// likely.
	Like func() (c Charset, ok bool)
}

// Find is [Finder.Find] for a word. A word that is too short to judge is in the charset of the others.
func (w *Words) Find(b []byte, name string) (Charset, Problem) {
	if w == nil {
		return (*Finder)(nil).Find(b, name)
	}
	c, problem := w.Finder.Find(b, name)
	if problem != "" && len(b) < enoughBytes && canonicalCharset(c.enc) == western {
		if like, ok := w.Like(); ok {
			return like, problem
		}
	}
	return c, problem
}

// maxLent bounds the header sections of a message that may use the following text as a sample: reading a sample costs
// as much as a large text.
const maxLent = 50

// lend returns a sample of the text after a header section; nothing of UTF-8, which does not show a charset.
func (h *Finder) lend(body []byte) []byte {
	body = body[:min(len(body), MaxSample)]
	if h == nil || h.lent >= maxLent || utf8.Valid(body) {
		return nil
	}
	h.lent++
	return body
}

// named returns the candidates that the message names. The first call searches the message.
func (h *Finder) named() []string {
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
			h.add(bytes.Trim(rest[:min(len(rest), MaxName)], "\"' \t"))
		case bytes.HasPrefix(rest, []byte{'?'}):
			h.add(rest[1:min(len(rest), MaxName)])
		}
	}
}

func (h *Finder) list() []string {
	if h == nil {
		return nil
	}
	return h.names
}

// add adds the name at the start of b.
func (h *Finder) add(b []byte) {
	end := bytes.IndexFunc(b, func(r rune) bool { return !isNameRune(r) })
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

// isNameRune reports whether a character may be in the name of a charset: those of a token (RFC 2045, section 5.1).
func isNameRune(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune("()<>@,;:\\\"/[]?=", r)
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
