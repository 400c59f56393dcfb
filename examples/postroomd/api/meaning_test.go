package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

const newsletterMail = "From: news@shop.example\nTo: you@example.com\nSubject: News\n" +
	"List-Unsubscribe: <https://shop.example/u>\n\nMuch to read.\n"

type meaningPage struct {
	List []enrichment.View `json:"list"`
}

func TestWhatMailMeansIsListedAndAnswered(t *testing.T) {
	w := newWorldWith(t, "", func(c *config.Config) { c.Enrich.Enabled = true }, newsletterMail)
	list := call[meaningPage](w, "GET", "/meaning", "", http.StatusOK).List
	require.Len(t, list, 1)
	require.Equal(t, "newsletters", list[0].Category.Value)
	require.Equal(t, "low", list[0].Importance.Value)
	require.Equal(t, "completed", list[0].State)
	jobs, err := w.app.Queue.Jobs(t.Context(), queue.Filter{Types: []string{string(enrich.Job)}})
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.Equal(t, mailstore.LimitKey(account.ID), jobs[0].LimitKey, "a pause of the mailbox holds for it")
	require.Empty(t, call[meaningPage](w, "GET", "/meaning?category=work", "", http.StatusOK).List)
	for query, want := range map[string]int{"topic=newsletters&priority=low": 1, "topic=newsletters&q=subject:news": 1,
		"topic=work": 0, "priority=high": 0, "topic=newsletters&q=subject:tea": 0} {
		mail := call[view.MailPage](w, "GET", "/mail?"+query, "", http.StatusOK).Messages
		require.Len(t, mail, want, query)
		if want > 0 {
			require.Equal(t, &enrichment.Sign{Topic: "newsletters", Priority: "low"}, mail[0].Meaning)
		}
	}
	require.Empty(t, call[meaningPage](w, "GET", "/meaning?unsure=true", "", http.StatusOK).List)

	rule := rules.NewRule("Tried", rules.Condition{Type: rules.Topic, Value: "newsletters"}, postroom.Star, nil)
	var found app.RulePreview
	for state, err := range w.app.PreviewRule(t.Context(), account, rule) {
		require.NoError(t, err)
		found = state
	}
	require.True(t, found.Meant)
	require.Equal(t, 1, found.Found, "a preview goes by what is known")

	one := "/mail/" + sample.Owner + "/" + list[0].MessageID + "/meaning"
	require.Equal(t, list[0].Category, call[enrichment.View](w, "GET", one, "", http.StatusOK).Category)
	said := call[enrichment.View](w, "POST", one, `{"stage": "category", "value": "work"}`, http.StatusOK)
	require.Equal(t, "work", said.Category.Value)
	require.Equal(t, "person", said.Category.By)
	for _, wrong := range []string{`{"stage": "category"}`, `{"stage": "category", "approve": true, "value": "work"}`,
		`{"stage": "category", "value": "none"}`, `{"stage": "note", "approve": true}`} {
		call[problem](w, "POST", one, wrong, http.StatusUnprocessableEntity)
	}
	call[problem](w, "GET", "/mail/"+sample.Owner+"/none/meaning", "", http.StatusNotFound)
}

