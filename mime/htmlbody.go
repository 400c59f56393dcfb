package mime

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Body is what a message says to the person who opens it. Rules, models and people that go by it go by the same mail.
type Body struct {
	// Text is what the person sees: the text of the HTML, which mail clients prefer, or the plain text when the HTML shows none.
	// Characters that cannot be seen are left out of both.
	Text string
	// FromHTML reports that Text is that of the HTML.
	FromHTML bool
	// Hidden, Doubtful, Alternative, Links and Incomplete are those of the part that Text is from; see [HTMLText]. Plain text has no links, and
	// hides only by characters.
	Hidden      []HiddenText
	Doubtful    string
	Alternative []TextSpan
	Links       []Link
	Incomplete  bool

	// Words compares the plain text with that of the HTML; it is zero unless both are there.
	Words BodyWords
}

// BodyWords counts the different words of a plain text and of an HTML text that should say the same. Words have at least
// three letters or digits; case does not matter; addresses of pages and of people are no words, since HTML hides them behind
// links. Of each text the first 10,000 different words count.
type BodyWords struct {
	Both      int // words of both
	OnlyPlain int // words that the HTML does not show
	OnlyHTML  int // words that the plain text does not hold
}

// minDifference is the number of words that both parts must have, one of which may be very short by chance.
const minDifference = 8

// Disagree reports whether the two parts are different messages: most of the words of one, and at least eight, are not in the
// other. A plain text that only asks for another mail client disagrees, too.
func (w BodyWords) Disagree() bool {
	return w.OnlyHTML >= minDifference && w.OnlyHTML > w.Both || w.OnlyPlain >= minDifference && w.OnlyPlain > w.Both
}

// Body reads what the message says: [ReadBody] of its texts.
func (m *Message) Body() Body { return ReadBody(m.Text, m.HTML) }

// ReadBody reads what a message with a plain text and an HTML text says; either may be empty. See [Message.Text] and
// [Message.HTML], which stored messages hold, too.
func ReadBody(plain, html string) Body {
	text, hidden := readPlain(plain)
	if strings.TrimSpace(html) == "" {
		return Body{Text: text, Hidden: hidden}
	}
	page := ReadHTML(html)
	if page.Text == "" && text != "" {
		return Body{Text: text, Hidden: hidden, Words: compareWords(text, "")}
	}
	body := Body{
		Text: page.Text, FromHTML: true, Hidden: page.Hidden, Doubtful: page.Doubtful, Alternative: page.Alternative, Links: page.Links,
		Incomplete: page.Incomplete,
	}
	if text != "" {
		body.Words = compareWords(text, page.Text)
	}
	return body
}

// readPlain leaves out of a plain text what cannot be seen.
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

// isSeenWhole reports whether a text holds nothing but ASCII that is seen, and lines that end in LF.
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

// isAddress reports whether a part of a text is the address of a page or of a person.
func isAddress(part string) bool {
	return strings.Contains(part, "://") || strings.Contains(part, "www.") || strings.IndexByte(part, '@') >= 0
}
