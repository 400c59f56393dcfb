package injection

import (
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// A sentence is the number of words of three letters or more that it takes to say something.
const sentence = 8

// Ordinary mail also hides text in these ways: content for other mail clients, and notes of the program that made the
// mail.
var ordinarilyHidden = map[htmltext.HiddenBy]bool{htmltext.HiddenByElement: true, htmltext.HiddenByComment: true,
	htmltext.HiddenByCondition: true}

// hides reports whether a sentence or more is hidden in a way that ordinary mail does not need, or more than a
// preview line in the way of preview lines. Text that is also shown elsewhere in the mail does not count: a phone and
// a desktop each show one of two copies.
func hides(body *htmltext.Body) bool {
	const preview, spelled = 30, 20
	words, undisplayed, characters := 0, 0, 0
	var shown map[string]bool
	for _, hidden := range body.Hidden {
		switch {
		case ordinarilyHidden[hidden.By]:
		case hidden.By == htmltext.HiddenByCharacter:
			characters += visibleASCII(hidden.Text)
		case hidden.By == htmltext.HiddenByDisplay:
			if shown == nil {
				shown = wordsOf(body.Text)
			}
			undisplayed += longWords(hidden.Text, shown)
		default:
			words += longWords(hidden.Text, nil)
		}
	}
	return words >= sentence || undisplayed >= preview || characters >= spelled
}

// visibleASCII counts the characters that tag characters spell.
func visibleASCII(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] > ' ' && text[i] < utf8.RuneSelf-1 {
			n++
		}
	}
	return n
}

// longWords counts the words of a text, except those that are shown.
func longWords(text string, shown map[string]bool) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(word) >= 3 && !shown[word] {
			n++
		}
	}
	return n
}

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		words[word] = true
	}
	return words
}

// saysOtherwise reports whether the plain text, which is not shown, is a different message. A short one is the usual
// request to use another mail client; a newsletter adds to it where it can be read, and how to leave.
func saysOtherwise(body *htmltext.Body, plain string) bool {
	own := 30
	if plain = strings.ToLower(plain); strings.Contains(plain, "html") || strings.Contains(plain, "browser") {
		own = 90
	}
	w := body.Words
	return body.FromHTML && w.OnlyPlain >= own && w.OnlyPlain > 2*w.Both
}

// picturesSay reports whether the alternative text of a picture is longer than a description, and says more than the
// plain text.
func picturesSay(body *htmltext.Body, plain string) bool {
	const told = 30
	for _, a := range body.Alternative {
		text := body.Text[a.Start:a.End]
		if longWords(text, nil) >= told && longWords(text, wordsOf(plain)) >= told {
			return true
		}
	}
	return false
}

// showsNothing reports whether the HTML shows no text, and the plain text, which is not shown, has a sentence or more.
func showsNothing(msg *postroom.Message, body *htmltext.Body) bool {
	return !body.FromHTML && strings.TrimSpace(msg.BodyHTML) != "" && longWords(body.Text, nil) >= sentence
}
