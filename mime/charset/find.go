package charset

import (
	"cmp"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// charsetOf finds the encoding of bytes with a declared charset; nil if they are UTF-8.
//
// QUIRK: bytes above 127 without a charset, or with ASCII declared, are UTF-8 if they are valid UTF-8, and otherwise
// in the charset that detectCharset finds. So are bytes that are declared as UTF-8 and are mostly something else.
// ISO-2022-JP is often not declared, since it is 7-bit. Samples: charset-undeclared, charset-wrong, charset-escapes.
func charsetOf(b []byte, name string, hints *Finder) (enc encoding.Encoding, problem Problem) {
	var declared encoding.Encoding
	name = charsetName(name)
	switch {
	case isUTF8(name):
		declared = unicode.UTF8
	case !saysNothing(name):
		if declared = lookupCharset(name); declared == nil {
			problem = Unknown
		}
	}
	if declared != nil && declared != unicode.UTF8 {
		return declared, ""
	}
	scan := scanUTF8(b)
	switch {
	case scan.isASCII() && !isISO2022JP(b):
		return nil, problem
	case scan.isUTF8():
		if declared == nil {
			problem = cmp.Or(problem, Broken)
		}
		return nil, problem
	case declared != nil && scan.mostly():
		return declared, Broken
	}
	return lookupCharset(detectCharset(b, hints.named(), "")), cmp.Or(problem, Broken)
}

// bodyCharset is charsetOf for the text of a part, which is long enough to find out that the declaration is wrong.
//
// QUIRK: programs declare the charset of their settings and write another: UTF-8 or Big5 as iso-8859-1, GBK as Big5.
// A text that looks like another charset, and not at all like the declared one, is read as the other. Sample:
// charset-lie.
func bodyCharset(b []byte, name string, hints *Finder) (enc encoding.Encoding, problem Problem) {
	enc, problem = charsetOf(b, name, hints)
	if enc == nil || problem != "" {
		return enc, problem
	}
	scan := scanUTF8(b)
	declared := canonicalCharset(enc)
	_, oneByte := enc.(*charmap.Charmap)
	switch {
	case scan.isASCII():
		return enc, ""
	case scan.isUTF8() && (declared != "" || oneByte) && !keeps(b, declared, scan):
		return nil, Broken
	case declared == "":
		return enc, ""
	}
	if found := detectCharset(b, hints.named(), declared); found != declared {
		return lookupCharset(found), Broken
	}
	return enc, ""
}

// keeps reports whether a text that could be UTF-8 is in the declared charset: a few characters of Chinese may be both.
func keeps(b []byte, declared string, scan utf8Scan) bool {
	const few = 4
	if declared == "" || declared == western || scan.valid >= enoughBytes {
		return false
	}
	mark := markOf(b, declared)
	return mark >= goodEnough || mark >= 0 && scan.valid == len(b) && scan.valid <= few
}

// A utf8Scan counts the bytes beyond ASCII.
type utf8Scan struct {
	valid  int // bytes of valid UTF-8 characters
	broken int // other bytes
}

func scanUTF8(b []byte) (s utf8Scan) {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			s.broken++
		} else {
			s.valid += size
		}
		i += size
	}
	return s
}

func (s utf8Scan) isASCII() bool { return s == utf8Scan{} }

// isUTF8 reports whether the whole text is UTF-8. mostly reports whether it is UTF-8 with some broken bytes. In other
// charsets UTF-8 sequences occur by accident: a quarter of the bytes in Thai, and fewer elsewhere.
func (s utf8Scan) isUTF8() bool { return s.valid > 0 && s.broken == 0 }
func (s utf8Scan) mostly() bool { return s.valid > 0 && s.valid >= s.broken }
