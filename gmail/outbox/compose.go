package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// The parameters of forward and auto_reply. Texts are strings or lists of strings.
const (
	paramTo              = "to"
	paramCc              = "cc"
	paramBody            = "body"
	paramBodyHTML        = "body_html"
	paramIncludeOriginal = "include_original"
)

// compose makes the message of an action. own are the addresses that the mailbox sends from, and is never empty.
func compose(a postroom.Action, original *postroom.Message, own []gmailapi.SendAs) (Payload, error) {
	from := senderOf(original, own)
	p := Payload{
		AccountID: a.AccountID, ActionID: a.ID, From: formatAddress(from.Name, from.Email), OriginalMessageID: original.ID,
	}
	if from.ReplyTo != "" {
		p.ReplyTo = []string{from.ReplyTo}
	}
	var err error
	if p.To, err = addressParameter(a.Parameters, paramTo); err != nil {
		return p, err
	}
	if p.Cc, err = addressParameter(a.Parameters, paramCc); err != nil {
		return p, err
	}
	p.BodyPlain, _ = a.Parameters.Text(paramBody)
	p.BodyHTML, _ = a.Parameters.Text(paramBodyHTML)
	if a.Type == postroom.Forward {
		return p, p.composeForward(a, original)
	}
	if err := p.fill(original, cmp.Or(from.Name, primaryOf(own).Name)); err != nil {
		return p, err
	}
	return p, p.composeReply(original)
}

// fill replaces the variables in the text of an answer; see [postroom.Variables]. What is not known must not be sent.
func (p *Payload) fill(original *postroom.Message, ownName string) error {
	var lacks []string
	missing := func(v postroom.Variable) string {
		lacks = append(lacks, string(v))
		return ""
	}
	values := postroom.VariablesOf(original, ownName)
	p.BodyPlain = postroom.FillVariables(p.BodyPlain, values, missing)
	for v, text := range values {
		values[v] = html.EscapeString(text)
	}
	p.BodyHTML = postroom.FillVariables(p.BodyHTML, values, missing)
	if len(lacks) > 0 {
		return fmt.Errorf("the text has {{%s}}, which is not known of this message; {{%[1]s|words}} has words for this",
			lacks[0])
	}
	return nil
}

func (p *Payload) composeForward(a postroom.Action, original *postroom.Message) error {
	p.MessageType, p.Subject = Forward, prefixed("Fwd: ", forwardPrefix, original.Subject)
	p.Hops, p.AutoSubmitted = hopsOf(original), autoSubmitted(original)
	if len(p.To) == 0 {
		return fmt.Errorf("forward needs the parameter %q: an address, or a list of them", paramTo)
	}
	switch include, given := a.Parameters[paramIncludeOriginal]; {
	case !given || include == "" || include == IncludeInline:
		p.IncludeOriginal = IncludeInline
		for i, file := range original.Attachments {
			p.Attachments = append(p.Attachments, Attachment{
				Filename: file.Filename, MimeType: file.ContentType, MessageID: original.ID, Part: i + 1,
			})
		}
	case include == IncludeAttachment:
		p.IncludeOriginal = IncludeAttachment
	default:
		return fmt.Errorf("the parameter %q is %v; use %q or %q", paramIncludeOriginal, include, IncludeInline,
			IncludeAttachment)
	}
	return nil
}

func (p *Payload) composeReply(original *postroom.Message) error {
	p.MessageType, p.Subject, p.ThreadID = Reply, prefixed("Re: ", replyPrefix, original.Subject),
		original.ProviderThreadID
	if p.BodyPlain == "" && p.BodyHTML == "" {
		return fmt.Errorf("auto_reply needs a text: the parameter %q, %q or both", paramBody, paramBodyHTML)
	}
	if len(p.To) == 0 {
		to, err := answerTo(original)
		if err != nil {
			return err
		}
		p.To = to
	}
	var answer mime.Outgoing
	answer.Answer(&mime.Message{
		MessageID: original.MessageID, InReplyTo: original.InReplyTo, References: onceEach(original.References),
	})
	answer.References = onceEach(slices.DeleteFunc(answer.References, notAnID))
	if !notAnID(answer.InReplyTo) {
		p.InReplyTo = answer.InReplyTo
	}
	p.References = answer.References
	return nil
}

