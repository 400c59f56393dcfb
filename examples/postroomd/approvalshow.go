package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/safety"
)

func approvalsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an action that waits for a person, with the message that it sends",
		Long: "Show an action that waits for a person. Of one that sends a message the message is composed now: its header, files and\n" +
			"text are shown as they will be sent, or why it must not be. Approved later, these bytes are sent or none; the date is\n" +
			"added when they are.",
		Args: cobra.ExactArgs(1),
	}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	raw := cmd.Flags().Bool("raw", false, "print only the bytes of the message, in the form of RFC 5322")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *raw && *asJSON {
			return usage("--raw prints bytes and --json prints JSON; choose one")
		}
		return act(cmd, place, func(ctx context.Context, h *host) error {
			w, err := h.waiting(ctx, args[0])
			if err != nil {
				return err
			}
			message, sends, err := h.preview(ctx, w.Action)
			if err != nil {
				return err
			}
			names, err := h.labelNames(ctx)
			switch {
			case err != nil:
				return err
			case *raw && !sends:
				return usage("action %s (%s) sends no message", w.Action.ID, w.Action.Type)
			case *raw:
				_, err = cmd.OutOrStdout().Write(message.Raw)
				return err
			case *asJSON:
				return printJSON(cmd.OutOrStdout(), viewShown(w, message, sends, names, isAltered(w)))
			}
			return printShown(cmd.OutOrStdout(), w, message, sends, names, isAltered(w))
		})
	}
	return cmd
}

// waiting returns the request for approval of an action.
func (h *host) waiting(ctx context.Context, prefix string) (safety.Waiting, error) {
	id, err := h.actionID(ctx, prefix)
	if err != nil {
		return safety.Waiting{}, err
	}
	w, err := h.ledger.Waiting(ctx, id)
	if state, ok := errors.AsType[*safety.StateError](err); ok {
		err = usage("action %s is %s, and does not wait for approval; 'postroomd approvals list' lists those that do", id, state.State)
	}
	return w, err
}

// wasAltered is the note about a request that was altered.
const wasAltered = "ALTERED in the database since it was asked; it may be about another message. Reject it; 'postroomd audit verify' says more"

// isAltered reports whether the request, its action or its decision was altered: its shown content may be false.
func isAltered(w safety.Waiting) bool {
	return errors.Is(w.Fault, safety.ErrAltered) || errors.Is(w.Fault, safety.ErrLogCut) || errors.Is(w.Fault, safety.ErrState)
}

func printShown(out io.Writer, w safety.Waiting, p gmail.Preview, sends bool, names labelNames, altered bool) error {
	f := newFields(out)
	f.add("id", w.Action.ID)
	if altered {
		f.add("warning", wasAltered)
	}
	f.add("action", describe(w.Action, names))
	f.add("decided by", decidedBy(w.Decision.Decision))
	f.add("because", w.Decision.Decision.Rationale)
	f.add("waits because", strings.Join(w.Approval.Reasons, "; "))
	f.add("expires", clock(w.Approval.ExpiresAt))
	f.add("about mail of", w.Decision.Sender)
	f.add("with subject", w.Decision.Subject)
	if !sends {
		return f.flush()
	}
	f.add("sends", fmt.Sprintf("a message of %s, SHA-256 %s", count(len(p.Raw), "byte", "bytes"), p.SHA256))
	if err := f.flush(); err != nil {
		return err
	}
	return printOutgoing(out, p.Message)
}

// printOutgoing prints a message with untrusted text. It marks the lines, so that none looks like a line of this program.
func printOutgoing(out io.Writer, m *mime.Message) error {
	if _, err := fmt.Fprintln(out); err != nil {
		return err
	}
	f := newFields(out)
	for _, field := range m.Header {
		f.add(field.Name+":", field.Value)
	}
	for _, file := range m.Attachments {
		f.add("attachment", fmt.Sprintf("%s (%s, %s)", file.Filename, file.ContentType, count(len(file.Content), "byte", "bytes")))
	}
	if err := f.flush(); err != nil {
		return err
	}
	if m.Text != "" {
		if err := printMarked(out, "", m.Text); err != nil {
			return err
		}
	}
	if m.HTML == "" {
		return nil
	}
	shown := htmltext.ReadBody("", m.HTML)
	return printMarked(out, "The HTML shows"+unless(len(shown.Hidden) == 0 && !shown.Incomplete, ", and hides more, which --raw prints")+":\n", shown.Text)
}

func printMarked(out io.Writer, title, text string) error {
	var b strings.Builder
	b.WriteString("\n" + title)
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("| "+printable(strings.TrimRight(line, "\r\n")), " ") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

type shownView struct {
	approvalView
	Message *outgoingView `json:"message,omitempty"` // of an action that sends one
}

type outgoingView struct {
	SHA256 string                `json:"sha256"`
	Size   int                   `json:"size"`
	Header []outgoingField       `json:"header"`
	Files  []postroom.Attachment `json:"files"`
	Text   string                `json:"text"`
	HTML   string                `json:"html"`
}

type outgoingField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func viewShown(w safety.Waiting, p gmail.Preview, sends bool, names labelNames, altered bool) shownView {
	v := shownView{approvalView: viewApproval(w, names, altered)}
	if sends {
		v.Message = &outgoingView{
			SHA256: p.SHA256, Size: len(p.Raw), Text: p.Message.Text, HTML: p.Message.HTML,
			Header: listed(p.Message.Header, func(f mime.Field) outgoingField { return outgoingField{f.Name, f.Value} }),
			Files: listed(p.Message.Attachments, func(a *mime.Part) postroom.Attachment {
				return postroom.Attachment{Filename: a.Filename, ContentType: a.ContentType, Size: int64(len(a.Content))}
			}),
		}
	}
	return v
}
