package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
)

// AlteredNote is the note about a request that was altered.
const AlteredNote = "ALTERED in the database since it was asked; it may be about another message. Reject it; 'postroomd audit verify' says more"

// PrintApproval prints a waiting action, with the exact text of what it sends, if it sends something.
func PrintApproval(out io.Writer, w safety.Waiting, p *outbox.Preview, names app.LabelNames) error {
	f := printer.NewFields(out)
	f.Add("id", w.Action.ID)
	if webapi.IsAltered(w) {
		f.Add("warning", AlteredNote)
	}
	f.Add("action", app.Describe(w.Action, names))
	f.Add("decided by", DecidedBy(w.Decision.Decision))
	f.Add("because", w.Decision.Decision.Rationale)
	f.Add("waits because", strings.Join(w.Approval.Reasons, "; "))
	f.Add("expires", printer.Clock(w.Approval.ExpiresAt))
	f.Add("about mail of", w.Decision.Sender)
	f.Add("with subject", w.Decision.Subject)
	if p == nil {
		return f.Flush()
	}
	f.Add("sends", fmt.Sprintf("a message of %s, SHA-256 %s", printer.Count(len(p.Raw), "byte", "bytes"), p.SHA256))
	if err := f.Flush(); err != nil {
		return err
	}
	return printer.Message(out, p.Message)
}
