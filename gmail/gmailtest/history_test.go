package gmailtest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
)

// story puts a history into words: what happened, the label it was about.
func story(records []*gmail.History) []string {
	var words []string
	for _, h := range records {
		for range h.MessagesAdded {
			words = append(words, "added")
		}
		for range h.MessagesDeleted {
			words = append(words, "deleted")
		}
		for _, l := range h.LabelsAdded {
			words = append(words, fmt.Sprint("+", l.LabelIds))
		}
		for _, l := range h.LabelsRemoved {
			words = append(words, fmt.Sprint("-", l.LabelIds))
		}
	}
	return words
}

func historyID(t *testing.T, users *gmail.UsersService) uint64 {
	t.Helper()
	profile, err := users.GetProfile("me").Do()
	require.NoError(t, err)
	return profile.HistoryId
}

func TestHistoryTellsWhatHappened(t *testing.T) {
	server, users := serve(t, letters(1))
	start := historyID(t, users)
	id := find(t, users, "0@example.com")
	_, err := modify(users, id, []string{"STARRED"}, []string{"UNREAD"})
	require.NoError(t, err)
	_, err = modify(users, id, []string{"STARRED"}, nil)
	require.NoError(t, err, "a change that changes nothing")
	_, err = users.Messages.Insert("me", &gmail.Message{Raw: encoded("Subject: x\n\n"), LabelIds: []string{"INBOX"}}).Do()
	require.NoError(t, err)
	_, err = users.Messages.Trash("me", id).Do()
	require.NoError(t, err)
	require.NoError(t, users.Messages.Delete("me", id).Do())

	all, err := users.History.List("me").StartHistoryId(start).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"+[STARRED]", "-[UNREAD]", "added", "+[TRASH]", "-[INBOX]", "deleted"}, story(all.History))
	require.Equal(t, historyID(t, users), all.HistoryId)
	last := start
	for _, h := range all.History {
		require.Greater(t, h.Id, last)
		require.Len(t, h.Messages, 1)
		last = h.Id
	}
	require.Equal(t, last, all.HistoryId)
	require.Equal(t, []string{"INBOX", "STARRED"}, all.History[0].LabelsAdded[0].Message.LabelIds, "as the change left it")

	for name, test := range map[string]struct {
		types []string
		label string
		want  []string
	}{
		"added":             {[]string{"messageAdded"}, "", []string{"added"}},
		"deleted":           {[]string{"messageDeleted"}, "", []string{"deleted"}},
		"labels added":      {[]string{"labelAdded"}, "", []string{"+[STARRED]", "+[TRASH]"}},
		"labels removed":    {[]string{"labelRemoved"}, "", []string{"-[UNREAD]", "-[INBOX]"}},
		"two types":         {[]string{"labelRemoved", "messageAdded"}, "", []string{"-[UNREAD]", "added", "-[INBOX]"}},
		"by label":          {nil, "TRASH", []string{"+[TRASH]", "-[INBOX]", "deleted"}},
		"by type and label": {[]string{"labelAdded"}, "INBOX", []string{"+[STARRED]"}},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := users.History.List("me").StartHistoryId(start).HistoryTypes(test.types...).LabelId(test.label).Do()
			require.NoError(t, err)
			require.Equal(t, test.want, story(list.History))
		})
	}
	after, err := users.History.List("me").StartHistoryId(all.HistoryId).Do()
	require.NoError(t, err)
	require.Empty(t, after.History, "the start is not part of it")

	require.NoError(t, server.ForgetHistory(t.Context()))
	_, err = users.History.List("me").StartHistoryId(start).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	_, err = users.History.List("me").StartHistoryId(all.HistoryId).Do()
	require.NoError(t, err, "the present is remembered")
}

func TestHistoryPages(t *testing.T) {
	_, users := serve(t, letters(25))
	var records []*gmail.History
	token := ""
	for {
		page, err := users.History.List("me").StartHistoryId(1000).MaxResults(10).PageToken(token).Do()
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.History), 10)
		records = append(records, page.History...)
		if token = page.NextPageToken; token == "" {
			break
		}
	}
	require.Len(t, records, 25)
	gaps := 0
	for i := 1; i < len(records); i++ {
		require.Greater(t, records[i].Id, records[i-1].Id)
		if records[i].Id > records[i-1].Id+1 {
			gaps++
		}
	}
	require.Positive(t, gaps)
}

