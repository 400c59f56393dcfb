package mime

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLine  = 998 // bytes in a line without its CRLF (RFC 5322, section 2.1.1)
	softLine = 76  // where lines are folded if they can be
	maxToken = 900 // text without a blank, so that it fits into a line after a field name of 70
	wordText = 60  // maximum encoded text in one encoded-word or parameter section, so that it stays below 76
	wordLess = 20  // minimum encoded text in one encoded-word
	wordMore = len("=?utf-8?q??=")
)

// wordRoom returns the room for encoded text in the first encoded-word of a field, so that the word fits after the
// field's name: no line with an encoded-word is longer than 76 (RFC 2047, section 2). After a long name the line is
// folded.
func wordRoom(name string) int {
	room := softLine - len(name) - len(": ") - wordMore - len(",")
	if room < wordLess {
		return wordText
	}
	return min(room, wordText)
}

// fold writes a header field. It folds lines before blanks, which unfolding leaves unchanged. value must not have
// more than maxToken bytes between two blanks.
func fold(name, value string) []byte {
	out := []byte(name + ":")
	line := len(out)
	empty := line // the beginning of a line before any of the value
	for chunk := " " + value; chunk != ""; {
		end := len(chunk) - len(strings.TrimLeft(chunk, " "))
		if i := strings.IndexByte(chunk[end:], ' '); i >= 0 {
			end += i
		} else {
			end = len(chunk)
		}
		if line+end > softLine && (line > empty || strings.HasPrefix(chunk, " =?")) {
			out = append(out, "\r\n"...)
			line, empty = 0, 0
		}
		out = append(out, chunk[:end]...)
		line += end
		chunk = chunk[end:]
	}
	return append(out, "\r\n"...)
}

// encodeText returns a text as an unstructured field has it: unchanged, or in encoded-words.
func encodeText(s string, room int) string {
	if isPlain(s) {
		return s
	}
	return encodeWords(s, room)
}

// isPlain reports whether a text can stand in a header unchanged and be read back: it is printable ASCII that does
// not look like an encoded-word, has no blanks at its ends, and has blanks close enough for folding.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	if strings.Contains(s, "=?") || strings.Trim(s, " ") != s {
		return false
	}
	for word := range strings.SplitSeq(s, " ") {
		if len(word) > maxToken {
			return false
		}
	}
	return true
}

// encodeWords encodes all of a text as encoded-words (RFC 2047), in the shorter of the two encodings, and never cuts
// a character. room bounds the encoded text in one encoded-word. A word of the text is cut only if it is too long for
// one: many programs show a blank where two encoded-words meet.
func encodeWords(s string, room int) string {
	q, b := 0, (len(s)+2)/3*4
	for i := range len(s) {
		q += len(qByte(s[i]))
	}
	encode, form := qText, "=?utf-8?q?%s?="
	if b < q {
		encode, form = func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }, "=?utf-8?b?%s?="
	}
	var words []string
	for s != "" {
		n := 0
		for n < len(s) {
			_, size := utf8.DecodeRuneInString(s[n:])
			if n > 0 && len(encode(s[:n+size])) > room {
				break
			}
			n += size
		}
		if blank := strings.LastIndexByte(s[:n], ' ') + 1; n < len(s) && strings.Trim(s[:blank], " ") != "" {
			n = blank
		}
		words = append(words, fmt.Sprintf(form, encode(s[:n])))
		s = s[n:]
	}
	return strings.Join(words, " ")
}

func qText(s string) string {
	var out strings.Builder
	for i := range len(s) {
		out.WriteString(qByte(s[i]))
	}
	return out.String()
}

// qByte encodes one byte for a display name, the strictest place (RFC 2047, section 5).
func qByte(c byte) string {
	switch {
	case c == ' ':
		return "_"
	case 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("!*+-/", c) >= 0:
		return string(rune(c))
	default:
		return fmt.Sprintf("=%02X", c)
	}
}

// encodePhrase returns a display name as a phrase of atoms, a quoted-string, or encoded-words.
func encodePhrase(name string, room int) string {
	if !isPlain(name) || len(name) > maxToken/2 { // quoting may double it
		return encodeWords(name, room)
	}
	for word := range strings.SplitSeq(name, " ") {
		if !isDotAtom(word) || strings.Contains(word, ".") {
			return quote(name)
		}
	}
	return name
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// encodeParam returns a parameter as name="value", or as the sections of RFC 2231, separated by semicolons and blanks.
func encodeParam(name, value string) string {
	if isPlain(value) && len(value) <= wordText {
		return name + "=" + quote(value)
	}
	var sections []string
	section := ""
	for _, r := range value {
		encoded := percent(r)
		if len(section)+len(encoded) > wordText {
			sections, section = append(sections, section), ""
		}
		section += encoded
	}
	sections = append(sections, section)
	if len(sections) == 1 {
		return name + "*=utf-8''" + section
	}
	for i, section := range sections {
		charset := ""
		if i == 0 {
			charset = "utf-8''"
		}
		sections[i] = fmt.Sprintf("%s*%d*=%s%s", name, i, charset, section)
	}
	return strings.Join(sections, "; ")
}

// percent encodes a character for RFC 2231, section 7. Only characters that are tokens everywhere are not encoded.
func percent(r rune) string {
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '-' || r == '_') {
		return string(r)
	}
	var out strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&out, "%%%02X", c)
	}
	return out.String()
}
