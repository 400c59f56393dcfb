package gmailtest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
)

func TestModify(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	for name, test := range map[string]struct{ add, remove []string }{
		"unknown label":     {[]string{"Label_9"}, nil},
		"remove unknown":    {nil, []string{"nosuch"}},
		"sent":              {[]string{"SENT"}, nil},
		"remove draft":      {nil, []string{"DRAFT"}},
		"both ways at once": {[]string{"STARRED"}, []string{"STARRED"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := modify(users, id, test.add, test.remove)
			requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
		})
	}
	require.Equal(t, []string{"INBOX", "UNREAD"}, labels(t, server, id), "nothing was done")

	after, err := modify(users, id, []string{"STARRED", "INBOX"}, []string{"UNREAD", "SPAM"})
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "STARRED"}, after.LabelIds)
	_, err = modify(users, "ffffffffffffffff", []string{"STARRED"}, nil)
	api := requireAPIError(t, err, http.StatusNotFound, "notFound")
	require.Equal(t, "Requested entity was not found.", api.Message)
}

func TestTrashAndUntrash(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	trashed, err := users.Messages.Trash("me", id).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"TRASH", "UNREAD"}, trashed.LabelIds)
	list, err := users.Messages.List("me").Do()
	require.NoError(t, err)
	require.Empty(t, list.Messages)
	_, err = users.Messages.Untrash("me", id).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"UNREAD"}, labels(t, server, id))
}

func TestDeleteAndBatches(t *testing.T) {
	server, users := serve(t, letters(4))
	id := func(n string) string { return find(t, users, n+"@example.com") }
	zero, one, two := id("0"), id("1"), id("2")
	require.NoError(t, users.Messages.BatchModify("me", &gmail.BatchModifyMessagesRequest{
		Ids: []string{zero, "ffffffffffffffff", one}, AddLabelIds: []string{"IMPORTANT"}, RemoveLabelIds: []string{"UNREAD"},
	}).Do())
	require.Equal(t, []string{"IMPORTANT", "INBOX"}, labels(t, server, one))

	require.NoError(t, users.Messages.Delete("me", zero).Do())
	requireAPIError(t, users.Messages.Delete("me", zero).Do(), http.StatusNotFound, "notFound")
	require.NoError(t, users.Messages.BatchDelete("me",
		&gmail.BatchDeleteMessagesRequest{Ids: []string{one, zero, two}}).Do())
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)

	err = users.Messages.BatchDelete("me", &gmail.BatchDeleteMessagesRequest{Ids: make([]string, 1001)}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	err = users.Messages.BatchModify("me", &gmail.BatchModifyMessagesRequest{AddLabelIds: []string{"STARRED"}}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}

// As many labels and messages as Gmail takes in one request are taken, and one more is not.
func TestBoundsOfChanges(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	var names, more []string
	for i := range 101 {
		names = append(names, fmt.Sprint("L", i))
	}
	require.NoError(t, server.CreateLabels(t.Context(), names...))
	for i := range names {
		more = append(more, fmt.Sprintf("Label_%d", i+1))
	}
	_, err := modify(users, id, more, nil)
	requireAPIError(t, err, 400, "invalidArgument")
	_, err = modify(users, id, nil, more)
	requireAPIError(t, err, 400, "invalidArgument")
	changed, err := modify(users, id, more[:100], nil)
	require.NoError(t, err)
	require.Len(t, changed.LabelIds, 102)
	changed, err = modify(users, id, nil, more[:100])
	require.NoError(t, err)
	require.Len(t, changed.LabelIds, 2)

	ids := slices.Repeat([]string{"ffffffffffffffff"}, 1001)
	ids[0] = id
	err = users.Messages.BatchModify("me",
		&gmail.BatchModifyMessagesRequest{Ids: ids, AddLabelIds: []string{"STARRED"}}).Do()
	requireAPIError(t, err, 400, "invalidArgument")
	require.NotContains(t, labels(t, server, id), "STARRED")
	require.NoError(t, users.Messages.BatchModify("me", &gmail.BatchModifyMessagesRequest{Ids: ids[:1000],
		AddLabelIds: []string{"STARRED"}}).Do())
	require.Contains(t, labels(t, server, id), "STARRED")
}
