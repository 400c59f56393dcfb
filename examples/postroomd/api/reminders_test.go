package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/reminding"
	"github.com/postroom-go/postroom/gmail/reminders"
)

func TestRemindersAreMadeSnoozedAndEnded(t *testing.T) {
	each(t, func(w *world) {
		made := call[reminding.Reminder](w, "POST", "/reminders", `{"text": "Call Ben", "at": "tomorrow 9:30"}`, http.StatusOK)
		require.NotEmpty(t, made.Mailbox)
		call[reminding.Reminder](w, "POST", "/reminders", `{"text": "Look", "every": "30 7 * * MON-FRI", "zone": "Europe/Berlin"}`,
			http.StatusOK)
		list := call[reminding.Page](w, "GET", "/reminders", "", http.StatusOK).List
		require.Len(t, list, 2)
		require.Equal(t, "Look", list[0].Text)
		require.False(t, list[0].Next.IsZero())

		path := "/reminders/" + made.ID
		later := call[reminding.Reminder](w, "POST", path+"/snooze", `{"until": "in 3 days"}`, http.StatusOK)
		require.True(t, later.Next.After(made.Next))
		require.Equal(t, later, call[reminding.Reminder](w, "GET", path, "", http.StatusOK))
		require.Equal(t, reminders.Canceled, call[reminding.Reminder](w, "POST", path+"/cancel", "", http.StatusOK).State)
		require.Len(t, call[reminding.Page](w, "GET", "/reminders", "", http.StatusOK).List, 1)
		require.Len(t, call[reminding.Page](w, "GET", "/reminders?all=true", "", http.StatusOK).List, 2)

		call[problem](w, "POST", path+"/cancel", "", http.StatusConflict)
		call[problem](w, "POST", path+"/snooze", `{"until": "tomorrow"}`, http.StatusConflict)
		call[problem](w, "POST", "/reminders/none/cancel", "", http.StatusNotFound)
		call[problem](w, "POST", "/reminders", `{"text": "Tea", "at": "whenever"}`, http.StatusUnprocessableEntity)
		call[problem](w, "POST", "/reminders", `{"text": "Tea", "every": "sometimes"}`, http.StatusUnprocessableEntity)
	})
}
