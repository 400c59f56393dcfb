package htmltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Body is the text that a message shows to the person who opens it. Rules, models and people that use it see the
// same mail.
type Body struct {
	// Text is the visible text: that of the HTML, which mail clients prefer, or the plain text if the HTML shows none.
	// Both are without invisible characters.
	Text string
	// FromHTML reports that Text is that of the HTML.
	FromHTML bool
	// Hidden, Doubtful, Alternative, Links and Incomplete describe the part that Text is from; see [Page]. Plain text
	// has no links, and only characters can hide text in it.
	Hidden      []HiddenText
	Doubtful    string
	Alternative []Span
	Links       []Link
	Incomplete  bool

	// Words compares the plain text with that of the HTML. It is zero unless both exist.
	Words BodyWords
}

// BodyWords counts the distinct words of a plain text and of an HTML text that should be equal. Words have at least
// three letters or digits, and case does not matter. Web and email addresses are not words, since HTML hides them
// behind links. Of each text the first 10,000 distinct words count.
type BodyWords struct {
	Both      int // words of both
	OnlyPlain int // words that the HTML does not show
	OnlyHTML  int // words that the plain text lacks
}

// minDifference is the minimum of words in each part: a part may be very short by chance.
const minDifference = 8

// Disagree reports whether the two parts are different messages: most of the words of one part, and at least eight,
// are not in the other. A plain text that only asks for another mail client disagrees, too.
func (w BodyWords) Disagree() bool {
	return w.OnlyHTML >= minDifference && w.OnlyHTML > w.Both || w.OnlyPlain >= minDifference && w.OnlyPlain > w.Both
}

// ReadBody reads the visible text of a message with a plain text and an HTML text. Either may be empty.
func ReadBody(plain, html string) Body {
	text, hidden := readPlain(plain)
	if strings.TrimSpace(html) == "" {
		return Body{Text: text, Hidden: hidden}
	}
	page := Read(html)
	if page.Text == "" && text != "" {
		return Body{Text: text, Hidden: hidden, Words: compareWords(text, "")}
	}
	body := Body{
		Text: page.Text, FromHTML: true, Hidden: page.Hidden, Doubtful: page.Doubtful, Alternative: page.Alternative,
		Links:      page.Links,
		Incomplete: page.Incomplete,
	}
	if text != "" {
		body.Words = compareWords(text, page.Text)
	}
	return body
}

// readPlain removes invisible characters from a plain text.
func readPlain(plain string) (text string, hidden []HiddenText) {
	if isSeenWhole(plain) {
		return strings.TrimSpace(plain), nil
	}
	w := newTextWriter(len(plain))
	w.text(plain, wordKeep)
	if len(w.removed) > 0 {
		hidden = []HiddenText{{Text: string(w.removed), By: HiddenByCharacter}}
	}
	return strings.TrimSpace(w.out.String()), hidden
}

// isSeenWhole reports whether a text has only visible ASCII, and lines that end in LF.
func isSeenWhole(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

const maxWords = 10_000

func compareWords(plain, html string) BodyWords {
	const inPlain, inHTML = 1, 2
	found := make(map[uint64]uint8, 64+min(len(plain)/16, maxWords))
	note := func(text string, in uint8) {
		count := 0
		eachWord(text, func(word uint64) bool {
			if found[word]&in == 0 {
				found[word] |= in
				count++
			}
			return count < maxWords
		})
	}
	note(plain, inPlain)
	note(html, inHTML)
	var w BodyWords
	for _, in := range found {
		switch in {
		case inPlain:
			w.OnlyPlain++
		case inHTML:
			w.OnlyHTML++
		default:
			w.Both++
		}
	}
	return w
}

// eachWord calls f with the hash (FNV-1a) of each word, until f returns false.
func eachWord(text string, f func(word uint64) bool) {
	const offset, prime = 14695981039346656037, 1099511628211
	for text != "" {
		var part string
		part, text = nextWord(text)
		if isAddress(part) {
			continue
		}
		h, letters := uint64(offset), 0
		for i := 0; i <= len(part); {
			r, length := utf8.DecodeRuneInString(part[i:])
			i += max(length, 1)
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				h = (h ^ uint64(unicode.ToLower(r))) * prime
				letters++
				continue
			}
			if letters >= 3 && !f(h) {
				return
			}
			h, letters = offset, 0
		}
	}
}

// isAddress reports whether a part of a text is a web or email address.
func isAddress(part string) bool {
	return strings.Contains(part, "://") || strings.Contains(part, "www.") || strings.IndexByte(part, '@') >= 0
}