// answerTo returns the addressee of a reply: Reply-To, or else From. A Reply-To at another domain than From needs a
// parameter that names it: anyone can write a Reply-To and so direct the answer to another person.
func answerTo(original *postroom.Message) ([]string, error) {
	if original.From.Email == "" {
		return nil, fmt.Errorf("the original names no sender; name the recipient in the parameter %q", paramTo)
	}
	if len(original.ReplyTo) == 0 {
		return []string{formatAddress(original.From.Name, original.From.Email)}, nil
	}
	to := original.ReplyTo[0]
	if authres.OrganizationalDomain(to.Email) != authres.OrganizationalDomain(original.From.Email) {
		return nil,
			fmt.Errorf(
				"the original is from %s and asks for answers to %s, at another domain; if that is right, name it in the parameter %q",
				original.From.Email, to.Email, paramTo)
	}
	return []string{formatAddress(to.Name, to.Email)}, nil
}

func addressParameter(p postroom.Parameters, name string) ([]string, error) {
	if p[name] == nil {
		return nil, nil
	}
	values, ok := p.Texts(name)
	if !ok {
		return nil, fmt.Errorf("the parameter %q is %v; give an address, or a list of them", name, p[name])
	}
	list, err := readAddresses(values)
	if err != nil {
		return nil, fmt.Errorf("the parameter %q: %w", name, err)
	}
	return formatAddresses(list), nil
}

// OwnAddresses returns the addresses that a mailbox may send from, of which there is at least one.
func OwnAddresses(ctx context.Context, store *mailstore.Store, client *gmailapi.Client, accountID string) (
	[]gmailapi.SendAs, error) {
	return ownAddresses(ctx, store, client, accountID)
}

// ownAddresses returns the addresses that the mailbox may send from. If the grant does not permit the call, that is
// its own address.
func ownAddresses(ctx context.Context, store *mailstore.Store, client *gmailapi.Client,
	accountID string) ([]gmailapi.SendAs, error) {
	account, err := store.Account(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		err = &gmailapi.Error{Op: "find account", Class: gmailapi.ClassNotFound, Err: err}
	}
	if err != nil {
		return nil, err
	}
	own, err := client.ListSendAs(ctx)
	if err != nil && gmailapi.ClassOf(err) != gmailapi.ClassForbidden {
		return nil, err
	}
	if len(own) == 0 {
		own = []gmailapi.SendAs{{Email: account.Email, Primary: true}}
	}
	return own, nil
}

// senderOf chooses the address to send from: the one that received or has sent the original, or else the mailbox's own.
func senderOf(original *postroom.Message, own []gmailapi.SendAs) gmailapi.SendAs {
	var addressed []string
	if original.HasLabel(postroom.LabelSent) {
		addressed = append(addressed, original.From.Email)
	}
	for _, list := range [][]postroom.Address{original.To, original.Cc} {
		for _, a := range list {
			addressed = append(addressed, a.Email)
		}
	}
	addressed = append(append(addressed, original.Header("Delivered-To")...), original.Header("X-Original-To")...)
	for _, email := range addressed {
		for _, alias := range own {
			if strings.EqualFold(alias.Email, strings.TrimSpace(email)) {
				return alias
			}
		}
	}
	return primaryOf(own)
}

func primaryOf(own []gmailapi.SendAs) gmailapi.SendAs {
	if i := slices.IndexFunc(own, func(a gmailapi.SendAs) bool { return a.Primary }); i >= 0 {
		return own[i]
	}
	return own[0]
}

var (
	forwardPrefix = regexp.MustCompile(`^(?i)\s*fwd?\s*:`)
	replyPrefix   = regexp.MustCompile(`^(?i)\s*re\s*:`)
)

// prefixed puts the prefix before a subject that has none such.
func prefixed(prefix string, has *regexp.Regexp, subject string) string {
	if has.MatchString(subject) {
		return subject
	}
	return strings.TrimSpace(prefix + subject)
}
