package doors_test

import (
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// Assistants are told nothing of mailboxes, costs, tasks, lists, absences and stops.

var ofAMailbox = []fact{
	{name: "id", cli: "id", api: "id"},
	{name: "address", cli: "email", api: "email", page: "email"},
	{name: "state", cli: "state", api: "state", page: "state"},
	{name: "why", cli: "reason", api: "reason", page: "reason"},
	{name: "messages", cli: "messages", api: "messages", page: "messages"},
	{name: "synced", cli: "last_sync_at history_id", api: "last_sync_at history_id"},
	{name: "older mail", cli: "backfill backfill_listed", api: "backfill backfill_listed"},
	{name: "mail of before", cli: "old_mail old_mail_rules", api: "old_mail old_mail_rules", page: "old_mail"},
	{name: "labels to make", cli: "labels_to_make", api: "labels_to_make"},
	{name: "away", cli: "away", api: "away", page: "away"},
}

// Whichever door pauses a mailbox: all say who has, and why.
func sameMailbox(w *world) {
	const owner, why = sample.Owner, "on holiday"
	id := w.agreeOnMailbox("active", "")
	for by, do := range map[string]struct{ pause, resume func() }{
		app.CurrentUser(): {
			func() { w.command("accounts", "pause", owner, "--why", why) },
			func() { w.command("accounts", "resume", owner) },
		},
		"api": {
			func() { w.send(http.MethodPost, "/mailboxes/"+owner+"/pause", object{"why": why}, new(object)) },
			func() { w.send(http.MethodPost, "/mailboxes/"+owner+"/resume", nil, new(object)) },
		},
		access.LocalName: {
			func() { w.post("mailboxes/"+id+"/pause", url.Values{"why": {why}, "from": {"/mailboxes"}}) },
			func() { w.post("mailboxes/"+id+"/resume", url.Values{"from": {"/mailboxes"}}) },
		},
	} {
		do.pause()
		w.agreeOnMailbox("paused", "paused by "+by+": "+why)
		do.resume()
		w.agreeOnMailbox("active", "")
	}
}

func (w *world) agreeOnMailbox(state, reason string) (id string) {
	w.Helper()
	var listed []object
	require.NoError(w, json.Unmarshal(w.run("accounts", "list"), &listed))
	require.Len(w, listed, 1)
	said := answers{cli: listed[0], page: w.page("mailboxes"),
		api: w.get("/mailboxes")["mailboxes"].([]any)[0].(map[string]any)}
	said.agree(w.T, ofAMailbox)
	require.Equal(w, state, said.api.text("state"))
	require.Equal(w, reason, said.api.text("reason"))
	status := answers{cli: w.status()["accounts"].([]any)[0].(map[string]any),
		api: w.get("/status")["accounts"].([]any)[0].(map[string]any), page: said.page}
	status.agree(w.T, ofAMailbox)
	require.Contains(w, w.page(""), status.api.text("away"))
	return said.api.text("id")
}

func (w *world) status() (o object) {
	w.Helper()
	require.NoError(w, json.Unmarshal(w.run("status"), &o))
	return o
}

var ofALabel = []fact{
	{name: "id", cli: "id", api: "id"},
	{name: "name", cli: "name", api: "name", page: "name"},
	{name: "kind", cli: "type", api: "type"},
	{name: "what it is for", cli: "description", api: "description"},
	{name: "whether models may use it", cli: "for_models", api: "for_models"},
}

// Whichever door describes a label: all say what it is for. The page lists the labels of a person.
func sameLabel(w *world) {
	const path = "/mailboxes/" + sample.Owner + "/labels"
	own := ""
	for _, label := range w.agreeOnLabels() {
		if label.text("name") == "Travel" {
			own = label.text("id")
		}
	}
	require.NotEmpty(w, own)
	long := strings.Repeat("ä", 501)
	for what, describe := range map[string]func(text string) (status int, says string){
		"For flights & trains": func(text string) (int, string) {
			answer := w.try(http.MethodPatch, path+"/"+own, object{"description": text, "for_models": true})
			return answer.Code, answer.Body.String()
		},
		"For <b>journeys</b>": func(text string) (int, string) {
			return w.visit(http.MethodPost, "labels/"+sample.Owner+"/"+own,
				url.Values{"description": {text}, "model": {"1"}, "from": {"/labels"}})
		},
	} {
		status, says := describe(what)
		require.Equal(w, http.StatusOK, status, says)
		found := false
		for _, label := range w.agreeOnLabels() {
			found = found || label.text("id description for_models") == own+" "+what+" true"
		}
		require.True(w, found, what)
		status, says = describe(long)
		require.Contains(w, []int{http.StatusUnprocessableEntity, http.StatusConflict}, status)
		require.Contains(w, says, "at most 500 characters", "no door cuts it")
	}
}

func (w *world) agreeOnLabels() (list []object) {
	w.Helper()
	var listed struct{ Labels []object }
	require.NoError(w, json.Unmarshal(w.run("labels", "list"), &listed))
	page, html := w.page("labels"), w.html("labels")
	for i, label := range w.get("/mailboxes/" + sample.Owner + "/labels")["labels"].([]any) {
		said := answers{cli: listed.Labels[i], api: label.(map[string]any), page: page}
		if said.api.text("type") == "user" {
			said.agree(w.T, ofALabel)
			require.Contains(w, html, `value="`+template.HTMLEscapeString(said.api.text("description"))+`"`)
		}
		list = append(list, said.api)
	}
	require.Len(w, listed.Labels, len(list))
	return list
}

var ofAStop = []fact{
	{name: "in words", cli: "stopped", api: "words"},
	{name: "who", api: "by", page: "by"},
	{name: "why", api: "why", page: "why"},
}

// Whichever door stops everything: all say who has, and why.
func sameStop(w *world) {
	const why = "odd mail"
	for by, do := range map[string]struct{ stop, resume func() }{
		app.CurrentUser(): {
			func() { w.command("stop", "--why", why) },
			func() { w.command("resume") },
		},
		"api": {
			func() { w.send(http.MethodPost, "/stop", object{"why": why}, new(object)) },
			func() { w.send(http.MethodPost, "/resume", nil, new(object)) },
		},
		access.LocalName: {
			func() { w.post("stop", url.Values{"why": {why}, "from": {"/"}}) },
			func() { w.post("resume", url.Values{"from": {"/"}, "seen": {w.get("/stop").text("at")}}) },
		},
	} {
		do.stop()
		said := answers{cli: w.status(), api: w.get("/stop"), page: w.page("")}
		said.api["words"] = w.get("/status")["stopped"]
		said.agree(w.T, ofAStop)
		require.Equal(w, "true "+by+" "+why, said.api.text("stopped by why"))
		require.Contains(w, said.cli.text("stopped"), said.api.text("by"))
		require.Contains(w, said.page, "Everything is stopped")
		do.resume()
		require.Empty(w, w.status().text("stopped"))
		require.Equal(w, "false", w.get("/stop").text("stopped"))
		require.NotContains(w, w.page(""), "Everything is stopped")
	}
}

var ofAnAbsence = []fact{
	{name: "mailbox", cli: "mailbox", api: "mailbox"},
	{name: "state", cli: "state", api: "state"},
	{name: "when", cli: "from until", api: "from until"},
	{name: "last day", cli: "last_day", api: "last_day", page: "last_day"},
	{name: "answer", cli: "text", api: "text"},
	{name: "who is answered", cli: "audience days", api: "audience days"},
	{name: "set by", cli: "set_by ended_by", api: "set_by ended_by"},
	{name: "answered", cli: "answered", api: "answered", page: "answered"},
	{name: "in words", cli: "line", api: "line", page: "line"},
}

func sameAbsence(w *world) {
	var listed struct{ Mailboxes []object }
	require.NoError(w, json.Unmarshal(w.run("away", "show"), &listed))
	require.Len(w, listed.Mailboxes, 1)
	said := answers{cli: listed.Mailboxes[0], api: w.get("/mailboxes/" + sample.Owner + "/away"),
		page: w.page("mailboxes")}
	said.cli["line"] = w.status()["accounts"].([]any)[0].(map[string]any)["away"]
	said.api["line"] = w.get("/mailboxes")["mailboxes"].([]any)[0].(map[string]any)["away"]
	said.agree(w.T, ofAnAbsence)
	require.Equal(w, "on", said.api.text("state"))
	require.NotEmpty(w, said.api.text("line"))
	require.Contains(w, w.page(""), said.api.text("line"))
}
