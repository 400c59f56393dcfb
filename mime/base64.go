package mime

import (
	"bytes"
	"encoding/base64"
	"slices"
	"unicode"
	"unicode/utf8"
)

// sextets are the values of the letters of base64 (RFC 2045, section 6.8). notBase64 marks other bytes.
var sextets = func() (table [256]byte) {
	for i := range table {
		table[i] = notBase64
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		table[c] = byte(i)
	}
	return table
}()

const notBase64 = 0xff

func isBase64(c byte) bool { return sextets[c] != notBase64 }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// decodeBase64 decodes base64 (RFC 2045, section 6.8). It returns text that is not base64 at all unchanged.
//
// QUIRK: bytes outside the alphabet are skipped (the RFC asks for it), the padding may be missing, and several
// encoded pieces may follow each other. A mailing list's plain footer may stand after the last piece: it is the tail.
// Programs also declare base64 and send plain text. Samples: base64-junk, base64-pieces, base64-footer, base64-not.
// Blanks may stand anywhere, also where they make a line look like words: base64-blanks.
func decodeBase64(b []byte) (content, tail []byte, ok bool) {
	if content, tail, found := decodeSpaced(b); found {
		return content, tail, len(bytes.TrimSpace(tail)) == 0
	}
	const fullLine = 60 // letters: ordinary text has no run of letters this long
	d := base64Decoder{out: make([]byte, 0, len(b)/4*3+3), ok: true}
	letters, end := 0, len(b) // end is the start of the tail
	for at := 0; at < len(b); {
		line := b[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		if end == len(b) {
			if n := d.wholeLine(line); n > 0 {
				letters, at = letters+n, at+len(line)
				continue
			}
		}
		n, isEncoded := base64Letters(line)
		switch {
		case n == 0 && isEncoded: // blank
		case isEncoded && (end == len(b) && (!d.padded || n%4 == 0 || line[0] == '=') || n >= fullLine):
			letters, end = letters+n, len(b) // the apparent tail stands between pieces, and is left out
			d.decode(line)
		default:
			end, d.ok = min(end, at), false
		}
		at += len(line)
	}
	mayBeWord := letters < fullLine && !d.padded && (letters%4 == 1 || letters%4 > 0 && end < len(b))
	d.end()
	if isWord := mayBeWord && (len(d.out) == 0 || !isPlainText(d.out)); letters == 0 || isWord {
		return b, nil, letters == 0 && end == len(b)
	}
	return d.out, b[end:], d.ok
}

// decodeSpaced decodes base64 with blanks within its lines, up to the first line with other bytes, which begins the
// tail. It reports false for lines without such blanks, and for words that make no sense as base64.
func decodeSpaced(b []byte) (content, tail []byte, found bool) {
	spaced, padded, end := false, false, 0
	for line := range bytes.Lines(b) {
		if slices.ContainsFunc(line, func(c byte) bool { return !isBase64(c) && c != '=' && !isBlank(c) }) {
			break
		}
		if padded && len(bytes.Trim(line, "= \t\r\n")) > 0 {
			break // another text
		}
		spaced = spaced || bytes.ContainsAny(line, " \t")
		padded = padded || bytes.IndexByte(line, '=') >= 0
		end += len(line)
	}
	if !spaced {
		return nil, nil, false
	}
	content, whole := decodeLetters(b[:end])
	if !whole || !soundsEncoded(b[:end]) && !isPlainText(content) {
		return nil, nil, false
	}
	return content, b[end:], true
}

// soundsEncoded reports whether text is not written in words: base64 has capitals and digits within its words, and
// pieces of one letter are none.
func soundsEncoded(b []byte) bool {
	const enough = 8
	odd, letters := oddLetters(b)
	return letters >= enough && (odd >= 2 && odd*10 >= letters || len(bytes.Fields(b))*2 > letters)
}

// oddLetters counts the letters of base64, and those that hardly follow the letter before them in a word.
func oddLetters(b []byte) (odd, letters int) {
	previous := byte(' ')
	for _, c := range b {
		if isBase64(c) {
			letters++
			if isLower(previous) && !isLower(c) || isDigit(previous) && !isDigit(c) {
				odd++
			}
		}
		previous = c
	}
	return odd, letters
}

// readsAsWords reports whether text that was declared as base64 was never encoded.
func readsAsWords(b []byte) bool {
	marks := 0
	for _, c := range b {
		isMarkup := c == '<' || c == '>' || c == '"'
		if c < utf8.RuneSelf && !isBlank(c) && !isMarkup && !isBase64(c) {
			marks++
		}
	}
	odd, _ := oddLetters(b)
	return isPlainText(b) && odd*10 < len(b) && marks*4 < len(b)
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isPlainText reports whether bytes are UTF-8 without control characters: the letters of words hardly ever decode to
// such.
func isPlainText(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
	})
}

