package gmailtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/queue"
)

// maxFilters is the maximum number of filters of an account.
const maxFilters = 1000

func (s *Server) createFilter(ctx context.Context, r *request) (any, error) {
	var f gmail.Filter
	if err := r.readJSON(&f); err != nil {
		return nil, err
	}
	return &f, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := s.checkFilter(ctx, tx, r.account, &f); err != nil {
			return err
		}
		f.Id = "ANe1Bm" + messageID(r.account.email, filterText(&f))
		filters, err := loadSettings[gmail.Filter](ctx, tx, r.account, kindFilter)
		switch {
		case err != nil:
			return err
		case slices.ContainsFunc(filters, func(other *gmail.Filter) bool { return other.Id == f.Id }):
			return &wire.Error{Status: 400, Reason: "failedPrecondition", Message: "Filter already exists"}
		case len(filters) >= maxFilters:
			return &wire.Error{Status: 400, Reason: "failedPrecondition", Message: "Too many filters"}
		}
		return saveSetting(ctx, tx, r.account, kindFilter, f.Id, &f)
	})
}

// filterText returns the same text for equal filters.
func filterText(f *gmail.Filter) string { return fmt.Sprintf("%+v %+v", *f.Criteria, *f.Action) }

// checkFilter refuses invalid filters like Gmail, and completes the filter.
func (s *Server) checkFilter(ctx context.Context, tx queue.Tx, a *Account, f *gmail.Filter) error {
	if f.Criteria == nil {
		f.Criteria = &gmail.FilterCriteria{}
	}
	if f.Action == nil {
		f.Action = &gmail.FilterAction{}
	}
	if filterQuery(f.Criteria) == "" {
		return wire.InvalidArgument("Filter doesn't have any criteria")
	}
	if len(f.Action.AddLabelIds) == 0 && len(f.Action.RemoveLabelIds) == 0 && f.Action.Forward == "" {
		return wire.InvalidArgument("Filter doesn't have any actions")
	}
	if _, err := s.parseFilter(a, f.Criteria); err != nil {
		return wire.InvalidArgument("Invalid filter criteria: %v", err)
	}
	if f.Action.Forward != "" {
		if err := checkForwarding(ctx, tx, a, f.Action.Forward); err != nil {
			return err
		}
	}
	if len(f.Action.AddLabelIds) == 0 && len(f.Action.RemoveLabelIds) == 0 {
		return nil
	}
	return checkChange(ctx, tx, a.id, f.Action.AddLabelIds, f.Action.RemoveLabelIds)
}

// filterQuery returns the criteria as a search.
func filterQuery(c *gmail.FilterCriteria) string {
	var parts []string
	add := func(format, value string) {
		if strings.TrimSpace(value) != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("from:(%s)", c.From)
	add("to:(%s)", c.To)
	add("subject:(%s)", c.Subject)
	add("(%s)", c.Query)
	add("-{%s}", c.NegatedQuery)
	if c.HasAttachment {
		parts = append(parts, "has:attachment")
	}
	switch c.SizeComparison {
	case "larger":
		parts = append(parts, fmt.Sprintf("larger:%d", c.Size))
	case "smaller":
		parts = append(parts, fmt.Sprintf("smaller:%d", c.Size))
	}
	return strings.Join(parts, " ")
}

func (s *Server) parseFilter(a *Account, c *gmail.FilterCriteria) (*gmailquery.Query, error) {
	query, err := gmailquery.Parse(filterQuery(c), gmailquery.Options{Now: s.now(), Me: a.email})
	return &query, err
}

func (s *Server) listFilters(ctx context.Context, r *request) (any, error) {
	filters, err := loadSettings[gmail.Filter](ctx, s.db.Reader(), r.account, kindFilter)
	return &gmail.ListFiltersResponse{Filter: filters}, err
}

func (s *Server) getFilter(ctx context.Context, r *request) (any, error) {
	f := new(gmail.Filter)
	return f, foundOr404(loadSetting(ctx, s.db.Reader(), r.account, kindFilter, r.param("id"), f))
}

func (s *Server) deleteFilter(ctx context.Context, r *request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return removeSetting(ctx, tx, r.account, kindFilter, r.param("id"))
	})
}

// forgetLabelInFilters removes a label from the actions of filters. A filter without any other action is deleted.
func forgetLabelInFilters(ctx context.Context, tx queue.Tx, a *Account, label string) error {
	filters, err := loadSettings[gmail.Filter](ctx, tx, a, kindFilter)
	if err != nil {
		return err
	}
	for _, f := range filters {
		add, remove := without(f.Action.AddLabelIds, []string{label}), without(f.Action.RemoveLabelIds, []string{label})
		switch {
		case len(add) == len(f.Action.AddLabelIds) && len(remove) == len(f.Action.RemoveLabelIds):
			continue
		case len(add) == 0 && len(remove) == 0 && f.Action.Forward == "":
			err = removeSetting(ctx, tx, a, kindFilter, f.Id)
		default:
			f.Action.AddLabelIds, f.Action.RemoveLabelIds = add, remove
			err = saveSetting(ctx, tx, a, kindFilter, f.Id, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyFilters applies all matching filters to an incoming message. It returns the addresses that the message is
// forwarded to.
func (s *Server) applyFilters(ctx context.Context, tx queue.Tx, to *Account,
	m *messageRow) (forward []string, err error) {
	filters, err := loadSettings[gmail.Filter](ctx, tx, to, kindFilter)
	if err != nil {
		return nil, err
	}
	for _, f := range filters {
		matches, err := s.filterMatches(ctx, tx, to, f, m.Seq)
		if err != nil {
			return nil, err
		}
		if !matches {
			continue
		}
		if _, err := changeLabels(ctx, tx, to.id, m.ID, f.Action.AddLabelIds, f.Action.RemoveLabelIds); err != nil {
			return nil, err
		}
		if f.Action.Forward != "" {
			forward = append(forward, f.Action.Forward)
		}
	}
	return forward, nil
}

func (s *Server) filterMatches(ctx context.Context, tx queue.Tx, to *Account, f *gmail.Filter,
	seq int64) (bool, error) {
	query, err := s.parseFilter(to, f.Criteria)
	if err != nil {
		return false, err
	}
	found := search{account: to, from: "messages m", by: "m"}
	if err := found.readLabels(ctx, tx); err != nil {
		return false, err
	}
	if err := found.compile(ctx, tx, query.Root, false); err != nil {
		return false, err
	}
	found.add("m.seq = %s", seq)
	var matches bool
	err = dbquery.Get(ctx, tx, &matches, "SELECT EXISTS (SELECT 1 FROM "+found.from+" WHERE "+found.where()+")",
		found.args...)
	return matches, err
}
