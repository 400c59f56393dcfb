package safety

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/origin"
)

// received is a mail as Gmail has received it, with further fields.
func received(from string, fields ...string) *postroom.Message {
	msg := message(from)
	_, domain, _ := strings.Cut(from, "@")
	msg.Headers = []postroom.Header{
		{Name: "Received", Value: "from x by mx.google.com with ESMTPS id 1; Mon, 2 Nov 2026 10:00:00 +0000"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=" + domain},
		{Name: "From", Value: from},
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		msg.Headers = append(msg.Headers, postroom.Header{Name: name, Value: value})
	}
	return msg
}

func TestNoModelHidesANoticeAlone(t *testing.T) {
	const alert, auto = "no-reply@bank.example", "Auto-Submitted: auto-generated"
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Policy.ModelUnattended = nil })
	soon := d.now.Add(time.Hour).Format(time.RFC3339)
	forged := received(alert)
	forged.Headers[1].Value = "mx.google.com; dmarc=fail header.from=bank.example"
	for name, tc := range map[string]struct {
		msg  *postroom.Message
		dec  postroom.Decision
		asks bool
	}{
		"archived":          {received(alert), model(postroom.Archive, 1), true},
		"marked as read":    {received(alert), model(postroom.MarkRead, 1), true},
		"read by its label": {received(alert), model(postroom.RemoveLabel, 1, "label", "UNREAD"), true},
		"moved":             {received(alert), model(postroom.Move, 1, "label", "Label_7"), true},
		"snoozed":           {received(alert), model(postroom.Snooze, 1, "until", soon), true},
		"labeled":           {received(alert), model(postroom.ApplyLabel, 1, "label", "Label_7"), false},
		"starred":           {received(alert), model(postroom.Star, 1), false},
		"by a rule":         {received(alert), rule(postroom.Archive, ""), false},
		"automatic":         {received("alerts@bank.example", auto), model(postroom.Archive, 1), true},
		"of a list":         {received(alert, "List-Id: <news.bank.example>"), model(postroom.Archive, 1), false},
		"to unsubscribe":    {received(alert, "List-Unsubscribe: <https://x.example>"), model(postroom.Archive, 1), false},
		"of a person":       {received("ann@bank.example"), model(postroom.Archive, 1), false},
		"not authenticated": {message(alert), model(postroom.Archive, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			a := d.record(tc.msg, tc.dec)
			require.Equal(t, tc.asks, a.State == postroom.ActionPendingApproval, "%s", a.State)
			if tc.asks {
				require.Contains(t, d.checks(a), gate.OverrideNotice)
			}
		})
	}
	a := d.record(forged, model(postroom.Archive, 1))
	require.Contains(t, d.checks(a), gate.OverrideSender, "it waits for another reason")
}

// What Gmail deletes after thirty days, and what comes back after weeks, is not as it was.
func TestNoModelTrashesOrSnoozesForLongAlone(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	for name, tc := range map[string]struct {
		dec  postroom.Decision
		asks bool
	}{
		"trash":       {model(postroom.Trash, 1), true},
		"two weeks":   {model(postroom.Snooze, 1, "until", d.now.Add(14*24*time.Hour).Format(time.RFC3339)), false},
		"a day more":  {model(postroom.Snooze, 1, "until", d.now.Add(15*24*time.Hour).Format(time.RFC3339)), true},
		"a year":      {model(postroom.Snooze, 1, "until", d.now.Add(300*24*time.Hour).Format(time.RFC3339)), true},
		"the restore": {model(postroom.Restore, 1), false},
	} {
		a := d.record(message("a@example.com"), tc.dec)
		require.Equal(t, tc.asks, a.State == postroom.ActionPendingApproval, name)
	}
}

// The words of a snooze mean the time of this machine, as when it is carried out.
func TestTheWordsOfASnoozeAreLocal(t *testing.T) {
	zone := time.Local
	t.Cleanup(func() { time.Local = zone })
	time.Local = time.FixedZone("west", -12*60*60)
	d := newDesk(t, dbtest.SQLite(t), nil)
	passedInUTC := d.now.UTC().Add(-2 * time.Hour).Format("2006-01-02 15:04")
	a := d.record(message("a@example.com"), model(postroom.Snooze, 1, "when", passedInUTC))
	require.Equal(t, postroom.ActionQueued, a.State)
	beyond := d.now.Local().Add(14*24*time.Hour + 2*time.Hour).Format("2006-01-02 15:04")
	a = d.record(message("b@example.com"), model(postroom.Snooze, 1, "when", beyond))
	require.Equal(t, postroom.ActionPendingApproval, a.State, "it is more than two weeks")
	a = d.record(message("c@example.com"), model(postroom.Snooze, 0.1, "when", passedInUTC))
	require.Equal(t, postroom.ActionPendingApproval, a.State)
	_, err := d.approve(a.ID, "ann")
	require.NoError(t, err)
}

// TestHonestNotices counts the notices among honest mail: a model may archive nearly all of it.
func TestHonestNotices(t *testing.T) {
	folders := []string{"../gmail/gmailtest/sample/messages"}
	for _, folder := range []string{corpora.Path("05-spam-news/spamassassin-t/nice"), corpora.Path("11-reports/ok")} {
		if _, err := os.Stat(folder); err != nil {
			t.Log("NOT COUNTED: " + folder + " is not there")
			continue
		}
		folders = append(folders, folder)
	}
	notices, all := 0, 0
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		require.NoError(t, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				continue // a folder
			}
			parsed, err := mime.ParseBytes(raw, nil)
			require.NoError(t, err)
			all++
			msg := readmail.Message(parsed)
			msg.Headers = append(received(msg.From.Email).Headers[:2:2], msg.Headers...)
			if from := origin.Of(msg); from.Notice {
				notices++
				t.Log(filepath.Base(file), parsed.Subject)
			}
		}
	}
	t.Logf("%d of %d messages are notices", notices, all)
}
