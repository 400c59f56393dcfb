package gmailapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"
)

func TestListFilters(t *testing.T) {
	w := newWorld(t)
	none, err := w.client.ListFilters(t.Context())
	require.NoError(t, err)
	require.Empty(t, none)
	for _, f := range []*api.Filter{
		{Criteria: &api.FilterCriteria{From: "news@shop.example", Size: 1000, SizeComparison: "larger"}, Action: &api.FilterAction{AddLabelIds: []string{"STARRED"}, RemoveLabelIds: []string{"INBOX"}}},
		{Criteria: &api.FilterCriteria{Query: "list:dev", NegatedQuery: "urgent", HasAttachment: true}, Action: &api.FilterAction{AddLabelIds: []string{"TRASH"}}},
	} {
		_, err := w.google.Users.Settings.Filters.Create("me", f).Do()
		require.NoError(t, err)
	}
	list, err := w.client.ListFilters(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	for i := range list {
		require.NotEmpty(t, list[i].ID)
		list[i].ID = ""
	}
	require.ElementsMatch(t, []Filter{
		{From: "news@shop.example", Size: 1000, SizeComparison: "larger", AddLabelIDs: []string{"STARRED"}, RemoveLabelIDs: []string{"INBOX"}},
		{Query: "list:dev", NegatedQuery: "urgent", HasAttachment: true, AddLabelIDs: []string{"TRASH"}},
	}, list)
}
