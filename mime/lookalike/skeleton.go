package lookalike

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/postroom-go/postroom/mime/htmltext"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// lookalikes are the letters and digits that look like small Latin letters: those of Cyrillic, Greek, Armenian and
// Latin in the table of confusables of UTS 39 (Unicode security mechanisms, section 4). Letters with accents, wide
// and mathematical ones are decomposed before (NFKD), and the accents removed.
var lookalikes = lookalikePairs(
	"аa еe іi јj оo рp сc уy хx ѕs һh ԁd ԛq ԝw ӏl гr", // Cyrillic
	"αa γy ιi νv οo ρp σo υu",                         // Greek
	"օo սu ոn հh զq ցg աw",                            // Armenian
	"ıi ɑa ɡg ɩi ʋv ƽs łl øo đd ħh",                   // Latin
	"ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz",                            // Latin, small capitals
	"ɓb ƈc ɗd ɖd ɛe ƒf ɠg ǥg ɦh ɨi ɟj ȷj ƙk ɭl ƚl ɱm ɲn ƞn ɵo ƥp ʠq ɽr ɍr ʂs ƭt ʈt ŧt ʉu ⱳw ƴy ɏy ƶz ȥz", // with hooks
	"0o 1l |l", // 1, l and a capital I look alike; see Skeleton
)

func lookalikePairs(lines ...string) map[rune]rune {
	pairs := map[rune]rune{}
	for _, line := range lines {
		for pair := range strings.FieldsSeq(line) {
			letters := []rune(pair)
			pairs[letters[0]] = letters[1]
		}
	}
	return pairs
}

// Skeleton returns a lower-case string that is equal for texts that look alike (UTS 39, section 4). Use it only for
// comparing. An empty text has an empty skeleton.
func Skeleton(text string) string { return skeleton(text, true) }

// skeleton treats i as l if capitals is set, since a capital I looks like l.
func skeleton(text string, capitals bool) string {
	var out strings.Builder
	for _, r := range strings.ToLower(norm.NFKD.String(text)) {
		letter, known := lookalikes[r]
		if known {
			r = letter
		}
		switch {
		case unicode.In(r, unicode.Mn, unicode.Cf):
		case r == 'i' && capitals:
			out.WriteByte('l')
		case r == 'm':
			out.WriteString("rn")
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// LatinText returns a text in lower case, with letters that look like Latin ones replaced by those, with plain
// letters in place of wide and mathematical ones, and without accents and invisible characters. It is for finding
// words that may be disguised: text in another script becomes nonsense. Digits stay.
func LatinText(text string) string {
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); {
		c := text[i]
		if isVisible(rune(c)) {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			out.WriteByte(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case size > 1 && r < lastWestern:
			out.WriteString(western()[r])
		default:
			size = strings.IndexFunc(text[i:], isVisible)
			if size < 0 {
				size = len(text) - i
			}
			out.WriteString(latinLetters(text[i : i+size]))
		}
		i += size
	}
	return out.String()
}

// lastWestern is behind the letters of most languages that are written in Latin ones.
const lastWestern = 0x180

// western has the Latin text of each of those letters.
var western = sync.OnceValue(func() *[lastWestern]string {
	var letters [lastWestern]string
	for r := rune(0x80); r < lastWestern; r++ {
		letters[r] = latinLetters(string(r))
	}
	return &letters
})

// latinLetters is [LatinText] of letters beyond ASCII; accents are letters of their own then.
func latinLetters(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= ' ' && r < 0x7f {
			return r
		}
		letter, known := lookalikes[r]
		switch {
		case known && r >= 0x80:
			return letter
		case unicode.Is(unicode.Mn, r), htmltext.IsInvisible(r):
			return -1
		}
		return r
	}, strings.ToLower(norm.NFKD.String(text)))
}

// isVisible reports whether a character is visible ASCII, a blank, or the end of a line.
func isVisible(r rune) bool { return r >= ' ' && r < 0x7f || r == '\n' || r == '\t' }

// UnicodeDomain returns the domain as people see it, in lower case, with punycode decoded. The argument is a domain
// or an address. A domain that cannot be decoded is returned unchanged.
func UnicodeDomain(domain string) string {
	domain = strings.ToLower(domain[strings.LastIndexByte(domain, '@')+1:])
	if len(domain) <= maxDomainLength {
		if shown, err := idna.ToUnicode(domain); err == nil {
			return shown
		}
	}
	return domain
}

// maxDomainLength is more bytes than the 253 of a domain (RFC 1035, section 2.3.4) have as Unicode. The cost of
// punycode grows with their square.
const maxDomainLength = 1000
