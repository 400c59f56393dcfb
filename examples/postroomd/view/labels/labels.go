// Package labels has what is shown of the labels of mailboxes.
package labels

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

// A Label is a label of a mailbox.
type Label struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	Type        postroom.LabelType `json:"type"`
	Description string             `json:"description"` // for a model
	ForModels   bool               `json:"for_models"`  // a model may use it
}

// A LabelList is the labels of a mailbox, as they were at the last sync.
type LabelList struct {
	Labels []Label `json:"labels"`
}

// Of reads the labels of an account.
func Of(ctx context.Context, h *app.App, accountID string) (LabelList, error) {
	all, err := h.Mail.Labels(ctx, accountID)
	return LabelList{printer.List(all, New)}, err
}

// New shows a label.
func New(l postroom.Label) Label {
	return Label{l.ID, l.Name, l.Type, l.Description, l.AvailableToClassifier}
}
