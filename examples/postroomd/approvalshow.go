package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/mime"
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
			return usage.Errorf("--raw prints bytes and --json prints JSON; choose one")
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
				return usage.Errorf("action %s (%s) sends no message", w.Action.ID, w.Action.Type)
			case *raw:
				_, err = cmd.OutOrStdout().Write(message.Raw)
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), viewShown(w, message, sends, names, isAltered(w)))
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
		err = usage.Errorf("action %s is %s, and does not wait for approval; 'postroomd approvals list' lists those that do", id, state.State)
	}
	return w, err
}

// wasAltered is the note about a request that was altered.
const wasAltered = "ALTERED in the database since it was asked; it may be about another message. Reject it; 'postroomd audit verify' says more"

// isAltered reports whether the request, its action or its decision was altered: its shown content may be false.
func isAltered(w safety.Waiting) bool {
	return errors.Is(w.Fault, safety.ErrAltered) || errors.Is(w.Fault, safety.ErrRestored) || errors.Is(w.Fault, safety.ErrState)
}

func printShown(out io.Writer, w safety.Waiting, p gmail.Preview, sends bool, names labelNames, altered bool) error {
	f := printer.NewFields(out)
	f.Add("id", w.Action.ID)
	if altered {
		f.Add("warning", wasAltered)
	}
	f.Add("action", describe(w.Action, names))
	f.Add("decided by", decidedBy(w.Decision.Decision))
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
			Header: printer.List(p.Message.Header, func(f mime.Field) outgoingField { return outgoingField{f.Name, f.Value} }),
			Files: printer.List(p.Message.Attachments, func(a *mime.Part) postroom.Attachment {
				return postroom.Attachment{Filename: a.Filename, ContentType: a.ContentType, Size: int64(len(a.Content))}
			}),
		}
	}
	return v
}
