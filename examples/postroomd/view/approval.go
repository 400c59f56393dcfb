package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/reasons"
)

// AlteredNote is the note about a request that was altered.
const AlteredNote = "ALTERED in the database since it was asked; it may be about another message. Reject it; 'postroomd audit verify' says more"

// An Approval is a waiting action, with the mail that it is about and what it sends.
type Approval struct {
	webapi.Approval
	Access string     `json:"access,omitempty"` // why it cannot be done by this machine, and what to do
	About  *AboutMail `json:"about,omitempty"`  // nil: the message is no longer here
	Edited *Edit      `json:"edited,omitempty"` // nil: nobody has edited what it sends

	waiting safety.Waiting
	preview *outbox.Preview
	names   app.LabelNames
}

// AboutMail is the mail that a request is about.
type AboutMail struct {
	ReceivedAt time.Time `json:"received_at,omitzero"`
	Excerpt    string    `json:"excerpt"` // of its text, as a person sees it
	Whole      bool      `json:"whole"`   // the excerpt is all of the text
	Hidden     int       `json:"hidden"`  // pieces of text that a person does not see
}

// NewApproval reads the mail that a request is about. preview is what the action sends; nil if it sends nothing.
func NewApproval(ctx context.Context, h *app.App, w safety.Waiting, preview *outbox.Preview) (*Approval, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	v := &Approval{Approval: webapi.NewApproval(w, preview, names.Name), waiting: w, preview: preview, names: names}
	if v.Edited, err = editBefore(ctx, h, w.Approval); err != nil {
		return nil, err
	}
	lacking, err := LackingAccess(ctx, h)
	if err != nil {
		return nil, err
	}
	v.Access = lacking[w.Action.AccountID]
	m, err := h.Mail.Message(ctx, w.Action.AccountID, w.Action.MessageID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return v, nil
	case err != nil:
		return nil, err
	}
	v.About = newAboutMail(m)
	return v, nil
}

// Bounds of an excerpt.
const (
	excerptLines = 12
	excerptWidth = 600 // columns
)

func newAboutMail(m *postroom.Message) *AboutMail {
	body := htmltext.ReadBody(m.BodyPlain, m.BodyHTML)
	var lines []string
	for line := range strings.Lines(body.Text) {
		if line = strings.TrimSpace(printer.Printable(line)); line != "" {
			lines = append(lines, line)
		}
	}
	cut := strings.Join(lines[:min(len(lines), excerptLines)], "\n")
	excerpt := printer.Short(cut, excerptWidth)
	return &AboutMail{ReceivedAt: m.ReceivedAt, Excerpt: excerpt, Hidden: len(body.Hidden),
		Whole: len(lines) <= excerptLines && excerpt == cut}
}

// Print prints the request, with the exact text of what it sends, if it sends something.
func (v *Approval) Print(out io.Writer) error {
	w := &v.waiting
	f := printer.NewFields(out)
	f.Add("id", w.Action.ID)
	if v.Altered {
		f.Add("warning", AlteredNote)
	}
	f.Add("action", app.Describe(w.Action, v.names))
	if v.preview == nil {
		for _, p := range given(w.Action.Parameters, true) {
			f.Add("  "+p.Name, p.Value)
		}
	}
	f.Add("decided by", DecidedBy(w.Decision.Decision))
	f.Add("because", w.Decision.Decision.Rationale)
	f.Add("waits because", strings.Join(reasons.Plain(w.Approval.Reasons), "; "))
	f.Add("here", v.Access)
	f.Add("expires", printer.Clock(w.Approval.ExpiresAt))
	f.Add("about mail of", w.Decision.Sender)
	f.Add("with subject", w.Decision.Subject)
	v.About.add(f)
	if v.preview != nil {
		f.Add("sends", fmt.Sprintf("a message of %s, SHA-256 %s", printer.Count(len(v.preview.Raw), "byte", "bytes"),
			v.preview.SHA256))
	}
	if v.Edited != nil {
		f.Add("edited", "by "+v.Edited.By+", "+printer.Clock(v.Edited.At))
	}
	if err := f.Flush(); err != nil || v.preview == nil {
		return err
	}
	return printer.Message(out, v.preview.Message)
}

// add adds when the mail came and how it begins. Each line of it has a mark, so that none looks like one of ours.
func (a *AboutMail) add(f *printer.Fields) {
	if a == nil {
		f.Add("received", "it is no longer stored here")
		return
	}
	f.Add("received", printer.Clock(a.ReceivedAt))
	if a.Hidden > 0 {
		f.Add("hidden", printer.Count(a.Hidden, "piece", "pieces")+" of text that a person does not see")
	}
	text := a.Excerpt
	if !a.Whole {
		text += "\n… 'postroomd mail show' has all of it"
	}
	f.Add("it says", printer.Unless(a.Excerpt == "", "| "+strings.ReplaceAll(text, "\n", "\n| ")))
}
