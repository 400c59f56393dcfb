package htmltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A textWriter lays out text: it collapses blanks, puts breaks between blocks, and leaves out invisible characters.
type textWriter struct {
	out *strings.Builder
	// expected is the usual maximum length of the text.
	expected int
	begin    int  // start of the text that breaks and blanks are written within
	breaks   int  // line breaks due before the next text
	blank    bool // a blank is due before the next text
	bullet   listMark
	// room is the number of bytes of indents and numbers that may still be written. It is far more than real lists need,
	// and bounds the growth from lists with empty items.
	room int
	// removed collects the invisible characters that were left out.
	removed []byte
}

// A listMark is the mark before an item of a list.
type listMark struct {
	due    bool
	depth  int // lists around the list
	number int // 0 for a dash
}

func newTextWriter(size int) textWriter {
	w := textWriter{out: new(strings.Builder)}
	w.out.Grow(size)
	return w
}

// write appends s. A buffer that is not small grows fourfold, up to the expected length, and by a quarter beyond it:
// smaller steps would cost a large text five times its size.
func (w *textWriter) write(s string) {
	if needed := w.out.Len() + len(s); needed > w.out.Cap() {
		const small = 16 << 10
		size := 4 * w.out.Cap()
		if size < 4*small {
			size /= 2
		}
		switch {
		case needed <= w.expected:
			size = min(size, w.expected)
		case needed <= w.expected+w.expected/4:
			size = w.expected + w.expected/4
		default:
			size /= 2
		}
		grown := new(strings.Builder)
		grown.Grow(max(size, needed, 64))
		grown.WriteString(w.out.String())
		w.out = grown
	}
	w.out.WriteString(s)
}

// written returns the text in a buffer that is hardly larger.
func (w *textWriter) written() string {
	text := w.out.String()
	if w.out.Cap()-len(text) > len(text)/4 {
		return strings.Clone(text)
	}
	return text
}

// text writes the text of one style. keep names the blanks and lines that stay unchanged.
func (w *textWriter) text(s string, keep cssWord) {
	for i := 0; i < len(s); {
		length := plainLength(s[i:])
		if length > 0 {
			w.flush()
			w.write(s[i : i+length])
			i += length
			continue
		}
		i += w.other(s[i:], keep)
	}
}

// plainLength returns the number of leading bytes that are visible ASCII.
func plainLength(s string) int {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

// other writes the first character, which is a blank, a control character or not ASCII. It returns its length.
func (w *textWriter) other(s string, keep cssWord) int {
	switch c := s[0]; {
	case c < utf8.RuneSelf && isSpaceByte(c):
		w.space(s, keep)
		return 1
	case c < ' ' || c == 0x7f:
		return 1 // browsers show nothing or a box
	}
	r, length := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && length == 1:
		for length < len(s) && !utf8.RuneStart(s[length]) {
			length++
		}
		w.flush()
		w.write(string(utf8.RuneError))
	case isWideBlank(r):
		if keep == wordKeep {
			w.flush()
			w.write(" ")
		} else {
			w.blank = true
		}
	case IsInvisible(r) && !w.belongs(r, s[length:]):
		if w.removed == nil {
			w.removed = make([]byte, 0, 128)
		}
		if len(w.removed) < maxRemoved {
			w.removed = appendInvisible(w.removed, r)
		}
	default:
		w.flush()
		w.write(s[:length])
	}
	return length
}

// space writes a blank of ASCII.
func (w *textWriter) space(s string, keep cssWord) {
	isLine := s[0] == '\n' || s[0] == '\r' && !strings.HasPrefix(s, "\r\n")
	switch {
	case s[0] == '\r' && !isLine && keep != wordNone:
	case keep == wordKeep:
		w.flush()
		if isLine {
			w.write("\n")
		} else {
			w.write(s[:1])
		}
	case keep == wordKeepLines && isLine:
		w.lineBreak(w.breaks + 1)
	default:
		w.blank = true
	}
}

// lineBreak makes at least n line breaks due, and never more than an empty line.
func (w *textWriter) lineBreak(n int) {
	w.breaks = max(w.breaks, min(n, 2))
}

// maxIndent bounds the levels of lists that are indented.
const maxIndent = 3

// flush writes the breaks, the blank and the mark that are due.
func (w *textWriter) flush() {
	if w.out.Len() > w.begin {
		if w.breaks > 0 {
			w.write("\n\n"[:w.breaks])
		} else if w.blank {
			w.write(" ")
		}
	}
	if w.bullet.due {
		w.mark()
	}
	w.breaks, w.blank = 0, false
}

// mark writes the mark before an item of a list.
func (w *textWriter) mark() {
	w.bullet.due = false
	if w.room -= 2 * min(w.bullet.depth, maxIndent); w.room > 0 {
		w.write("      "[:2*min(w.bullet.depth, maxIndent)])
	}
	var buffer [8]byte
	mark := buffer[:0]
	if w.bullet.number > 0 {
		mark = append(strconv.AppendInt(mark, int64(w.bullet.number), 10), '.')
	}
	if w.room -= len(mark); len(mark) == 0 || w.room <= 0 {
		mark = append(buffer[:0], '-')
	}
	w.write(string(append(mark, ' ')))
}

// restart begins a text that is independent of the previous one.
func (w *textWriter) restart() {
	w.begin = w.out.Len()
	w.breaks, w.blank, w.bullet.due = 0, false, false
}
