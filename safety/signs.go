package safety

import (
	"regexp"
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
	doubt(saysOtherwise(body), OverrideHidden, "the plain text and the HTML are different messages")
	doubt(headerOf(msg).Authentication(gmailServer).Result("dmarc") == "fail", OverrideSender, "the sender's authentication has failed (DMARC)")
	doubt(from.MixesScripts(), OverrideSender, "the sender's name or domain mixes scripts, as those do that pass for others")
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

// What hides text in ordinary mail, too: a preview line, what other mail clients show, the notes of the program that made it.
var ordinarilyHidden = map[mime.HiddenBy]bool{
	mime.HiddenByDisplay: true, mime.HiddenByElement: true, mime.HiddenByComment: true, mime.HiddenByCondition: true,
}

// hides reports whether a sentence or more is hidden in a way that ordinary mail does not need.
func hides(body mime.Body) bool {
	const sentence, spelled = 8, 20
	words, characters := 0, 0
	for _, hidden := range body.Hidden {
		switch {
		case ordinarilyHidden[hidden.By]:
		case hidden.By == mime.HiddenByCharacter:
			characters += visibleASCII(hidden.Text)
		default:
			words += longWords(hidden.Text)
		}
	}
	return words >= sentence || characters >= spelled
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

func longWords(text string) int {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(word) >= 3 {
			n++
		}
	}
	return n
}

// saysOtherwise reports whether the plain text, which nobody is shown, is a message of its own. One that is short is the usual
// request for another mail client.
func saysOtherwise(body mime.Body) bool {
	const own = 30
	w := body.Words
	return body.FromHTML && w.OnlyPlain >= own && w.OnlyPlain > 2*w.Both
}

// machineTalk is said to models, and hardly ever to people.
var machineTalk = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(ignore|disregard|forget|override|bypass)\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+|my\s+|these\s+)?(previous|prior|above|earlier|preceding|existing|system)\s+(system\s+)?(instructions?|prompts?|rules|directions|guidelines|directives)\b`,
	`\bsystem\s+prompt\b`,
	`\b(attention|instructions?\s+(for|to)|note\s+(for|to)|message\s+(for|to)|dear|hey|hello)[\s,:]+(the\s+|any\s+|all\s+)?(ai|llm|language\s+model|gpt|chatgpt|claude|gemini|copilot)\b`,
	`\b(ai|llm)\s+(assistants?|agents?|models?|systems?|classifiers?)\b[^.!?\n]{0,60}\b(must|should|shall|please|are\s+required|are\s+instructed|reading|processing|summari[sz]ing)\b`,
	`\byou\s+are\s+(now\s+)?(an?\s+|the\s+)?(ai|llm|language\s+model|gpt|(email|mail|helpful)\s+assistant)\b`,
	`\b(record_decision|needs_approval|tool_calls?)\b`,
	`<\|(im_start|im_end|system|user|assistant|endoftext)\|>|\[/?INST\]|<</?SYS>>|</?(system|assistant)>`,
}, "|"))

// speaksToMachines looks at what is shown, at what is hidden, comments too, and at the text that is not shown.
func speaksToMachines(msg *postroom.Message, body mime.Body) bool {
	if machineTalk.MatchString(msg.Subject) || machineTalk.MatchString(msg.From.Name) || machineTalk.MatchString(body.Text) ||
		body.FromHTML && machineTalk.MatchString(msg.BodyPlain) {
		return true
	}
	for _, hidden := range body.Hidden {
		if machineTalk.MatchString(hidden.Text) {
			return true
		}
	}
	return false
}
