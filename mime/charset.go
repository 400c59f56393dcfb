package mime

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
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

// QUIRK: names that mail uses and the WHATWG index, which browsers read by, does not know or means otherwise. A subset
// is read as its superset, as mail clients do: what is labelled GB 2312 is often GBK or GB 18030. Sample: charset-gbk.
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

// decodeText turns bytes in the named charset into UTF-8. The problem is empty if the bytes are valid in the charset.
func decodeText(b []byte, name string) (text string, problem DefectKind) {
	name = strings.ToLower(strings.Trim(name, " \t\"'"))
	switch name {
	case "", "us-ascii", "ascii", "utf-8", "utf8", "unicode-1-1-utf-8", "x-unknown", "unknown-8bit":
		return decodeUTF8(b, strings.Contains(name, "utf"))
	case "utf-7", "unicode-1-1-utf-7", "x-unicode-2-0-utf-7":
		return decodeUTF7(b)
	}
	enc := lookupCharset(name)
	if enc == nil {
		text, _ = decodeUTF8(b, false)
		return text, CharsetUnknown
	}
	decoded, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		problem = CharsetBroken
	}
	return strings.ToValidUTF8(string(decoded), "\uFFFD"), problem
}

// decodeUTF8 reads ASCII and UTF-8, and tolerates what claims to be one and is not.
//
// QUIRK: bytes above 127 without a charset, or with that of ASCII, are UTF-8 where they are valid UTF-8, and else
// Windows-1252, as in a browser. So are bytes that claim to be UTF-8 and have no single sequence of it. Samples:
// charset-undeclared, charset-wrong.
func decodeUTF8(b []byte, declared bool) (text string, problem DefectKind) {
	ascii, multibyte, valid := scanUTF8(b)
	switch {
	case ascii:
		return string(b), ""
	case valid:
		if !declared {
			problem = CharsetBroken
		}
		return string(b), problem
	case declared && multibyte:
		return strings.ToValidUTF8(string(b), "\uFFFD"), CharsetBroken
	}
	decoded, _ := charmap.Windows1252.NewDecoder().Bytes(b) // has a character for every byte
	return string(decoded), CharsetBroken
}

func scanUTF8(b []byte) (ascii, multibyte, valid bool) {
	ascii, valid = true, true
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			i++
			continue
		}
		ascii = false
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			valid = false
		} else {
			multibyte = true
		}
		i += size
	}
	return ascii, multibyte, valid
}

// sniffHTML finds the charset that an HTML text declares in itself, for a part that does not; empty when there is none.
func sniffHTML(b []byte) string {
	_, name, certain := charset.DetermineEncoding(b, "")
	if !certain && name == "windows-1252" {
		return "" // its answer when it does not know
	}
	return name
}
