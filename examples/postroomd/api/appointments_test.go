package api_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/calendar"
	"github.com/postroom-go/postroom/queue"
)

const hostileTitle = "../../Tea <b>party</b> "

// walkDay is a year from now: a day in a text that is further away is no appointment.
var walkDay = time.Now().AddDate(1, 0, 0).Format(time.DateOnly)

// keptMails name an appointment to come, one that is over, and one that is unsure.
func keptMails() []string {
	return []string{
		invitation("ada@example.com", hostileTitle+strings.Repeat("x", 300), "tea", "20990306T140000Z", "REQUEST"),
		invitation("ada@example.com", "Over", "over", "20190306T140000Z", "REQUEST"),
		"From: Ben <ben@example.com>\nTo: " + sample.Owner + "\nSubject: Walk\n\nSee you on " + walkDay + " at 10:30.\n",
	}
}

func keeps(c *config.Config, how string) {
	c.Enrich.Enabled, c.Enrich.Events, c.Notify.Zone = true, how, "UTC"
}

func (w *world) brings(raw string) {
	w.Helper()
	_, err := w.gmail.Deliver(w.Context(), []byte(strings.ReplaceAll(raw, "\n", "\r\n")))
	require.NoError(w, err)
	w.work()
}

func (w *world) appointments() map[string]enrichment.Appointment {
	w.Helper()
	found := map[string]enrichment.Appointment{}
	for _, a := range call[enrichment.Appointments](w, "GET", "/meaning/events", "", http.StatusOK).List {
		found[a.Title[:4]] = a
	}
	return found
}

// say answers about the appointment of a message.
func (w *world) say(a enrichment.Appointment, word string) {
	w.Helper()
	call[enrichment.View](w, "POST", "/mail/"+sample.Owner+"/"+a.MessageID+"/meaning", word, http.StatusOK)
	w.work()
}

// Appointments that stand become files, once; what a person says about them is followed.
func TestAppointmentsBecomeFiles(t *testing.T) {
	for _, database := range []string{"", dbtest.MigratedDSN(t)} {
		folder := t.TempDir()
		names := func() (list []string) {
			entries, err := os.ReadDir(folder)
			require.NoError(t, err)
			for _, e := range entries {
				list = append(list, e.Name())
			}
			return list
		}
		w := newWorldWith(t, database, func(c *config.Config) {
			keeps(c, config.EventFiles)
			c.Enrich.EventsFolder = config.Path(folder)
		}, keptMails()...)
		w.work()
		require.Len(t, names(), 1, "what is over, and what is unsure, has none")
		tea := w.appointments()["../."]
		require.Equal(t, names()[0], tea.File)
		require.True(t, strings.HasPrefix(tea.File, "2099-03-06 "), tea.File)
		raw, err := os.ReadFile(filepath.Join(folder, tea.File))
		require.NoError(t, err)
		read, err := calendar.Parse(string(raw))
		require.NoError(t, err)
		require.Len(t, read.Events, 1)
		require.True(t, strings.HasPrefix(read.Events[0].Summary, hostileTitle))
		require.Contains(t, read.Events[0].Description, "From a mail of <ada@example.com>: ")
		require.Contains(t, read.Events[0].Description, "https://mail.google.com/mail/?authuser=")

		walk := w.appointments()["Walk"]
		require.True(t, walk.Unsure)
		require.Empty(t, walk.File)
		w.say(walk, `{"stage": "calendar", "approve": true}`)
		require.Equal(t, walkDay+" Walk.ics", w.appointments()["Walk"].File)
		require.Len(t, names(), 2)
		w.say(tea, `{"stage": "calendar", "reject": true}`)
		require.Equal(t, []string{walkDay + " Walk.ics"}, names())
		require.Zero(t, w.sent())
	}
}

// sent is how much mail was sent, and drafts how many drafts there are.
func (w *world) sent() int   { return w.labelled("SENT") }
func (w *world) drafts() int { return w.labelled("DRAFT") }

func (w *world) labelled(label string) (n int) {
	w.Helper()
	all, err := w.gmail.Snapshot(w.Context())
	require.NoError(w, err)
	for _, m := range all {
		if slices.Contains(m.Labels, label) {
			n++
		}
	}
	return n
}

// Appointments that stand become one draft for each mail, to the owner, which says what they collide with. It is not
// sent, and is not taken for mail that names an appointment.
func TestAppointmentsBecomeDrafts(t *testing.T) {
	for _, database := range []string{"", dbtest.MigratedDSN(t)} {
		w := newWorldWith(t, database, func(c *config.Config) { keeps(c, config.EventDrafts) }, keptMails()...)
		w.work()
		require.Equal(t, 1, w.drafts())
		w.brings(invitation("ben@example.com", "Dentist", "dentist", "20990306T143000Z", "REQUEST"))
		w.work()
		require.Equal(t, 2, w.drafts())
		events := w.appointments()
		require.Len(t, events, 3)
		require.NotEmpty(t, events["../."].Draft)
		require.Empty(t, events["Walk"].Draft)
		w.say(events["Walk"], `{"stage": "calendar", "approve": true}`)
		require.Equal(t, 3, w.drafts())
		w.say(events["../."], `{"stage": "calendar", "reject": true}`)
		require.Equal(t, 3, w.drafts(), "a draft is the owner's")
		require.Zero(t, w.sent())

		found := map[string]*mime.Message{}
		for _, draft := range w.readDrafts() {
			found[draft.Attachments[0].Filename] = draft
		}
		require.Len(t, found, 3)
		dentist := found["2099-03-06 Dentist.ics"]
		require.Equal(t, sample.Owner, dentist.To[0].Email)
		require.Equal(t, "Appointment: Dentist", dentist.Subject)
		require.Contains(t, dentist.Text, "Conflict: Dentist is at the same time as "+hostileTitle[:12])
		read, err := calendar.Parse(string(dentist.Attachments[0].Content))
		require.NoError(t, err)
		require.Equal(t, "Dentist", read.Events[0].Summary)
		require.Empty(t, read.Method, "nobody is asked to answer")
	}
}

// readDrafts reads the drafts of appointments at Gmail.
func (w *world) readDrafts() (list []*mime.Message) {
	w.Helper()
	drafts, err := outbox.NewDrafts(outbox.DraftsConfig{Store: w.app.Mail, Clients: w.app.Clients})
	require.NoError(w, err)
	jobs, err := w.app.Queue.Jobs(w.Context(), queue.Filter{Types: []string{string(appointments.Job)}})
	require.NoError(w, err)
	seen := map[string]bool{}
	for _, job := range jobs {
		var p appointments.Payload
		require.NoError(w, json.Unmarshal(job.Payload, &p))
		draft, content, err := drafts.Read(w.Context(), p.AccountID, appointments.DraftKey(p.MessageID))
		if err != nil || seen[draft.ID] { // of a message without appointments to come
			continue
		}
		seen[draft.ID] = true
		list = append(list, content)
	}
	return list
}

// A dry run puts appointments nowhere.
func TestADryRunKeepsNoAppointments(t *testing.T) {
	folder := t.TempDir()
	w := newWorldWith(t, "", func(c *config.Config) {
		keeps(c, config.EventFiles)
		c.Enrich.EventsFolder, c.Safety.DryRun = config.Path(folder), true
	}, keptMails()...)
	w.work()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, entries)
}
