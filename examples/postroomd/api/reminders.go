package api

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/reminding"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/gmail/reminders"
)

// A remindersAPI makes and changes reminders.
type remindersAPI struct {
	app *app.App
	of  mailboxes
}

func (a remindersAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/reminders", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the reminders that are to come, or came within a week, the latest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/reminders", Scope: webapi.Approve, Account: a.of.byBody,
			Summary: "Make a reminder that comes once, or again and again"}, a.add),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/reminders/{id}", Scope: webapi.See,
			Account: a.byReminder, Summary: "Show a reminder"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/reminders/{id}/snooze", Scope: webapi.Approve,
			Account: a.byReminder, Summary: "Have a reminder come at another time, or once more"}, a.snooze),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/reminders/{id}/cancel", Scope: webapi.Approve,
			Account: a.byReminder, NoBody: true, Summary: "End a reminder"}, a.cancel),
	}
}

type reminderQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out"               query:"mailbox"`
	All     bool   `jsonschema:"also those that are canceled, and those that came before" query:"all"`
	Before  string `jsonschema:"next of the page before"                                  query:"before"`
}

func (a remindersAPI) list(r *http.Request, in reminderQuery) (v reminding.Page, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	return reminding.List(r.Context(), a.app, reminding.Filter{Limit: onPage, All: in.All, Before: in.Before,
		AccountID: cmp.Or(webapi.CallerOf(r).AccountID, account)})
}

type reminderBody struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Text    string `json:"text"              jsonschema:"what to be reminded of, on one line"`
	Notes   string `json:"notes,omitempty"   jsonschema:"more about it"`
	At      string `json:"at,omitempty"      jsonschema:"when it comes: tomorrow, friday 9:30, in 3 hours, 2027-01-31T08:00:00Z"`
	Every   string `json:"every,omitempty"   jsonschema:"when it comes again and again, as a cron expression; instead of at"`
	Zone    string `json:"zone,omitempty"    jsonschema:"the time zone of at and every; that of the configuration, if left out"`
}

func (a remindersAPI) add(r *http.Request, in reminderBody) (v reminding.Reminder, err error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	return reminding.Add(r.Context(), a.app, reminding.Request{Account: account, Text: in.Text, Notes: in.Notes, At: in.At,
		Every: in.Every, Zone: in.Zone})
}

func (a remindersAPI) show(r *http.Request, _ webapi.None) (reminding.Reminder, error) {
	v, err := reminding.Read(r.Context(), a.app, r.PathValue("id"))
	return v, noReminder(err)
}

type snoozeBody struct {
	Until string `json:"until"          jsonschema:"when it comes, as at of a new one"`
	Zone  string `json:"zone,omitempty" jsonschema:"the time zone of until; that of the configuration, if left out"`
}

func (a remindersAPI) snooze(r *http.Request, in snoozeBody) (reminding.Reminder, error) {
	v, err := reminding.Snooze(r.Context(), a.app, r.PathValue("id"), in.Until, in.Zone)
	return v, noReminder(err)
}

func (a remindersAPI) cancel(r *http.Request, _ webapi.None) (reminding.Reminder, error) {
	v, err := reminding.Cancel(r.Context(), a.app, r.PathValue("id"))
	return v, noReminder(err)
}

// byReminder returns the account of the reminder of the path.
func (a remindersAPI) byReminder(r *http.Request) (string, error) {
	found, err := a.app.Reminders.Reminder(r.Context(), r.PathValue("id"))
	return found.UserID, noReminder(err)
}

func noReminder(err error) error {
	switch {
	case reminding.IsMissing(err):
		return webapi.WithStatus(http.StatusNotFound, err)
	case errors.Is(err, reminders.ErrCanceled):
		return webapi.WithStatus(http.StatusConflict, err)
	}
	return err
}
