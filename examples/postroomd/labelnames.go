package main

import (
	"cmp"
	"context"
)

// labelNames are the names of the labels of all accounts. Labels of two accounts can have the same id at Gmail.
type labelNames map[labelKey]string

type labelKey struct{ accountID, id string }

// name returns the label's name, or the id of a deleted label.
func (n labelNames) name(accountID, id string) string {
	return cmp.Or(n[labelKey{accountID, id}], id)
}

func (h *host) labelNames(ctx context.Context) (labelNames, error) {
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	names := make(labelNames)
	for _, a := range accounts {
		labels, err := h.mail.Labels(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		for _, l := range labels {
			names[labelKey{a.ID, l.ID}] = printable(l.Name)
		}
	}
	return names, nil
}
