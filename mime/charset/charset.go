package charset

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// A Charset is a way to read bytes as text. The zero Charset is for text that is valid UTF-8 already.
type Charset struct {
	enc    encoding.Encoding
	isUTF7 bool // then enc is nil: UTF-7 is no encoding of x/text
}

// Western is the charset of a text for which nothing else is likely.
var Western = Charset{enc: charmap.Windows1252}

// MaxName bounds the length of a name.
const MaxName = 64

// Lookup returns the charset of a name; ok is false for an unknown name, and for UTF-7.
func Lookup(name string) (c Charset, ok bool) {
	enc := lookupCharset(charsetName(name))
	return Charset{enc: enc}, enc != nil
}

// IsUTF8 reports whether the charset is UTF-8.
func (c Charset) IsUTF8() bool { return !c.isUTF7 && (c.enc == nil || c.enc == unicode.UTF8) }

// Decode returns bytes in the charset as UTF-8. It replaces what is invalid by U+FFFD.
func (c Charset) Decode(b []byte) string {
	if c.isUTF7 {
		return decodeUTF7(b)
	}
	return transcode(b, c.enc, false)
}

// Text is Decode for the text of a part: lines end in LF, and a byte order mark is left out.
func (c Charset) Text(b []byte) string {
	if c.isUTF7 {
		return c.lines(b)
	}
	return transcode(b, c.enc, true)
}

// Pour is Text in small pieces, so that a large text is in memory only once.
func (c Charset) Pour(b []byte, write func([]byte)) {
	if c.isUTF7 {
		write([]byte(c.lines(b)))
		return
	}
	pour(b, c.enc, true, write)
}

func (c Charset) lines(b []byte) string {
	return strings.ReplaceAll(strings.TrimPrefix(c.Decode(b), "\uFEFF"), "\r\n", "\n")
}

// Decode returns bytes in the named charset as UTF-8. The problem is empty if they are valid in it.
func Decode(b []byte, name string) (text string, problem Problem) {
	if isUTF7(name) {
		return decodeUTF7(b), problemOfUTF7(b)
	}
	enc, problem := charsetOf(b, name, nil)
	return transcode(b, enc, false), problem
}

// A Problem is a fault of a text or of its declaration. The empty Problem means that there is none.
type Problem string

// The problems.
const (
	// Unknown: the charset is unknown; the text is read as UTF-8, or in the likeliest charset.
	Unknown Problem = "charset_unknown"
	// Broken: the text is not in its declared charset, or has bytes above 127 and declares none; it is read as UTF-8, or
	// in the likeliest charset, which is Windows-1252 if nothing else is likely.
	Broken Problem = "charset_broken"
)

// QUIRK: names that mail uses and that the WHATWG index, which browsers use, does not know or defines otherwise. A
// subset is read as its superset, as mail clients do: text labelled GB 2312 is often GBK or GB 18030. Sample:
// charset-gbk.
var charsetAliases = map[string]encoding.Encoding{
	"gb2312": simplifiedchinese.GB18030, "gb_2312-80": simplifiedchinese.GB18030, "gbk": simplifiedchinese.GB18030,
	"euc-cn": simplifiedchinese.GB18030, "cp936": simplifiedchinese.GB18030, "x-gbk": simplifiedchinese.GB18030, "hz-gb-2312": simplifiedchinese.HZGB2312,
	"cp932": japanese.ShiftJIS, "x-sjis-jp": japanese.ShiftJIS, "iso-2022-jp-1": japanese.ISO2022JP,
	"iso-2022-jp-2": japanese.ISO2022JP, "iso-2022-jp-ms": japanese.ISO2022JP, "cp50220": japanese.ISO2022JP,
	"cp949": korean.EUCKR, "x-windows-949": korean.EUCKR, "ms949": korean.EUCKR, "uhc": korean.EUCKR,
	"cp950": traditionalchinese.Big5, "mac-roman": charmap.Macintosh,
	"cp850": charmap.CodePage850, "cp437": charmap.CodePage437, "cp858": charmap.CodePage858,
	"ansi_x3.110-1983": charmap.Windows1252, "iso-8859-8-i": charmap.ISO8859_8, "latin-1": charmap.Windows1252,
	"latin9": charmap.ISO8859_15, "cp874": charmap.Windows874, "hz": simplifiedchinese.HZGB2312,
	"maccyrillic": charmap.MacintoshCyrillic, "utf8mb4": unicode.UTF8, "cp65001": unicode.UTF8,
	"iso-2022-kr": iso2022KR{korean.EUCKR}, "csiso2022kr": iso2022KR{korean.EUCKR},
	"iso2022kr": iso2022KR{korean.EUCKR},
	"utf-16":    unicode.UTF16(unicode.BigEndian, unicode.UseBOM), // RFC 2781, section 4.3
	"utf-32":    utf32.UTF32(utf32.BigEndian, utf32.UseBOM),
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
	if usual := usualName(name); usual != name {
		return lookupCharset(usual)
	}
	return nil
}

var separators = strings.NewReplacer("-", "", "_", "", " ", "", ":", "")

// usualName returns a name with the separators that charsets of its family have.
//
// QUIRK: "cp-850", "iso8859_15", "windows 1252" and "utf7" occur.
func usualName(name string) string {
	plain := separators.Replace(name)
	if usual, known := plainNames()[plain]; known {
		return usual
	}
	for _, family := range []struct{ plain, usual string }{{"iso8859", "iso-8859-"}, {"8859", "iso-8859-"},
		{"windows", "windows-"}, {"win", "windows-"}, {"cp", "cp"}, {"koi8", "koi8-"}, {"euc", "euc-"},
		{"isolatin", "latin"}} {
		if rest, found := strings.CutPrefix(plain, family.plain); found && rest != "" {
			return family.usual + rest
		}
	}
	return plain
}

// plainNames has the names of no such family by their forms without separators.
var plainNames = sync.OnceValue(func() map[string]string {
	names := slices.AppendSeq([]string{
		"utf-16le", "utf-16be", "utf-32le", "utf-32be", "us-ascii", "shift_jis", "iso-2022-jp", "big5-hkscs",
		"ks_c_5601-1987", "ks_c_5601-1989", "tis-620", "x-mac-cyrillic", "x-mac-roman", "x-euc-jp",
	}, maps.Keys(charsetAliases))
	slices.Sort(names)
	plain := make(map[string]string, len(names))
	for _, name := range names {
		plain[separators.Replace(name)] = name
	}
	return plain
})

// charsetName returns the form in which charset names are compared.
//
// QUIRK: "charset=charset=utf-8", "win-1251" and "iso-utf-8" occur. Sample: charset-names.
func charsetName(name string) string {
	name = strings.ToLower(strings.Trim(name, " \t\"';"))
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
	plain := separators.Replace(name)
	return plain == "utf8" || plain == "unicode11utf8"
}

func isUTF7(name string) bool {
	switch separators.Replace(charsetName(name)) {
	case "utf7", "unicode11utf7", "xunicode20utf7":
		return true
	default:
		return false
	}
}
