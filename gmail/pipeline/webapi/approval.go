package webapi

import (
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/reasons"
)

// An Approval is an action that waits for a person.
type Approval struct {
	Action
	Reasons     []string         `json:"reasons"`
	RequestedAt time.Time        `json:"requested_at"`
	ExpiresAt   time.Time        `json:"expires_at"`
	Group       string           `json:"group,omitempty"`   // the same for requests that are answered together
	Altered     bool             `json:"altered,omitempty"` // it is not what was asked, and can only be rejected
	Message     *OutgoingMessage `json:"message,omitempty"` // of an action that sends one, when it is shown
}

// NewApproval makes the JSON of a waiting action. preview is what it sends; nil if it sends nothing, or is only listed.
func NewApproval(w safety.Waiting, preview *outbox.Preview, name LabelName) Approval {
	v := Approval{Action: NewAction(w.Entry, name), Reasons: reasons.Plain(w.Approval.Reasons),
		RequestedAt: w.Approval.RequestedAt, ExpiresAt: w.Approval.ExpiresAt, Group: w.Approval.Group, Altered: IsAltered(w)}
	if preview != nil {
		v.Message = newOutgoingMessage(preview)
	}
	return v
}

// IsAltered reports whether the request, its action or its decision was altered: its shown content may be false.
func IsAltered(w safety.Waiting) bool {
	return errors.Is(w.Fault, safety.ErrAltered) || errors.Is(w.Fault, checkpoint.ErrRestored) ||
		errors.Is(w.Fault, safety.ErrState)
}

// An OutgoingMessage is what an action sends.
type OutgoingMessage struct {
	SHA256 string                `json:"sha256"`
	Size   int                   `json:"size"`
	Header []HeaderField         `json:"header"`
	Files  []postroom.Attachment `json:"files"`
	Text   string                `json:"text"`
	HTML   string                `json:"html"`
}

// A HeaderField is a field of the header of an outgoing message.
type HeaderField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func newOutgoingMessage(p *outbox.Preview) *OutgoingMessage {
	m := &OutgoingMessage{SHA256: p.SHA256, Size: len(p.Raw), Text: p.Message.Text, HTML: p.Message.HTML,
		Header: []HeaderField{}, Files: []postroom.Attachment{}}
	for _, f := range p.Message.Header {
		m.Header = append(m.Header, HeaderField{f.Name, f.Value})
	}
	for _, f := range p.Message.Attachments {
		m.Files = append(m.Files, postroom.Attachment{Filename: f.Filename, ContentType: f.ContentType,
			Size: int64(len(f.Content))})
	}
	return m
}

// A Request is a request with the values that an answer to it must name.
type Request struct {
	Approval
	AccountID string `json:"account_id"`
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`
}

// NewRequest makes the JSON of a waiting action, with what an answer names. preview is as for [NewApproval].
func NewRequest(w safety.Waiting, preview *outbox.Preview, name LabelName) Request {
	return Request{NewApproval(w, preview, name), w.Action.AccountID, w.Approval.ID, w.Approval.Digest}
}

// An Answer is the outcome of an answer.
type Answer struct {
	ID    string               `json:"id"`
	State postroom.ActionState `json:"state"`
	Held  string               `json:"held,omitempty"` // why an approved action is not carried out now
}
