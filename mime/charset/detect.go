package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// How an undeclared charset is found.
//
// The text is read in each of the charsets below, and each reading gets a mark for its likeness to a text of that
// language. A frequent character is worth +100. An unlikely one costs up to 600: bytes without a meaning, symbols, a
// capital after a small letter, a Thai vowel sign without a consonant. The mark is the mean over all characters
// beyond ASCII. The best reading wins if its mark is good, and better than the mark of the same bytes as a Western
// text, in which such bytes stand alone between ASCII letters. A charset that the message names somewhere else
// (another part, an encoded-word, a meta tag) has an advantage.
//
// The result depends only on the bytes. Detection reads at most MaxSample bytes for each charset, and uses no
// dictionary. The accuracy test has a table of success rates.

// MaxSample is the number of bytes of a sample that are read.
const MaxSample = 4096

const (
	goodEnough = 35 // a mark that a text has in its own charset even when it is odd
	clearly    = 25 // the required lead over the Western reading
	advantage  = 60 // of a charset that is declared, or named elsewhere
	fewBytes   = 4  // beyond ASCII; the minimum for a charset that is not named

	handicap    = 23 // of charsets that are rare
	fewOfRare   = 9  // is fewBytes for them
	enoughBytes = 8  // beyond ASCII; the minimum for rejecting a declaration
	certainly   = 20 // beyond ASCII; below, a declaration has a greater advantage
	shortly     = 20 // that advantage
)

// A candidate is a charset that can be detected.
type candidate struct {
	name string // as lookupCharset knows it
	enc  encoding.Encoding
	mark func(prev, r rune) int // of the character r, given the one before
	rare bool                   // in mail that declares none: it needs more text, and a better mark than the others
}

var candidates = []candidate{
	{"gb18030", simplifiedchinese.GB18030, han(frequentSimplified, false), false},
	{"big5", traditionalchinese.Big5, han(frequentTraditional, false), false},
	{"shift_jis", japanese.ShiftJIS, han(frequentKanji, true), false},
	{"euc-jp", japanese.EUCJP, han(frequentKanji, true), false},
	{"euc-kr", korean.EUCKR, hangul(frequentHangul), false},
	{"windows-1251", charmap.Windows1251, cyrillic, false},
	{"koi8-r", charmap.KOI8R, cyrillic, false},
	{"windows-874", charmap.Windows874, thai, false},
	{"windows-1253", charmap.Windows1253, greek, true},
	{"windows-1255", charmap.Windows1255, hebrew, true},
	{"windows-1256", charmap.Windows1256, arabic, true},
	{"iso-8859-6", charmap.ISO8859_6, arabic, true},
}

const (
	frequent = 100
	usual    = 50
	odd      = -50
	foreign  = -150
	nonsense = -600
)

// western is the charset of a text for which nothing else is likely, as in a browser.
const western = "windows-1252"

// detectCharset finds the charset of a text that is not UTF-8. named are the charsets that the message names
// elsewhere. declared is the charset that the text itself declares, if any; others must be clearly better.
func detectCharset(b []byte, named []string, declared string) string {
	if isISO2022JP(b) {
		return "iso-2022-jp"
	}
	sample := sampleOf(b)
	westernMark, high := markWestern(sample)
	best, bestMark := western, max(goodEnough, westernMark+clearly)
	few := fewBytes
	if declared != "" {
		mark := westernMark
		if declared != western {
			mark = markOf(sample, declared)
		}
		best, bestMark, few = declared, max(goodEnough, mark+advantage), enoughBytes
		if high < certainly {
			bestMark += shortly
		}
		if high >= few && westernMark > bestMark {
			best, bestMark = western, westernMark
		}
	}
	for i := range candidates {
		c := &candidates[i]
		isNamed := slices.Contains(named, c.name)
		if c.name == declared || !isNamed && (high < few || c.rare && high < fewOfRare) {
			continue
		}
		mark := c.markOf(sample)
		if isNamed {
			mark += advantage
		}
		if c.rare {
			mark -= handicap
		}
		if mark > bestMark {
			best, bestMark = c.name, mark
		}
	}
	return best
}

func markOf(sample []byte, name string) int {
	for i := range candidates {
		if candidates[i].name == name {
			return candidates[i].markOf(sample)
		}
	}
	return nonsense
}

// isISO2022JP looks for the escape sequences of RFC 1468, which are 7-bit.
func isISO2022JP(b []byte) bool {
	return bytes.Contains(b, []byte("\x1b$B")) || bytes.Contains(b, []byte("\x1b$@"))
}

// sampleOf returns the first piece of text with characters beyond ASCII, or several such lines.
func sampleOf(b []byte) []byte {
	var sample []byte
	for len(sample) < MaxSample {
		high := bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf })
		if high < 0 {
			break
		}
		start := bytes.LastIndexByte(b[:high], '\n') + 1
		start = max(start, high-80)
		end := len(b)
		if i := bytes.IndexByte(b[high:], '\n'); i >= 0 {
			end = high + i + 1
		}
		end = min(end, start+MaxSample-len(sample))
		sample, b = append(sample, b[start:end]...), b[end:]
	}
	return sample
}

