// Package injection finds in a message what speaks for an attack on a model that reads it.
//
// [Indicators] looks for text that its reader does not see, for parts with different content, for a sender whose
// authentication has failed or who imitates another, and for text that addresses a machine. Ordinary mail has none of
// them: package safety lets no model act unattended on a message that has one.
//
// Each indicator is a heuristic. An attack can do without, so that what a model may do unattended has to be harmless
// whatever a message says.
package injection

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/lookalike"
)

// A Kind says what an indicator is about.
type Kind string

// The kinds of indicators.
const (
	HiddenText     Kind = "hidden_text"     // the message has text that its reader does not see, or was not read whole
	DoubtfulSender Kind = "doubtful_sender" // the sender is not who it seems to be
	MachineTalk    Kind = "machine_talk"    // the message gives instructions to a machine
)

// An Indicator is a reason not to let a model act unattended on a message.
type Indicator struct {
	Kind   Kind
	Reason string // for people
}

// MaxText is the number of bytes of the plain text, and of the HTML, that [Indicators] reads. That a text is longer
// is an indicator of its own.
const MaxText = 1 << 20

// Indicators returns the indicators of a message. It can take 50 ms for a message of [MaxText] bytes: call it outside
// of transactions.
func Indicators(ctx context.Context, msg *postroom.Message) []Indicator {
	var found []Indicator
	add := func(is bool, kind Kind, reason string) {
		if is {
			found = append(found, Indicator{kind, reason})
		}
	}
	unread := func(a postroom.Attachment) bool { return a.Kind == string(mime.KindUnread) }
	add(slices.ContainsFunc(msg.Attachments, unread), HiddenText, "a part of the message was not read")
	read, whole := bounded(msg)
	add(!whole, HiddenText, "the message has more than 1 MiB of text and was not read whole")
	body := bodytext.From(ctx).Body(read)
	from := mime.Address{Name: msg.From.Name, Email: msg.From.Email}
	add(hides(body), HiddenText, "the message hides text from its reader")
	add(body.Incomplete || longWords(body.Doubtful, nil) >= sentence, HiddenText,
		"it cannot be told which text of the message its reader sees")
	add(picturesSay(body, read.BodyPlain), HiddenText, "the text of a picture, which its reader does not see, says much")
	add(saysOtherwise(body, read.BodyPlain), HiddenText, "the plain text and the HTML are different messages")
	add(showsNothing(read, body), HiddenText, "the HTML shows no text, and the plain text says something")
	results := authres.Read(headerOf(msg), gmailServer)
	failed := failedMethods(results)
	add(failed != "", DoubtfulSender, "the sender's authentication has failed ("+failed+")")
	add(failed == "" && unverified(results, from), DoubtfulSender,
		"the sender is not verified: nothing that has passed is of its domain")
	add(lookalike.MixesScripts(from), DoubtfulSender,
		"the sender's name or domain mixes scripts, as those do that pass for others")
	add(lookalike.Imitates(from) && !lookalike.MixesScripts(from), DoubtfulSender,
		"the sender's name or domain imitates another")
	add(lookalike.NamesAnother(from), DoubtfulSender, "the sender's name holds the address of somebody else")
	add(speaksToMachines(read, body), MachineTalk, "the message gives instructions to a machine")
	return found
}

// bounded returns a message with at most [MaxText] bytes of each text, and whether that is all.
func bounded(msg *postroom.Message) (read *postroom.Message, whole bool) {
	if len(msg.BodyPlain) <= MaxText && len(msg.BodyHTML) <= MaxText {
		return msg, true
	}
	cut := *msg
	cut.BodyPlain, cut.BodyHTML = msg.BodyPlain[:min(MaxText, len(msg.BodyPlain))],
		msg.BodyHTML[:min(MaxText, len(msg.BodyHTML))]
	return &cut, false
}
