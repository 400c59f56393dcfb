package learn

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/rules"
)

// An Act is what a person has wanted for a message. The zero Act says that it was to stay as it was.
type Act struct {
	Action postroom.ActionType `json:"action,omitempty"`
	Label  string              `json:"label,omitempty"` // the id of the label, of an action that has one
}

// Learnable reports whether rules are learned that do this: they label, move, archive, star or mark as read, which is
// taken back exactly. Nothing that sends, deletes, throws away or unsubscribes is ever learned.
func (a Act) Learnable() bool {
	switch a.Action {
	case postroom.ApplyLabel, postroom.Move:
		// A label of Gmail's, such as SPAM or TRASH, is never given by a learned rule.
		return rules.IsLabelID(a.Label)
	case postroom.Archive, postroom.Star, postroom.MarkRead:
		return a.Label == ""
	default:
		return false
	}
}

// Parameters returns the parameters of the action.
func (a Act) Parameters() postroom.Parameters {
	if a.Label == "" {
		return postroom.Parameters{}
	}
	return postroom.Parameters{postroom.ParamLabel: a.Label}
}

// A Fact is what is known of one message that a person has acted on. [FactOf] reads that of a message.
type Fact struct {
	MessageID string // any id that is unique; it says what taught a rule
	ThreadID  string // messages of one thread have one vote together
	At        time.Time

	From          string // the address
	Authenticated bool   // the receiving server has verified the domain of From
	ListID        string
	Subject       string
	Headers       []postroom.Header // those that may tell kinds of mail apart
	Attachments   []string          // the media types of attached parts

	Vote Act
}

const (
	maxHeaders     = 16
	maxHeaderValue = 60
	maxTypes       = 8
)

// isAuthenticated is the condition that the rules ask as well.
var isAuthenticated = func() *rules.Program {
	p, err := rules.Compile(rules.Condition{Type: rules.Authenticated})
	if err != nil {
		panic(err)
	}
	return p
}()

// FactOf reads the fact of a message, without its vote. It trusts Gmail's results of authentication.
func FactOf(msg *postroom.Message) Fact {
	f := Fact{MessageID: msg.ID, ThreadID: msg.ThreadID, At: msg.ReceivedAt, Subject: msg.Subject,
		From: mailname.Address(msg.From.Email), Authenticated: isAuthenticated.Match(msg, msg.ReceivedAt)}
	var header mime.Header
	for _, h := range msg.Headers {
		if strings.EqualFold(h.Name, "List-Id") {
			header = append(header, mime.Field{Name: h.Name, Value: h.Value})
		}
		if len(f.Headers) < maxHeaders && tellsKinds(h) {
			f.Headers = append(f.Headers, postroom.Header{Name: strings.ToLower(h.Name), Value: strings.ToLower(h.Value)})
		}
	}
	f.ListID = header.List().ID
	for _, a := range msg.Attachments {
		mediaType, _, _ := strings.Cut(strings.ToLower(a.ContentType), ";")
		mediaType = strings.TrimSpace(mediaType)
		if mediaType != "" && len(f.Attachments) < maxTypes && !slices.Contains(f.Attachments, mediaType) {
			f.Attachments = append(f.Attachments, mediaType)
		}
	}
	return f
}

// tellsKinds reports whether a header field may tell one kind of a sender's mail from another: those of its own
// invention, and two standard ones, with a short value of plain characters.
func tellsKinds(h postroom.Header) bool {
	name := strings.ToLower(h.Name)
	if !strings.HasPrefix(name, "x-") && name != "precedence" && name != "auto-submitted" {
		return false
	}
	if strings.HasPrefix(name, "x-google-") || strings.HasPrefix(name, "x-gm-") || name == "x-received" {
		return false // the receiver's, not the sender's
	}
	return h.Value != "" && len(h.Value) <= maxHeaderValue && !strings.ContainsFunc(h.Value, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsPrint(r)
	})
}

// site is the organization that answers for the sender: the domain, or the whole address where everybody can have one.
func (f *Fact) site() string {
	domain := authres.OrganizationalDomain(rules.DomainOf(f.From))
	if mailname.IsProvider(domain) {
		return f.From
	}
	return domain
}