// decodeLetters decodes base64 and skips other bytes.
func decodeLetters(b []byte) (content []byte, ok bool) {
	d := base64Decoder{out: make([]byte, 0, len(b)/4*3+3), ok: true}
	d.decode(b)
	d.end()
	return d.out, d.ok
}

// A base64Decoder groups letters into quanta of four.
type base64Decoder struct {
	out     []byte
	quantum uint32
	n       int // letters in quantum
	padded  bool
	ok      bool
}

// wholeLine decodes a typical line, which has whole quanta without padding, and returns the number of its letters; 0
// for other lines.
func (d *base64Decoder) wholeLine(line []byte) int {
	line = trimLineBreak(line)
	if len(line) == 0 || len(line)%4 != 0 || line[len(line)-1] == '=' || d.n > 0 || d.padded {
		return 0
	}
	before := len(d.out)
	out, err := base64.StdEncoding.AppendDecode(d.out, line)
	if err != nil {
		d.out = out[:before]
		return 0
	}
	d.out = out
	return len(line)
}

func (d *base64Decoder) decode(b []byte) {
	for _, c := range b {
		switch sextet := sextets[c]; {
		case sextet != notBase64:
			d.letter(sextet)
		case c == '=':
			d.pad()
		case !isBlank(c):
			d.ok = false
		}
	}
}

func (d *base64Decoder) letter(sextet byte) {
	d.ok = d.ok && !d.padded // another piece
	d.padded = false
	d.quantum = d.quantum<<6 | uint32(sextet)
	if d.n++; d.n == 4 {
		d.out = append(d.out, byte(d.quantum>>16), byte(d.quantum>>8), byte(d.quantum))
		d.quantum, d.n = 0, 0
	}
}

func (d *base64Decoder) pad() {
	if d.n == 0 {
		return // the second of two
	}
	d.ok = d.ok && d.n > 1
	d.flush()
	d.padded = true
}

// end ends the last piece, whose padding may be missing.
func (d *base64Decoder) end() {
	d.ok = d.ok && d.n == 0
	d.flush()
}

// flush ends a piece. A lone letter has only six bits and is dropped.
func (d *base64Decoder) flush() {
	switch d.n {
	case 2:
		d.out = append(d.out, byte(d.quantum>>4))
	case 3:
		d.out = append(d.out, byte(d.quantum>>10), byte(d.quantum>>2))
	}
	d.quantum, d.n = 0, 0
}

// base64Letters counts the letters and the padding of a line. It reports whether the line may be base64: nearly all
// of its bytes are letters, and it has no words.
func base64Letters(line []byte) (n int, isEncoded bool) {
	junk, words, inWord := 0, 0, false
	for _, c := range line {
		switch {
		case isBlank(c):
			inWord = false
			continue
		case isBase64(c) || c == '=':
			n++
		default:
			junk++
		}
		if !inWord {
			words++
		}
		inWord = true
	}
	const longWord = 20
	return n, junk*4 <= n && (words <= 1 || n/words >= longWord)
}
