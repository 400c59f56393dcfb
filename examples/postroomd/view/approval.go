package view

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/safety"
)

// An Approval is an action that waits for a person.
type Approval struct {
	Action
	Reasons     []string  `json:"reasons"`
	RequestedAt time.Time `json:"requested_at"`
	ExpiresAt   time.Time `json:"expires_at"`
	Altered     bool      `json:"altered,omitempty"` // it is not what was asked, and can only be rejected
}

// NewApproval makes the view of a waiting action. altered says that its request is not genuine.
func NewApproval(w safety.Waiting, names app.LabelNames, altered bool) Approval {
	return Approval{NewAction(w.Entry, names), w.Approval.Reasons, w.Approval.RequestedAt, w.Approval.ExpiresAt, altered}
}

// AlteredNote is the note about a request that was altered.
const AlteredNote = "ALTERED in the database since it was asked; it may be about another message. Reject it; 'postroomd audit verify' says more"

// IsAltered reports whether the request, its action or its decision was altered: its shown content may be false.
func IsAltered(w safety.Waiting) bool {
	return errors.Is(w.Fault, safety.ErrAltered) || errors.Is(w.Fault, safety.ErrRestored) || errors.Is(w.Fault, safety.ErrState)
}

// PrintApproval prints a waiting action, with the exact text if it sends something.
func PrintApproval(out io.Writer, w safety.Waiting, p gmail.Preview, sends bool, names app.LabelNames, altered bool) error {
	f := printer.NewFields(out)
	f.Add("id", w.Action.ID)
	if altered {
		f.Add("warning", AlteredNote)
	}
	f.Add("action", app.Describe(w.Action, names))
	f.Add("decided by", DecidedBy(w.Decision.Decision))
	f.Add("because", w.Decision.Decision.Rationale)
	f.Add("waits because", strings.Join(w.Approval.Reasons, "; "))
	f.Add("expires", printer.Clock(w.Approval.ExpiresAt))
	f.Add("about mail of", w.Decision.Sender)
	f.Add("with subject", w.Decision.Subject)
	if !sends {
		return f.Flush()
	}
	f.Add("sends", fmt.Sprintf("a message of %s, SHA-256 %s", printer.Count(len(p.Raw), "byte", "bytes"), p.SHA256))
	if err := f.Flush(); err != nil {
		return err
	}
	return printer.Message(out, p.Message)
}

// A ShownApproval is an Approval with what it sends.
type ShownApproval struct {
	Approval
	Message *OutgoingMessage `json:"message,omitempty"` // of an action that sends one
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

// NewShownApproval makes the view of a waiting action with what it sends.
func NewShownApproval(w safety.Waiting, p gmail.Preview, sends bool, names app.LabelNames, altered bool) ShownApproval {
	v := ShownApproval{Approval: NewApproval(w, names, altered)}
	if sends {
		v.Message = &OutgoingMessage{
			SHA256: p.SHA256, Size: len(p.Raw), Text: p.Message.Text, HTML: p.Message.HTML,
			Header: printer.List(p.Message.Header, func(f mime.Field) HeaderField { return HeaderField{f.Name, f.Value} }),
			Files: printer.List(p.Message.Attachments, func(a *mime.Part) postroom.Attachment {
				return postroom.Attachment{Filename: a.Filename, ContentType: a.ContentType, Size: int64(len(a.Content))}
			}),
		}
	}
	return v
}

// A Request is a request with the values that an answer to it must name.
type Request struct {
	ShownApproval
	RequestID string `json:"request_id"`
	Digest    string `json:"digest"`
}

// An Answer is the outcome of an answer.
type Answer struct {
	ID    string               `json:"id"`
	State postroom.ActionState `json:"state"`
	Held  string               `json:"held,omitempty"` // why an approved action is not carried out now
}
