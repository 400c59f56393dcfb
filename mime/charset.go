package mime

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// QUIRK: names that mail uses and that the WHATWG index, which browsers use, does not know or defines otherwise. A subset is read
// as its superset, as mail clients do: text labelled GB 2312 is often GBK or GB 18030. Sample: charset-gbk.
var charsetAliases = map[string]encoding.Encoding{
	"gb2312": simplifiedchinese.GB18030, "gb_2312-80": simplifiedchinese.GB18030, "gbk": simplifiedchinese.GB18030,
	"cp936": simplifiedchinese.GB18030, "x-gbk": simplifiedchinese.GB18030, "hz-gb-2312": simplifiedchinese.HZGB2312,
	"cp932": japanese.ShiftJIS, "x-sjis-jp": japanese.ShiftJIS, "iso-2022-jp-1": japanese.ISO2022JP,
	"iso-2022-jp-2": japanese.ISO2022JP, "iso-2022-jp-ms": japanese.ISO2022JP, "cp50220": japanese.ISO2022JP,
	"cp949": korean.EUCKR, "x-windows-949": korean.EUCKR, "ms949": korean.EUCKR, "uhc": korean.EUCKR,
	"cp850": charmap.CodePage850, "cp437": charmap.CodePage437, "cp858": charmap.CodePage858,
	"ansi_x3.110-1983": charmap.Windows1252, "iso-8859-8-i": charmap.ISO8859_8, "latin-1": charmap.Windows1252,
	"utf-16": unicode.UTF16(unicode.BigEndian, unicode.UseBOM), // RFC 2781, section 4.3
	"utf-32": utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
}

// lookupCharset finds the encoding of a charset name; nil if it is unknown.
func lookupCharset(name string) encoding.Encoding {
	if isUTF8(name) {
		return unicode.UTF8
	}
	if enc, ok := charsetAliases[name]; ok {
		return enc
	}
	// The index maps encodings that are dangerous in a browser to "replacement", which decodes to nothing.
	if enc, err := htmlindex.Get(name); err == nil && enc != encoding.Replacement {
		return enc
	}
	if enc, err := ianaindex.IANA.Encoding(name); err == nil {
		return enc // nil for names that are registered and not implemented
	}
	return nil
}

// decodeText converts bytes in the named charset to UTF-8. The problem is empty if the bytes are valid in the charset.
func decodeText(b []byte, name string) (text string, problem DefectKind) {
	if isUTF7(name) {
		return decodeUTF7(b)
	}
	enc, problem := charsetOf(b, name, nil)
	return transcode(b, enc, false), problem
}

// wordCharsets determine the charset of the encoded-words of a header section. A nil wordCharsets uses only the word itself.
type wordCharsets struct {
	hints *charsetHints
	// like is the charset that the section's words and the body seem to be in where they are not UTF-8; empty if none is likely.
	like func() string
}

// of is bodyCharset for a word. A word that is too short to judge is in the charset of the others.
func (c *wordCharsets) of(b []byte, name string) (enc encoding.Encoding, problem DefectKind) {
	if c == nil {
		return bodyCharset(b, name, nil)
	}
	enc, problem = bodyCharset(b, name, c.hints)
	if problem != "" && len(b) < enoughBytes && canonicalCharset(enc) == western {
		if like := c.like(); like != "" {
			return lookupCharset(like), problem
		}
	}
	return enc, problem
}

// charsetOf finds the encoding of bytes with a declared charset; nil if they are UTF-8.
//
// QUIRK: bytes above 127 without a charset, or with ASCII declared, are UTF-8 if they are valid UTF-8, and otherwise in the
// charset that detectCharset finds. So are bytes that are declared as UTF-8 and are mostly something else. ISO-2022-JP is often
// not declared, since it is 7-bit. Samples: charset-undeclared, charset-wrong, charset-escapes.
func charsetOf(b []byte, name string, hints *charsetHints) (enc encoding.Encoding, problem DefectKind) {
	var declared encoding.Encoding
	name = charsetName(name)
	switch {
	case isUTF8(name):
		declared = unicode.UTF8
	case !saysNothing(name):
		if declared = lookupCharset(name); declared == nil {
			problem = CharsetUnknown
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
			problem = cmp.Or(problem, CharsetBroken)
		}
		return nil, problem
	case declared != nil && scan.mostly():
		return declared, CharsetBroken
	}
	return lookupCharset(detectCharset(b, hints.named(), "")), cmp.Or(problem, CharsetBroken)
}

