package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/safety"
)

// A WholeRequest is an action that waits for a person, with the mail that it is about and what it would do.
type WholeRequest struct {
	Request
	Decision Decision     `json:"decision"`
	Mail     *WholeMail   `json:"mail,omitempty"`   // nil: the message is no longer here
	Change   *LabelChange `json:"change,omitempty"` // nil: it changes no labels, or nobody knows which
	Forever  bool         `json:"forever"`          // it cannot be taken back
	Given    []Given      `json:"-"`                // the parameters of what sends nothing, but for the label

	Sends      *webapi.OutgoingMessage `json:"message,omitempty"`  // nil: it sends nothing
	HTML       SentHTML                `json:"html,omitzero"`      // of what it sends
	TooLong    bool                    `json:"too_long,omitempty"` // what it sends has more text than [MaxSent], which nobody could read here
	Note       string                  `json:"note,omitempty"`     // the text that was written for it, which may be edited
	Title      string                  `json:"-"`                  // the subject of what it sends
	Forwards   bool                    `json:"-"`                  // what it sends has the mail in it
	Raw        string                  `json:"-"`                  // the bytes of what it sends
	Recipients []Recipient             `json:"recipients,omitempty"`
	Refused    string                  `json:"refused,omitempty"` // why it must not send; empty if it may, or sends nothing
	Edited     *Edit                   `json:"edited,omitempty"`  // nil: nobody has edited what it sends

	Waiting safety.Waiting `json:"-"`
}

