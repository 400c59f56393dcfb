package cli

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/reminding"
	"github.com/postroom-go/postroom/gmail/reminders"
)

// A person makes a reminder, moves it, is reminded, and ends it.
func TestRemindersComeSnoozeAndEnd(t *testing.T) {
	topic := newTopic(t)
	m := newTeatime(t, "{action: star}", fmt.Sprintf("[notify]\nntfy_url = %q\n", topic.URL+"/t"), letterNamed(1))
	runOnce(t, m.where...)
	one := func(args ...string) (v reminding.Reminder) {
		r := m.postroomd(append([]string{"reminders"}, append(args, "--json")...)...)
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v
	}
	list := func(flags ...string) []reminding.Reminder {
		r := m.postroomd(append([]string{"reminders", "list", "--json"}, flags...)...)
		require.Equal(t, 0, r.status, r.stderr)
		var v reminding.Page
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v.List
	}
	made := one("add", "Call Ben", "--at", "in 3 hours", "--notes", "about tea")
	require.WithinDuration(t, time.Now().Add(3*time.Hour), made.Next, time.Minute)
	require.NotEmpty(t, made.Mailbox)
	often := one("add", "Look", "--every", "30 7 * * MON-FRI", "--zone", "Europe/Berlin")
	require.Equal(t, "Europe/Berlin", often.Zone)
	require.False(t, often.Next.IsZero())
	require.Contains(t, m.postroomd("reminders", "list").stdout, "30 7 * * MON-FRI")

	id := made.ID[len(made.ID)-6:]
	require.WithinDuration(t, time.Now().Add(48*time.Hour), one("snooze", id, "in 2 days").Next, 2*time.Hour)
	require.Equal(t, reminders.Canceled, one("cancel", often.ID).State)
	r := start(t, m.where...)
	r.ready()
	one("snooze", id, time.Now().Add(time.Second).Format(time.RFC3339Nano))
	r.eventually("it is told", func() bool { return len(topic.texts()) == 1 })
	require.Equal(t, "Reminder: Call Ben\nabout tea", topic.texts()[0])
	require.Equal(t, reminders.Delivered, list()[0].State)
	require.Equal(t, 1, list()[0].Deliveries)
	require.Contains(t, m.postroomd("reminders", "cancel", id).stdout, "canceled")
	require.Empty(t, list())
	require.Len(t, list("--all"), 2)

	for text, args := range map[string][]string{
		"is not a time":                {"add", "Tea", "--at", "whenever"},
		"Schedule.Cron":                {"add", "Tea", "--every", "sometimes", "--zone", "UTC"},
		"there is no time zone":        {"add", "Tea", "--at", "tomorrow", "--zone", "Middle/Earth"},
		"write one line":               {"add", "Tea\nCake", "--at", "tomorrow"},
		"there is no reminder abc":     {"cancel", "abc"},
		"the reminder is canceled":     {"snooze", id, "tomorrow"},
		"either a time or a cron":      {"add", "Tea"},
		"time or a cron expression":    {"add", "Tea", "--at", "tomorrow", "--every", "@daily"},
		"reminders snooze needs WHEN:": {"snooze", id},
	} {
		r := m.postroomd(append([]string{"reminders"}, args...)...)
		require.Equal(t, exitUsage, r.status, text)
		require.Contains(t, r.stderr, text)
	}
}
