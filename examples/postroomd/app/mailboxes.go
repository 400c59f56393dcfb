package app

import (
	"context"
	"strings"

	"github.com/postroom-go/postroom/queue"
)

// maxLabelDescription bounds what is said to a model about a label, in characters.
const maxLabelDescription = 500

// PauseMailbox keeps the jobs of a mailbox from running, until [App.ResumeMailbox]. by and why, of which either may be
// empty, are its reason.
func (h *App) PauseMailbox(ctx context.Context, accountID, by, why string) error {
	reason := why
	if by != "" {
		reason = strings.TrimSuffix("paused by "+by+": "+why, ": ")
	}
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return h.Mail.Pause(ctx, tx, h.Queue, accountID, reason)
	})
}

// ResumeMailbox lets the jobs of a mailbox run again.
func (h *App) ResumeMailbox(ctx context.Context, accountID string) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return h.Mail.Resume(ctx, tx, h.Queue, accountID)
	})
}

// DescribeLabel stores what a model is told about a label of a mailbox, cut where it is long, and whether it may choose
// the label.
func (h *App) DescribeLabel(ctx context.Context, accountID, labelID, description string, available bool) error {
	text := []rune(strings.TrimSpace(description))
	text = text[:min(len(text), maxLabelDescription)]
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return h.Mail.DescribeLabel(ctx, tx, accountID, labelID, string(text), available)
	})
}
