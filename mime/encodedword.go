package mime

import (
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom/mime/charset"
)

// A word is one encoded-word (RFC 2047, section 2), decoded up to its charset.
type word struct {
	charset string
	b       []byte
	ok      bool
}

// cutWord reads the encoded-word at the start of s.
//
// QUIRK: the RFC bounds a word to 75 characters and forbids blanks in it. Real words are longer and contain blanks
// and question marks, so a word ends at the first "?=" after its encoding. Sample: encoded-word-long.
func cutWord(s string) (w word, rest string, found bool) {
	if !strings.HasPrefix(s, "=?") {
		return w, s, false
	}
	name := strings.IndexByte(s[2:min(len(s), 2+charset.MaxName)], '?')
	if name <= 0 || len(s) < name+5 || s[name+4] != '?' || strings.ContainsAny(s[2:2+name], " \t\"<>@") {
		return w, s, false
	}
	if !strings.ContainsRune("bBqQ", rune(s[name+3])) {
		return w, s, false // before the search for its end, which may be far away each time
	}
	text, rest, found := strings.Cut(s[name+5:], "?=")
	if !found {
		return w, s, false
	}
	w.charset, _, _ = strings.Cut(s[2:2+name], "*") // RFC 2231, section 5: a language may follow
	switch s[name+3] {
	case 'b', 'B':
		if strings.ContainsAny(text, "\"<>@,;()") {
			return word{}, s, false // its end belongs to another word, behind the delimiters of a field
		}
		w.b, w.ok = decodeLetters([]byte(text))
	default:
		w.b, w.ok = appendOctets(nil, []byte(strings.ReplaceAll(text, "_", " ")))
	}
	w.ok = w.ok && isASCII(text) && !strings.ContainsAny(text, " ?")
	if !isASCII(text) {
		w.charset = "utf-8" // QUIRK: raw characters in a word; the header is UTF-8 by now. Sample: encoded-word-raw.
	}
	return w, rest, true
}

// decodeWords replaces the encoded-words of s by their decoded text. White space between two words belongs to neither
// (RFC 2047, section 6.2).
//
// QUIRK: words are also decoded if they touch other text. The octets of neighbors in one charset are joined before
// they are decoded, since many senders cut characters in two. Sample: encoded-word-cut.
//
// A value with delimiters, such as a list of addresses, is split before: decoded text may contain any of them, and a
// broken word may end behind some. The charsets are those of the header section; nil uses only the words themselves.
func decodeWords(s string, charsets *charset.Words) (text string, ok bool) {
	if !strings.Contains(s, "=?") {
		return s, true
	}
	d := wordDecoder{ok: true, charsets: charsets}
	d.decode(s)
	return d.out.String(), d.ok
}

// A wordDecoder assembles text and encoded-words.
type wordDecoder struct {
	out strings.Builder
	ok  bool

	charsets *charset.Words

	inRun bool
	run   word // the adjacent words so far, while inRun
}

func (d *wordDecoder) decode(s string) {
	// Nothing after the last "?=" is a word. This keeps the search for a word's end from being repeated in vain.
	for lastEnd := strings.LastIndex(s, "?="); ; {
		i := strings.Index(s, "=?")
		if i < 0 || lastEnd < i {
			break
		}
		w, rest, found := cutWord(s[i:])
		if found {
			d.word(s[:i], w)
		} else {
			rest = s[i+2:]
			d.text(s[:i+2])
		}
		lastEnd -= len(s) - len(rest)
		s = rest
	}
	d.text(s)
}

func (d *wordDecoder) word(before string, w word) {
	if !d.inRun || strings.Trim(before, " \t") != "" {
		d.text(before)
	}
	if d.inRun && !strings.EqualFold(d.run.charset, w.charset) {
		d.flush()
	}
	d.inRun = true
	d.run = word{charset: w.charset, b: append(d.run.b, w.b...)}
	d.ok = d.ok && w.ok
}

func (d *wordDecoder) text(s string) {
	d.flush()
	d.out.WriteString(s)
}

func (d *wordDecoder) flush() {
	if !d.inRun {
		return
	}
	found, problem := d.charsets.Find(d.run.b, d.run.charset)
	d.out.WriteString(found.Decode(d.run.b))
	d.ok = d.ok && problem == ""
	d.inRun, d.run = false, word{}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
