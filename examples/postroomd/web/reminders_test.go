package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/internal/browsertest"
)

// A reminder is made, snoozed and ended on the page of what waits.
func TestRemindersStandBesideWhatWaits(t *testing.T) {
	w := newWorld(t)
	list := func() []reminders.Reminder {
		list, err := w.Reminders.List(t.Context(), reminders.Filter{Open: true})
		require.NoError(t, err)
		return list
	}
	add := func(at string) reply {
		return w.post("reminders", url.Values{"mailbox": {sample.Owner}, "text": {"Call <b>Ben</b>"}, "at": {at}})
	}
	require.Equal(t, http.StatusConflict, add("whenever").status)
	require.Empty(t, list())
	require.Equal(t, http.StatusSeeOther, add("tomorrow 9:30").status)
	require.Len(t, list(), 1)
	page := w.get("waiting")
	require.Contains(t, page.body, "Call &lt;b&gt;Ben&lt;/b&gt;")
	before := list()[0].Next
	path := "reminders/" + list()[0].ID
	require.Equal(t, http.StatusSeeOther, w.post(path+"/snooze", url.Values{"until": {"in 3 days"}}).status)
	require.True(t, list()[0].Next.After(before))
	require.Equal(t, http.StatusSeeOther, w.post(path+"/cancel", nil).status)
	require.Empty(t, list())
	require.NotContains(t, w.get("waiting").body, "Ben&lt;")
	bob := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	require.NotContains(t, bob.get("waiting").body, "Remind me of")
}

// The first look is asked for, and shows rules that nobody has applied.
func TestAFirstLookIsAskedForAndShown(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	before := len(w.rules())
	path := "mailboxes/" + account.ID + "/look"
	require.Contains(t, w.get("mailboxes").body, path)
	require.Contains(t, w.get(path).body, "Nobody has looked at it yet")
	require.Equal(t, http.StatusSeeOther, w.post(path, nil).status)
	require.NoError(t, w.RunJobs(t.Context()))
	page := w.get(path)
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.body, "messages were looked at")
	require.Contains(t, page.body, "What it is")
	require.Contains(t, page.body, sample.Owner)
	require.Len(t, w.rules(), before)
	w.small(map[string]string{"first-look": path})
	looks(browsertest.Browse(t), w.url, map[string]string{"first-look": path})
}
