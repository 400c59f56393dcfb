package fixing

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
)

// MarkOf returns what a test of the rules needs of a stored message, whose labels become names.
func MarkOf(ctx context.Context, h *app.App, m *postroom.Message) (mark ruledraft.Mark, err error) {
	msg := *m
	mark.Message = &msg
	if mark.SenderSeen, err = h.Mail.SenderSeen(ctx, m); err != nil {
		return mark, err
	}
	if mark.Past, err = h.PastOf(ctx, m); err != nil {
		return mark, err
	}
	msg.LabelIDs, err = labelNames(ctx, h, m)
	return mark, err
}

// labelNames are the labels of a message as files have them.
func labelNames(ctx context.Context, h *app.App, m *postroom.Message) (names []string, err error) {
	labels, err := h.Mail.Labels(ctx, m.AccountID)
	for _, id := range m.LabelIDs {
		if i := slices.IndexFunc(labels, func(l postroom.Label) bool { return l.ID == id }); i >= 0 {
			id = labels[i].Name
		}
		names = append(names, id)
	}
	return names, err
}