func TestHistoryRefusesNonsense(t *testing.T) {
	_, users := serve(t, letters(1))
	_, err := users.History.List("me").Do()
	api := requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	require.Equal(t, "Missing/invalid parameter: startHistoryId", api.Message)
	_, err = users.History.List("me").StartHistoryId(999).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	_, err = users.History.List("me").StartHistoryId(1_000_000).Do()
	api = requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	require.Contains(t, api.Message, "not yet at 1000000")
	_, err = users.History.List("me").StartHistoryId(1000).HistoryTypes("messageEaten").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	_, err = users.History.List("me").StartHistoryId(1000).PageToken("x").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}

// A history of some types has the records of those types alone, also on its pages.
func TestHistoryOfSomeTypes(t *testing.T) {
	_, users := serve(t, letters(3))
	start := historyID(t, users)
	for n := range 3 {
		id := find(t, users, fmt.Sprint(n, "@example.com"))
		_, err := modify(users, id, []string{"STARRED"}, []string{"SPAM"}) // where it is not
		require.NoError(t, err)
		_, err = modify(users, id, nil, []string{"UNREAD"})
		require.NoError(t, err)
		require.NoError(t, users.Messages.Delete("me", id).Do())
		_, err = users.Messages.Insert("me", &gmail.Message{Raw: encoded("Subject: x\n\n")}).Do()
		require.NoError(t, err)
	}
	for types, want := range map[string][]string{
		"messageAdded":   {"added", "added", "added"},
		"messageDeleted": {"deleted", "deleted", "deleted"},
		"labelAdded":     {"+[STARRED]", "+[STARRED]", "+[STARRED]"},
		"labelRemoved":   {"-[UNREAD]", "-[UNREAD]", "-[UNREAD]"},
	} {
		var got []string
		list := users.History.List("me").StartHistoryId(start).HistoryTypes(types).MaxResults(2)
		for _, size := range []int{2, 1} {
			page, err := list.Do()
			require.NoError(t, err)
			require.Len(t, page.History, size, types)
			require.Equal(t, size == 2, page.NextPageToken != "")
			got = append(got, story(page.History)...)
			list.PageToken(page.NextPageToken)
		}
		require.Equal(t, want, got)
	}
	both, err := users.History.List("me").StartHistoryId(start).HistoryTypes("labelAdded", "labelRemoved").Do()
	require.NoError(t, err)
	require.Len(t, both.History, 6)
	full, err := users.History.List("me").StartHistoryId(start).HistoryTypes("messageAdded").MaxResults(3).Do()
	require.NoError(t, err)
	require.Empty(t, full.NextPageToken, "a page that is full and the last")
}

// What one mailbox forgets, another remembers.
func TestHistoryIsForgottenByOneMailbox(t *testing.T) {
	server, users := serve(t, letters(1))
	ann, herUsers := another(t, server, "ann@example.com")
	_, err := ann.Deliver(t.Context(), []byte("Subject: Hi\n\n"))
	require.NoError(t, err)
	require.NoError(t, server.ForgetHistory(t.Context()))
	_, err = users.History.List("me").StartHistoryId(1000).Do()
	requireAPIError(t, err, 404, "notFound")
	hers, err := herUsers.History.List("me").StartHistoryId(1000).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"added"}, story(hers.History))
}

// A listing beside the forgetting of the history has the history, or is refused: an answer without it would be lost
// for good.
func TestHistoryIsForgottenBesideAListing(t *testing.T) {
	server, users := serve(t, letters(1))
	for range 100 {
		profile, err := users.GetProfile("me").Do()
		require.NoError(t, err)
		_, err = server.Deliver(t.Context(), []byte("Subject: one\r\n\r\nx"))
		require.NoError(t, err)
		forgotten := make(chan error, 1)
		go func() { forgotten <- server.ForgetHistory(t.Context()) }()
		for known := true; known; {
			list, err := users.History.List("me").StartHistoryId(profile.HistoryId).Do()
			if known = err == nil; known {
				require.NotEmpty(t, list.History)
			} else {
				requireAPIError(t, err, http.StatusNotFound, "notFound")
			}
		}
		require.NoError(t, <-forgotten)
	}
}
