package voice

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/mime/reply"
)

// written is what the sender of a message has newly written, as far as package mime/reply tells.
func written(m *postroom.Message) string {
	if strings.TrimSpace(m.BodyPlain) == "" {
		return reply.SplitHTML(m.BodyHTML).Written()
	}
	return reply.Split(strings.ReplaceAll(m.BodyPlain, "\r\n", "\n")).Written()
}

// run is how many words in a row make a passage of another's: fewer are anybody's.
const run = 5

// A foreign set has the runs of words, and the whole lines and sentences, that others have written.
type foreign map[string]bool

// foreignOf reads the messages that the mailbox has not sent.
func foreignOf(thread []*postroom.Message) foreign {
	f := make(foreign)
	for _, m := range thread {
		if !m.HasLabel(postroom.LabelSent) && !m.HasLabel(postroom.LabelDraft) {
			f.add(m.BodyPlain)
			f.add(htmltext.ReadBody("", m.BodyHTML).Text)
		}
	}
	return f
}

func (f foreign) add(text string) {
	all := words(text)
	for i := range len(all) - run + 1 {
		f[strings.Join(all[i:i+run], " ")] = true
	}
	// A sentence may go on in the next line.
	whole := parted(strings.Join(strings.Fields(text), " "))
	for _, short := range slices.Concat(strings.Split(text, "\n"), parted(text), whole) {
		if w := words(short); len(w) > 1 && len(w) < run {
			f[strings.Join(w, " ")] = true
		}
	}
}

// has reports whether another has written a line, or a part of it.
func (f foreign) has(line string) bool {
	w := words(line)
	if len(w) < run {
		return f[strings.Join(w, " ")]
	}
	for i := range len(w) - run + 1 {
		if f[strings.Join(w[i:i+run], " ")] {
			return true
		}
	}
	return false
}

// without returns the lines of a text that no other has written.
func (f foreign) without(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !f.has(line) {
			kept.WriteString(line)
		}
	}
	return strings.TrimSpace(kept.String())
}

// words are the words of a text in lower case, without punctuation.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

var facts = regexp.MustCompile(`(?i)https?://\S+|www\.\S+|\S+@\S+\.\S+|\d[\d.,:/]*\d`)

// masked returns a text without figures, addresses and links.
func masked(text string) string { return facts.ReplaceAllLiteralString(text, "#") }
