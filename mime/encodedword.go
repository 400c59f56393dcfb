package mime

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// A word is one encoded-word (RFC 2047, section 2), decoded up to its charset.
type word struct {
	charset string
	b       []byte
	ok      bool
}

// maxCharset bounds the length of a charset name after "=?".
const maxCharset = 64

// cutWord reads the encoded-word at the start of s.
//
// QUIRK: the RFC bounds a word to 75 characters and forbids blanks in it. Real words are longer and contain blanks and question
// marks, so a word ends at the first "?=" after its encoding. Sample: encoded-word-long.
func cutWord(s string) (w word, rest string, found bool) {
	if !strings.HasPrefix(s, "=?") {
		return w, s, false
	}
	name := strings.IndexByte(s[2:min(len(s), 2+maxCharset)], '?')
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

// decodeWords replaces the encoded-words of s by their decoded text. White space between two words belongs to neither (RFC 2047,
// section 6.2).
//
// QUIRK: words are also decoded if they touch other text. The octets of neighbors in one charset are joined before they are
// decoded, since many senders cut characters in two. Sample: encoded-word-cut.
func decodeWords(s string) (text string, ok bool) {
	if !strings.Contains(s, "=?") {
		return s, true
	}
	d := wordDecoder{ok: true}
	d.decode(s)
	return d.out.String(), d.ok
}

// decodeField is decodeWords for a field's value. If a charset other than the declared one was found, raw is the value with words
// in UTF-8 in their place, for splitting; otherwise it is s.
func decodeField(s string, charsets *wordCharsets) (text, raw string, ok bool) {
	if !strings.Contains(s, "=?") {
		return s, s, true
	}
	d := wordDecoder{ok: true, charsets: charsets}
	d.decode(s)
	if !d.mended {
		return d.out.String(), s, d.ok
	}
	rewriter := wordDecoder{charsets: charsets, rewrites: true}
	rewriter.decode(s)
	return d.out.String(), rewriter.out.String(), d.ok
}

// A wordDecoder assembles text and encoded-words.
type wordDecoder struct {
	out strings.Builder
	ok  bool

	charsets *wordCharsets
	mended   bool // a word was not in its declared charset
	rewrites bool // out gets encoded-words

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
		if d.rewrites {
			d.out.WriteByte(' ')
		}
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
	text, problem := d.read()
	if d.rewrites {
		text = "=?utf-8?b?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
	}
	d.out.WriteString(text)
	d.ok = d.ok && problem == ""
	d.inRun, d.run = false, word{}
}

// read decodes the run.
func (d *wordDecoder) read() (text string, problem DefectKind) {
	if isUTF7(d.run.charset) {
		return decodeUTF7(d.run.b)
	}
	enc, problem := d.charsets.of(d.run.b, d.run.charset)
	d.mended = d.mended || problem != ""
	return transcode(d.run.b, enc, false), problem
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