// bodyCharset is charsetOf for the text of a part, which is long enough to find out that the declaration is wrong.
//
// QUIRK: programs declare the charset of their settings and write another: UTF-8 or Big5 as iso-8859-1, GBK as Big5. A text that
// looks like another charset, and not at all like the declared one, is read as the other. Sample: charset-lie.
func bodyCharset(b []byte, name string, hints *charsetHints) (enc encoding.Encoding, problem DefectKind) {
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
		return nil, CharsetBroken
	case declared == "":
		return enc, ""
	}
	if found := detectCharset(b, hints.named(), declared); found != declared {
		return lookupCharset(found), CharsetBroken
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

// charsetName returns the form in which charset names are compared.
//
// QUIRK: "charset=charset=utf-8", "win-1251" and "iso-utf-8" occur. Sample: charset-names.
func charsetName(name string) string {
	name = strings.ToLower(strings.Trim(name, " \t\"'"))
	name = strings.TrimPrefix(name, "charset=")
	if number, found := strings.CutPrefix(name, "win-"); found {
		name = "windows-" + number
	}
	return strings.Replace(name, "iso-utf-8", "utf-8", 1)
}

// saysNothing reports whether a charset name is one that programs write if they do not know the charset.
func saysNothing(name string) bool {
	switch name {
	case "", "us-ascii", "ascii", "x-unknown", "unknown-8bit":
		return true
	default:
		return false
	}
}

func isUTF8(name string) bool {
	return name == "utf-8" || name == "utf8" || name == "unicode-1-1-utf-8"
}

func isUTF7(name string) bool {
	switch charsetName(name) {
	case "utf-7", "unicode-1-1-utf-7", "x-unicode-2-0-utf-7":
		return true
	default:
		return false
	}
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

// isUTF8 reports whether the whole text is UTF-8. mostly reports whether it is UTF-8 with some broken bytes. In other charsets
// UTF-8 sequences occur by accident: a quarter of the bytes in Thai, and fewer elsewhere.
func (s utf8Scan) isUTF8() bool { return s.valid > 0 && s.broken == 0 }
func (s utf8Scan) mostly() bool { return s.valid > 0 && s.valid >= s.broken }

// sniffHTML finds the charset that an HTML text declares in itself, for a part that declares none; empty if there is none.
// Browsers do the same before they read (WHATWG HTML, section 13.2.3.2). It does not allocate.
func sniffHTML(b []byte) string {
	const prescan = 1024
	b = b[:min(len(b), prescan)]
	whole := b
	for mark, name := range byteOrderMarks {
		if bytes.HasPrefix(b, []byte(mark)) {
			return name
		}
	}
	for {
		_, rest, found := bytes.Cut(b, []byte{'<'})
		if !found {
			return likelyUTF8(whole)
		}
		b = rest
		switch {
		case bytes.HasPrefix(b, []byte("!--")):
			_, b, _ = bytes.Cut(b, []byte("-->"))
		case len(b) > 4 && strings.EqualFold(string(b[:4]), "meta"):
			var tag []byte
			if tag, b, found = bytes.Cut(b[4:], []byte{'>'}); !found {
				break
			}
			if name := metaCharset(tag); name != "" {
				return name
			}
		}
	}
}

// likelyUTF8 returns the name of UTF-8 if a text, whose end may be cut off, has UTF-8 characters and no other bytes beyond ASCII.
func likelyUTF8(b []byte) string {
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRune(b); r != utf8.RuneError || size != 1 {
			break
		}
		b = b[:len(b)-1]
	}
	if scanUTF8(b).isUTF8() {
		return "utf-8"
	}
	return ""
}

var byteOrderMarks = map[string]string{"\xEF\xBB\xBF": "utf-8", "\xFE\xFF": "utf-16be", "\xFF\xFE": "utf-16le"}

// metaCharset reads the charset in the attributes of a meta tag: a charset attribute, or one within a content type. UTF-16 cannot
// be right if the tag could be read, and counts as UTF-8, as in browsers.
func metaCharset(tag []byte) string {
	for {
		i := indexFold(tag, "charset")
		if i < 0 {
			return ""
		}
		tag = bytes.TrimLeft(tag[i+len("charset"):], " \t\r\n")
		value, found := bytes.CutPrefix(tag, []byte{'='})
		if !found {
			continue
		}
		value = bytes.TrimLeft(value, " \t\r\n\"'")
		if end := bytes.IndexAny(value, " \t\r\n\"';/"); end >= 0 {
			value = value[:end]
		}
		name := charsetName(string(value))
		switch {
		case strings.HasPrefix(name, "utf-16"):
			return "utf-8"
		case lookupCharset(name) != nil:
			return name
		}
	}
}

// indexFold returns the index of a lower-case text in b, in any case; -1 if it does not occur.
func indexFold(b []byte, lower string) int {
	for i := 0; i+len(lower) <= len(b); i++ {
		if b[i]|0x20 == lower[0] && strings.EqualFold(string(b[i:i+len(lower)]), lower) {
			return i
		}
	}
	return -1
}