// Seed 004: "Obsidian: + note_path". A rule that goes by what a mail means asks for the note when that is known, once;
// how far the note is stands in the timeline of the message, and what the stages have found does not wait for it.
func TestANoteStandsInTheTimeline(t *testing.T) {
	for _, asks := range []bool{false, true} {
		vault := t.TempDir()
		w := newWorldWith(t, "", func(c *config.Config) {
			c.Enrich.Enabled, c.Notes.Folder, c.Notes.Path = true, config.Path(vault), "{{subject}}"
			if asks {
				c.Policy.ApprovalAlways = append(c.Policy.ApprovalAlways, string(postroom.AddNote))
			}
		})
		call[any](w, "POST", "/rules", `{"name": "Notes", "condition": {"type": "priority", "value": "low"},
			"action": "add_note", "parameters": {"note": "Read it at the weekend."}}`, http.StatusOK)
		_, err := w.gmail.Deliver(t.Context(), []byte(strings.ReplaceAll(newsletterMail, "\n", "\r\n")))
		require.NoError(t, err)
		w.work()
		list := call[meaningPage](w, "GET", "/meaning", "", http.StatusOK).List
		require.Len(t, list, 1)
		require.Equal(t, "completed", list[0].State)
		require.Zero(t, list[0].Calls, "the note costs no call of a model")
		one := "/mail/" + sample.Owner + "/" + list[0].MessageID + "/meaning"
		written := call[enrichment.View](w, "GET", one, "", http.StatusOK).Notes
		require.Len(t, written, 1)
		if asks {
			require.Equal(t, postroom.ActionPendingApproval, written[0].State)
			require.Equal(t, "waits for approval", written[0].Line())
			continue
		}
		require.Equal(t, "News.md", written[0].Path)
		require.Equal(t, postroom.ActionCompleted, written[0].State)
		call[enrichment.View](w, "POST", one, `{"stage": "importance", "approve": true}`, http.StatusOK)
		w.work()
		require.Len(t, call[enrichment.View](w, "GET", one, "", http.StatusOK).Notes, 1, "once for each message")
		call[any](w, "POST", "/actions/"+written[0].Action+"/undo", "", http.StatusOK)
		w.work()
		require.Empty(t, call[enrichment.View](w, "GET", one, "", http.StatusOK).Notes)
	}
}

func TestWithoutEnrichmentNothingIsKnown(t *testing.T) {
	w := newWorldWith(t, "", func(*config.Config) {}, newsletterMail)
	require.Empty(t, call[meaningPage](w, "GET", "/meaning", "", http.StatusOK).List)
}

// invitation is a mail with a calendar: an hour of that day of 2099.
func invitation(from, title, uid, start, method string) string {
	return "From: " + from + "\nTo: " + sample.Owner + "\nSubject: " + title + "\nMIME-Version: 1.0\n" +
		"Content-Type: text/calendar; charset=utf-8; method=" + method + "\n\n" +
		"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\n" +
		"METHOD:" + method + "\nBEGIN:VEVENT\nUID:" + uid + "\nDTSTAMP:20260101T000000Z\nDTSTART:" + start +
		"\nDURATION:PT1H\nSUMMARY:" + title + "\nEND:VEVENT\nEND:VCALENDAR\n"
}

// The appointments to come are listed with what is at the same time, and one that is called off by who has called it
// is not.
func TestAppointmentsAreListedWithConflicts(t *testing.T) {
	mails := []string{
		invitation("ada@example.com", "Tea <b>party</b>", "tea", "20990306T140000Z", "REQUEST"),
		strings.Replace(invitation("ben@example.com", "Dentist", "dentist", "20990306T143000Z", "REQUEST"),
			"\nEND:VEVENT", "\nRRULE:FREQ=WEEKLY\nEND:VEVENT", 1),
		invitation("ben@example.com", "Walk", "walk", "20990307T143000Z", "REQUEST"),
		invitation("ada@example.com", "Over", "over", "20190306T140000Z", "REQUEST"),
	}
	later := []string{
		invitation("ben@example.com", "Walk", "walk", "20990307T143000Z", "CANCEL"),
		invitation("eve@bad.example", "Tea", "tea", "20990306T140000Z", "CANCEL"),
	}
	for _, database := range []string{"", dbtest.MigratedDSN(t)} {
		w := newWorldWith(t, database, func(c *config.Config) {
			c.Enrich.Enabled = true
			c.Notify.Zone = "UTC"
		}, mails...)
		for _, raw := range later {
			_, err := w.gmail.Deliver(t.Context(), []byte(strings.ReplaceAll(raw, "\n", "\r\n")))
			require.NoError(t, err)
		}
		w.work()
		found := call[enrichment.Appointments](w, "GET", "/meaning/events", "", http.StatusOK)
		require.Zero(t, found.More)
		var titles []string
		for _, a := range found.List {
			titles = append(titles, a.Title)
		}
		require.Equal(t, []string{"Tea <b>party</b>", "Dentist"}, titles)
		require.Equal(t, []string{"Dentist, 2099-03-06T14:30, 2099-03-06T15:30, UTC, repeats"}, found.List[0].Conflicts)
		one := "/mail/" + sample.Owner + "/" + found.List[0].MessageID + "/meaning"
		require.Len(t, call[enrichment.View](w, "GET", one, "", http.StatusOK).Conflicts, 1)
	}
}
