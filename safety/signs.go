package safety

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// gmailServer is the server whose Authentication-Results are trusted.
var gmailServer = mime.AuthServer{ID: "mx.google.com", Below: true}

// Signs returns the reasons not to let a model act alone on a message: text that its reader does not see, parts with different
// content, a sender whose authentication has failed or who imitates another, and text that addresses a machine. Ordinary mail has
// none of them.
func Signs(msg *postroom.Message) []Doubt {
	var doubts []Doubt
	doubt := func(is bool, check Override, reason string) {
		if is {
			doubts = append(doubts, Doubt{check, reason})
		}
	}
	unread := func(a postroom.Attachment) bool { return a.Kind == string(mime.KindUnread) }
	doubt(slices.ContainsFunc(msg.Attachments, unread), OverrideHidden, "a part of the message was not read")
	body := htmltext.ReadBody(msg.BodyPlain, msg.BodyHTML)
	from := mime.Address{Name: msg.From.Name, Email: msg.From.Email}
	doubt(hides(body), OverrideHidden, "the message hides text from its reader")
	doubt(body.Incomplete || longWords(body.Doubtful, nil) >= sentence, OverrideHidden, "it cannot be told which text of the message its reader sees")
	doubt(picturesSay(body, msg.BodyPlain), OverrideHidden, "the text of a picture, which its reader does not see, says much")
	doubt(saysOtherwise(body), OverrideHidden, "the plain text and the HTML are different messages")
	doubt(showsNothing(msg, body), OverrideHidden, "the HTML shows no text, and the plain text says something")
	failed := failedMethods(headerOf(msg).Authentication(gmailServer))
	doubt(failed != "", OverrideSender, "the sender's authentication has failed ("+failed+")")
	doubt(from.MixesScripts(), OverrideSender, "the sender's name or domain mixes scripts, as those do that pass for others")
	doubt(from.Imitates() && !from.MixesScripts(), OverrideSender, "the sender's name or domain imitates another")
	doubt(from.NamesAnother(), OverrideSender, "the sender's name holds the address of somebody else")
	doubt(speaksToMachines(msg, body), OverrideMachine, "the message gives instructions to a machine")
	return doubts
}

func headerOf(msg *postroom.Message) mime.Header {
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header
}

// failedMethods names the failed methods of a sender's authentication; empty if none failed. Without a DMARC result, a sender
// fails if nothing passed and SPF or DKIM failed, or if SPF is softfail and DKIM is neutral or permerror.
func failedMethods(a mime.Authentication) string {
	dmarc, spf, dkim := a.Result("dmarc"), a.Result("spf"), a.Result("dkim")
	switch {
	case dmarc == "fail":
		return "DMARC"
	case dmarc == "pass" || spf == "pass" || dkim == "pass":
		return ""
	case spf == "fail" && dkim == "fail":
		return "SPF and DKIM"
	case spf == "fail":
		return "SPF"
	case dkim == "fail":
		return "DKIM"
	case spf == "softfail" && (dkim == "neutral" || dkim == "permerror"):
		return "SPF and DKIM"
	}
	return ""
}

// A sentence is the number of words of three letters or more that it takes to say something.
const sentence = 8

// Ordinary mail also hides text in these ways: content for other mail clients, and notes of the program that made the mail.
var ordinarilyHidden = map[htmltext.HiddenBy]bool{htmltext.HiddenByElement: true, htmltext.HiddenByComment: true, htmltext.HiddenByCondition: true}

// hides reports whether a sentence or more is hidden in a way that ordinary mail does not need, or more than a preview line in
// the way of preview lines. Text that is also shown elsewhere in the mail does not count: a phone and a desktop each show one of
// two copies.
func hides(body htmltext.Body) bool {
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

// saysOtherwise reports whether the plain text, which is not shown, is a different message. A short one is the usual request to
// use another mail client.
func saysOtherwise(body htmltext.Body) bool {
	const own = 30
	w := body.Words
	return body.FromHTML && w.OnlyPlain >= own && w.OnlyPlain > 2*w.Both
}

// picturesSay reports whether the alternative text of a picture is longer than a description, and says more than the plain text.
func picturesSay(body htmltext.Body, plain string) bool {
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
func showsNothing(msg *postroom.Message, body htmltext.Body) bool {
	return !body.FromHTML && strings.TrimSpace(msg.BodyHTML) != "" && longWords(body.Text, nil) >= sentence
}