// markOf returns the mean mark of the characters beyond ASCII.
func (c *candidate) markOf(sample []byte) int {
	decoder := c.enc.NewDecoder()
	decoded, _ := decoder.Bytes(sample) // invalid bytes become U+FFFD
	total, n, prev := 0, 0, ' '
	for _, r := range string(decoded) {
		if r >= utf8.RuneSelf {
			total, n = total+c.markRune(prev, r), n+1
		}
		prev = r
	}
	if n == 0 {
		return nonsense
	}
	return total / n
}

func (c *candidate) markRune(prev, r rune) int {
	switch {
	case r == utf8.RuneError || unicode.Is(unicode.Co, r) || unicode.IsControl(r):
		return nonsense
	case strings.ContainsRune("«»“”„‘’–—…•·°№§\u00a0", r):
		return usual / 2
	default:
		return c.mark(prev, r)
	}
}

// han marks Chinese and Japanese.
func han(frequentOnes string, isJapanese bool) func(prev, r rune) int {
	table := setOf(frequentOnes)
	return func(_, r rune) int {
		switch {
		case table[r]:
			return frequent
		case unicode.In(r, unicode.Hiragana, unicode.Katakana) && !isJapanese, r > 0xffff:
			return foreign
		case r >= 0xff61 && r <= 0xff9f: // half width
			return odd
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return frequent
		case r >= 0x3000 && r < 0x3030 || r == 'ー' || r >= 0xff00: // punctuation, full width
			return usual
		case r >= 0x4e00 && r < 0xa000:
			return 0
		default:
			return foreign
		}
	}
}

// hangul marks Korean.
func hangul(frequentOnes string) func(prev, r rune) int {
	table := setOf(frequentOnes)
	return func(_, r rune) int {
		switch {
		case table[r]:
			return frequent
		case unicode.Is(unicode.Hangul, r) && r >= 0xac00:
			return 0
		case r >= 0x3000 && r < 0x3030 || r >= 0xff00:
			return usual / 2
		case unicode.Is(unicode.Han, r):
			return odd
		default:
			return foreign
		}
	}
}

func setOf(s string) map[rune]bool {
	set := make(map[rune]bool, utf8.RuneCountInString(s))
	for _, r := range s {
		set[r] = true
	}
	return set
}

// cyrillic marks Russian. The two charsets have capitals where the other has small letters, so a capital after a
// small letter distinguishes them.
func cyrillic(prev, r rune) int {
	lower := unicode.ToLower(r)
	switch {
	case lower != 'ё' && (lower < 'а' || lower > 'я') || prev < utf8.RuneSelf && unicode.IsLetter(prev):
		return foreign
	case r != lower && isCyrillic(prev) && unicode.IsLower(prev):
		return foreign
	case r != lower && isCyrillic(prev):
		return 0 // words in capitals are rare, and most words are in the other charset
	case lower == 'й' && isCyrillic(prev) && !strings.ContainsRune(cyrillicVowels, unicode.ToLower(prev)),
		lower == 'ъ' && !isCyrillic(prev):
		return odd
	case strings.ContainsRune(frequentCyrillic, lower):
		return frequent
	case strings.ContainsRune(rareCyrillic, lower):
		return 0
	default:
		return usual
	}
}

func isCyrillic(r rune) bool { return r >= 'А' && r <= 'я' }

// thai marks Thai, whose signs have an order: a sign above or below follows its consonant, and a leading vowel
// precedes it.
func thai(prev, r rune) int {
	isConsonant := r >= 'ก' && r <= 'ฮ'
	afterLeading := prev >= 'เ' && prev <= 'ไ'
	switch {
	case r < 'ก' || r > '๎' || afterLeading && !isConsonant:
		return foreign
	case unicode.Is(unicode.Mn, r) || r == 'ะ' || r == 'า' || r == 'ำ':
		carried := prev >= 'ก' && prev <= 'ฮ' || unicode.Is(unicode.Mn, prev) && prev != r
		if !carried {
			return foreign
		}
	}
	switch {
	case strings.ContainsRune(frequentThai, r):
		return frequent
	case strings.ContainsRune(rareThai, r):
		return odd
	default:
		return usual / 2
	}
}

// markWestern returns the mark of a text as windows-1252, and the number of its bytes beyond ASCII.
func markWestern(sample []byte) (mark, high int) {
	text, _ := charmap.Windows1252.NewDecoder().Bytes(sample)
	runes := []rune(string(text))
	total := 0
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	for i, r := range runes {
		if r < utf8.RuneSelf {
			continue
		}
		high++
		total += westernRune(at(i-1), r, at(i+1))
	}
	return total / max(1, high), high
}

func westernRune(prev, r, next rune) int {
	isHigh := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) }
	switch {
	case unicode.IsControl(r):
		return nonsense
	case !unicode.IsLetter(r):
		if prev >= utf8.RuneSelf || next >= utf8.RuneSelf {
			return odd
		}
		return usual
	case isHigh(prev) && isHigh(next):
		return foreign
	case unicode.IsUpper(r) && unicode.IsLower(prev):
		return foreign
	case isHigh(prev) || isHigh(next):
		return 0
	case strings.ContainsRune(frequentWestern, r):
		return frequent
	default:
		return usual
	}
}