// An Edit is a person's edit of what is sent.
type Edit struct {
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// editBefore returns the edit that a request was made for; nil if it was not.
func editBefore(ctx context.Context, h *app.App, request safety.Approval) (*Edit, error) {
	all, err := h.Ledger.ApprovalsOf(ctx, request.ActionID)
	i := slices.IndexFunc(all, func(r safety.Approval) bool { return r.ReplacedBy == request.ID })
	if err != nil || i < 0 {
		return nil, err
	}
	return &Edit{all[i].Approver, all[i].DecidedAt}, nil
}

// MaxSent bounds the texts of a message to send that a page shows, in bytes.
const MaxSent = 32 << 10

// MayEdit reports whether a person may edit what it sends.
func (v *WholeRequest) MayEdit() bool {
	return v.Sends != nil && v.Refused == "" && !v.Altered && !v.Expired && len(v.Note) <= outbox.MaxEditedText
}

// A SentHTML is what a recipient sees of the HTML that is sent.
type SentHTML struct {
	Text  string `json:"text"`
	Hides bool   `json:"hides"` // there is more in it that its reader would not see, or may not
}

// NewSentHTML reads HTML that is sent; the zero SentHTML if there is none.
func NewSentHTML(html string) (v SentHTML) {
	if html != "" {
		shown := htmltext.ReadBody("", html)
		v = SentHTML{shown.Text, len(shown.Hidden) > 0 || shown.Incomplete}
	}
	return v
}

// A LabelChange is what an action does to the labels of a message, by their names.
type LabelChange struct {
	Before  []string `json:"before"`
	After   []string `json:"after"`
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

// A Recipient is one to whom an action sends.
type Recipient struct {
	Field   string `json:"field"`   // To, Cc or Bcc
	Address string `json:"address"` // with the name
	Known   bool   `json:"known"`   // the mailbox has sent mail to the address before
}

// NewWholeRequest reads a request. What it sends is composed, and its bytes are fixed from then on.
func NewWholeRequest(ctx context.Context, h *app.App, actionID string) (*WholeRequest, error) {
	action, err := h.Ledger.Action(ctx, actionID)
	if err != nil {
		return nil, err
	}
	v := new(WholeRequest)
	if err := v.compose(ctx, h, action); err != nil {
		return nil, err
	}
	w, err := h.WaitingRequest(ctx, action.ID) // its digest covers what it sends
	if err != nil {
		return nil, err
	}
	if v.Sends != nil && v.Sends.SHA256 != w.Action.ContentSHA256 {
		return nil, ErrShown
	}
	v.Waiting = w
	if v.Edited, err = editBefore(ctx, h, w.Approval); err != nil {
		return nil, err
	}
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	v.Request, v.Decision = NewRequest(h, w, names, mailboxes, time.Now()), NewDecision(w.Decision, names)
	lacking, err := LackingAccess(ctx, h)
	if err != nil {
		return nil, err
	}
	v.lack(lacking[action.AccountID])
	if v.Sends == nil {
		v.Given = given(action.Parameters, true)
	}
	kind, known := h.Ledger.Kinds().Kind(action.Type)
	v.Forever = known && !kind.Reversible()
	m, err := h.Mail.Message(ctx, action.AccountID, action.MessageID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return v, nil
	case err != nil:
		return nil, err
	}
	whole := NewWholeMail(m, nil, names)
	v.Mail = &whole
	if known && kind.Effect != nil && action.Parameters != nil {
		v.Change = newLabelChange(m, kind.Effect(action.Parameters).Change, names)
	}
	return v, nil
}

// compose adds what the action sends, and to whom.
func (v *WholeRequest) compose(ctx context.Context, h *app.App, action postroom.Action) error {
	p, err := h.Preview(ctx, action)
	if _, refused := errors.AsType[usage.Error](err); refused {
		v.Refused = err.Error()
		return nil
	}
	if err != nil || p == nil {
		return err
	}
	v.Sends = webapi.NewApproval(safety.Waiting{}, p, func(_, id string) string { return id }).Message
	v.HTML = NewSentHTML(v.Sends.HTML)
	v.TooLong = len(v.Sends.Text) > MaxSent || len(v.HTML.Text) > MaxSent
	v.Raw, v.Note, v.Title, v.Forwards = string(p.Raw), p.Note, p.Message.Subject, action.Type == postroom.Forward
	v.Recipients, err = Recipients(ctx, h, action.AccountID, p.Message)
	return err
}

// Recipients are those whom a message of an account names.
func Recipients(ctx context.Context, h *app.App, accountID string, m *mime.Message) ([]Recipient, error) {
	var list []Recipient
	for _, of := range []struct {
		field     string
		addresses []mime.Address
	}{{"To", m.To}, {"Cc", m.Cc}, {"Bcc", m.Bcc}} {
		for _, a := range of.addresses {
			known, err := hasSentTo(ctx, h, accountID, a.Email)
			if err != nil {
				return nil, err
			}
			list = append(list, Recipient{of.field, postroom.Address{Name: a.Name, Email: a.Email}.String(), known})
		}
	}
	return list, nil
}

// mostSent bounds the sent messages that are looked through for an address.
const mostSent = 100

// hasSentTo reports whether the newest sent messages of the account that a search finds have one to the address itself:
// the search also finds it in names, and in longer addresses.
func hasSentTo(ctx context.Context, h *app.App, accountID, address string) (bool, error) {
	if strings.ContainsAny(address, "\"()") {
		return false, nil // it cannot be searched for, and is odd enough to be called new
	}
	found, err := h.SearchMail(ctx, accountID, mailindex.Search{Limit: mostSent, SpamAndTrash: true,
		Query: fmt.Sprintf(`in:sent (to:"%[1]s" OR cc:"%[1]s" OR bcc:"%[1]s")`, address)})
	isIt := func(a postroom.Address) bool { return mailname.Address(a.Email) == mailname.Address(address) }
	for _, m := range found.Messages {
		if slices.ContainsFunc(slices.Concat(m.To, m.Cc, m.Bcc), isIt) {
			return true, err
		}
	}
	return false, err
}

// newLabelChange names what a change does to a message as it is stored.
func newLabelChange(m *postroom.Message, change postroom.LabelChange, names app.LabelNames) *LabelChange {
	before := postroom.NewSnapshot(m.LabelIDs)
	after := before.Apply(change.WithLeaving(postroom.NewSnapshot(change.Add)))
	return changeBetween(m.AccountID, before, after, names)
}

// changeBetween names the difference of two images of a message.
func changeBetween(accountID string, before, after postroom.Snapshot, names app.LabelNames) *LabelChange {
	own := after.ChangeFrom(before)
	name := func(id string) string { return names.Name(accountID, id) }
	return &LabelChange{
		Before: printer.List(before.LabelIDs, name), After: printer.List(after.LabelIDs, name),
		Added: printer.List(own.Add, name), Removed: printer.List(own.Remove, name),
	}
}

// MayAskAgain reports whether a model wants what is asked, and was not asked again before.
func (v *WholeRequest) MayAskAgain() bool {
	return v.Decision.Source == postroom.SourceModel && !v.Decision.Again
}
