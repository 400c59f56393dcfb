package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// HTML returns the name of the charset that an HTML text declares in itself; empty if there is none. Browsers do the same before they read (WHATWG HTML, section 13.2.3.2). It does not allocate.
func HTML(b []byte) string {
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

// likelyUTF8 returns the name of UTF-8 if a text, whose end may be cut off, has UTF-8 characters and no other bytes
// beyond ASCII.
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

// metaCharset reads the charset in the attributes of a meta tag: a charset attribute, or one within a content type.
// UTF-16 cannot be right if the tag could be read, and counts as UTF-8, as in browsers.
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
