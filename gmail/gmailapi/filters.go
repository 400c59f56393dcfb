package gmailapi

import "context"

// A Filter is one of the filters of a mailbox's settings.
type Filter struct {
	ID string
	// From, To and Subject are searches in these fields, Query and NegatedQuery searches as in Gmail's own search box.
	From, To, Subject   string
	Query, NegatedQuery string
	HasAttachment       bool
	// Size in bytes counts if SizeComparison is larger or smaller; otherwise SizeComparison is empty.
	Size                        int64
	SizeComparison              string
	AddLabelIDs, RemoveLabelIDs []string
	Forward                     string // an address; may be empty
}

// ListFilters lists the filters of the mailbox. It needs a scope that reads settings, such as gmail.modify.
func (c *Client) ListFilters(ctx context.Context) (filters []Filter, err error) {
	err = c.do(ctx, MethodListFilters, "list the filters", ClassNotFound, func(ctx context.Context) error {
		answer, err := c.service.Users.Settings.Filters.List(c.user).Context(ctx).Do()
		if err != nil {
			return err
		}
		for _, f := range answer.Filter {
			filter := Filter{ID: f.Id}
			if a := f.Action; a != nil {
				filter.AddLabelIDs, filter.RemoveLabelIDs, filter.Forward = a.AddLabelIds, a.RemoveLabelIds, a.Forward
			}
			if q := f.Criteria; q != nil {
				filter.From, filter.To, filter.Subject, filter.Query, filter.NegatedQuery = q.From, q.To, q.Subject, q.Query,
					q.NegatedQuery
				filter.HasAttachment, filter.Size = q.HasAttachment, q.Size
				if q.SizeComparison == "larger" || q.SizeComparison == "smaller" {
					filter.SizeComparison = q.SizeComparison
				}
			}
			filters = append(filters, filter)
		}
		return nil
	})
	return filters, err
}
