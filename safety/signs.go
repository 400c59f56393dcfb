package safety

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
)

// gmailServer is the server whose word on the authentication of mail is taken.
var gmailServer = mime.AuthServer{ID: "mx.google.com", Below: true}

// Signs returns what speaks against letting a model act alone on a message: text that its reader does not see, parts that are
// different messages, a sender whose authentication has failed or who is made to be taken for another, and text that speaks
// to a machine. Ordinary mail has none of them.
func Signs(msg *postroom.Message) []Doubt {
	var doubts []Doubt
	doubt := func(is bool, check Override, reason string) {
		if is {
			doubts = append(doubts, Doubt{check, reason})
		}
	}
	unread := func(a postroom.Attachment) bool { return a.Kind == string(mime.KindUnread) }
	doubt(slices.ContainsFunc(msg.Attachments, unread), OverrideHidden, "a part of the message was not read")
	body := mime.ReadBody(msg.BodyPlain, msg.BodyHTML)
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

// failedMethods names what has failed of a sender's authentication; empty when it has not. Without a word of DMARC, a sender has
// failed for whom nothing passed and SPF or DKIM failed, or both say that the message may be altered or from elsewhere.
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

// A sentence is how many words of three letters or more somebody needs to say something.
const sentence = 8

// What hides text in ordinary mail, too: what other mail clients show, and the notes of the program that made it.
var ordinarilyHidden = map[mime.HiddenBy]bool{mime.HiddenByElement: true, mime.HiddenByComment: true, mime.HiddenByCondition: true}

// hides reports whether a sentence or more is hidden in a way that ordinary mail does not need, or more than a preview line in that
// of preview lines. What is shown elsewhere in the mail counts for neither: phones and desktops are shown one of two.
func hides(body mime.Body) bool {
	const preview, spelled = 30, 20
	words, undisplayed, characters := 0, 0, 0
	var shown map[string]bool
	for _, hidden := range body.Hidden {
		switch {
		case ordinarilyHidden[hidden.By]:
		case hidden.By == mime.HiddenByCharacter:
			characters += visibleASCII(hidden.Text)
		case hidden.By == mime.HiddenByDisplay:
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

// visibleASCII counts what tag characters have spelled.
func visibleASCII(text string) int {
	n := 0
	for i := range len(text) {
		if text[i] > ' ' && text[i] < utf8.RuneSelf-1 {
			n++
		}
	}
	return n
}

// longWords counts the words of a text that are not among those which are shown.
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

// saysOtherwise reports whether the plain text, which nobody is shown, is a message of its own. One that is short is the usual
// request for another mail client.
func saysOtherwise(body mime.Body) bool {
	const own = 30
	w := body.Words
	return body.FromHTML && w.OnlyPlain >= own && w.OnlyPlain > 2*w.Both
}

// picturesSay reports whether a picture says more in its alternative text than one tells of a picture, and than the plain text says.
func picturesSay(body mime.Body, plain string) bool {
	const told = 30
	for _, a := range body.Alternative {
		text := body.Text[a.Start:a.End]
		if longWords(text, nil) >= told && longWords(text, wordsOf(plain)) >= told {
			return true
		}
	}
	return false
}

// showsNothing reports whether there is HTML without a text that is seen, and a plain text of a sentence or more, which nobody is shown.
func showsNothing(msg *postroom.Message, body mime.Body) bool {
	return !body.FromHTML && strings.TrimSpace(msg.BodyHTML) != "" && longWords(body.Text, nil) >= sentence
}
