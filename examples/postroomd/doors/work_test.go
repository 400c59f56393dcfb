package doors_test

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

var ofACost = []fact{
	{name: "today", cli: "today", api: "today"},
	{name: "this month", cli: "month", api: "month"},
	{name: "in thirty days", cli: "forecast", api: "forecast"},
	{name: "left of budgets", cli: "budgets", api: "budgets"},
	{name: "without a price", cli: "unpriced", api: "unpriced"},
}

// The page says the same in words. It sums the month by days, which have no failures and no answers that were kept.
func sameCost(w *world) {
	said := answers{api: w.get("/cost"), page: w.page("models")}
	require.NoError(w, json.Unmarshal(w.run("cost"), &said.cli))
	said.agree(w.T, ofACost)
	var cost view.Cost
	w.send(http.MethodGet, "/cost", nil, &cost)
	require.Equal(w, view.Spent{Calls: 1, Cached: 1, Failed: 1, Tokens: 1000, Dollars: 0.0014}, cost.Month.Total)
	require.Contains(w, said.page, cost.Today.Total.String())
	month := cost.Month.Total
	month.Cached, month.Failed = 0, 0
	require.Contains(w, said.page, "This month"+month.String())
	require.Len(w, cost.Budgets, 2)
	for _, budget := range cost.Budgets {
		require.Contains(w, said.page, budget.String())
	}
	for _, model := range cost.Unpriced {
		require.Contains(w, said.page, model)
	}
}

var ofACall = []fact{
	{name: "id", cli: "id", api: "id"},
	{name: "when", cli: "at", api: "at"},
	{name: "mailbox", cli: "mailbox", api: "mailbox"},
	{name: "message", cli: "message", api: "message"},
	{name: "subject", cli: "subject", api: "subject", page: "subject"},
	{name: "sender", cli: "sender", api: "sender", page: "sender"},
	{name: "what for", cli: "purpose", api: "purpose", page: "purpose"},
	{name: "model", cli: "model", api: "model", page: "model"},
	{name: "outcome", cli: "outcome failure", api: "outcome failure"},
	{name: "tokens", cli: "input_tokens output_tokens", api: "input_tokens output_tokens"},
	{name: "cost", cli: "dollars", api: "dollars"},
	{name: "time", cli: "latency_ms", api: "latency_ms"},
	{name: "why", cli: "why", api: "why", page: "why"},
	{name: "which answer", cli: "reused_from", api: "reused_from"},
	{name: "answer", cli: "answer", api: "answer", page: "answer"},
}

func sameCall(w *world) {
	var listed object
	require.NoError(w, json.Unmarshal(w.run("cost", "calls"), &listed))
	calls := listed["calls"].([]any)
	require.Len(w, calls, 3)
	for _, call := range calls {
		id := object(call.(map[string]any)).text("id")
		said := answers{api: w.get("/models/calls/" + id), page: w.page("models/calls/" + id)}
		require.NoError(w, json.Unmarshal(w.run("cost", "calls", id), &said.cli))
		said.agree(w.T, ofACall)
		require.Equal(w, id, w.inPages("/models/calls", "calls", id).text("id"))
	}
}

var ofATask = []fact{
	{name: "id", cli: "id", api: "id"},
	{name: "mailbox", cli: "mailbox", api: "mailbox", page: "mailbox"},
	{name: "message", cli: "message_id", api: "message_id"},
	{name: "what", cli: "title", api: "title", page: "title"},
	{name: "notes", cli: "notes", api: "notes", page: "notes"},
	{name: "due", cli: "due", api: "due"},
	{name: "made", cli: "created_at", api: "created_at"},
	{name: "closed", cli: "closed_at closed_by", api: "closed_at closed_by"},
}

// Whichever door closes a task: all say who has, and it is on no list.
func sameTask(w *world) {
	var listed struct{ Tasks []object }
	require.NoError(w, json.Unmarshal(w.run("tasks", "list"), &listed))
	require.NotEmpty(w, listed.Tasks)
	id := ""
	page := w.page("waiting")
	for i, task := range w.get("/tasks")["tasks"].([]any) {
		said := answers{cli: listed.Tasks[i], api: task.(map[string]any), page: page}
		said.agree(w.T, ofATask)
		id = said.api.text("id")
	}
	for by, closes := range map[string]func(){
		app.CurrentUser(): func() { w.command("tasks", "close", id) },
		"api":             func() { w.send(http.MethodPost, "/tasks/"+id+"/close", nil, new(object)) },
		access.LocalName:  func() { w.post("tasks/"+id+"/close", url.Values{"from": {"/waiting"}}) },
	} {
		closes()
		said := answers{api: w.get("/tasks/" + id), page: page}
		require.NoError(w, json.Unmarshal(w.run("tasks", "show", id), &said.cli))
		said.agree(w.T, ofATask)
		require.Equal(w, by, said.api.text("closed_by"))
		require.NotContains(w, w.html("waiting"), "tasks/"+id+"/close")
		require.NotContains(w, string(w.run("tasks", "list")), id)
		w.send(http.MethodPost, "/tasks/"+id+"/reopen", nil, new(object))
		require.Contains(w, w.html("waiting"), "tasks/"+id+"/close")
	}
}

var ofASubscription = []fact{
	{name: "sender", cli: "sender name", api: "sender name", page: "sender"},
	{name: "list", cli: "list_id", api: "list_id"},
	{name: "messages", cli: "messages", api: "messages", page: "messages"},
	{name: "how much is read", cli: "read_share last_read_at", api: "read_share last_read_at"},
	{name: "the last", cli: "last_at message_id", api: "last_at message_id"},
	{name: "how it is left", cli: "way target subject text", api: "way target subject text", page: "target"},
	{name: "for a person to open", cli: "links", api: "links"},
	{name: "why it is not left", cli: "why", api: "why", page: "why"},
}

var ofALeft = []fact{
	{name: "action", cli: "action_id", api: "action_id"},
	{name: "sender", cli: "sender list_id", api: "sender list_id", page: "sender"},
	{name: "message", cli: "message_id", api: "message_id"},
	{name: "way", cli: "way target", api: "way target"},
	{name: "state", cli: "state error", api: "state error"},
	{name: "when", cli: "at left_at", api: "at left_at"},
	{name: "whether it still sends", cli: "still still_at many blocked_by", api: "still still_at many blocked_by"},
}

func sameSubscription(w *world) {
	var suggested []object
	require.NoError(w, json.Unmarshal(w.run("unsubscribe", "list"), &suggested))
	require.Len(w, suggested, len(lists)-1)
	page, listed := w.page("subscriptions"), w.get("/subscriptions")
	for i, list := range listed["suggested"].([]any) {
		said := answers{cli: suggested[i], api: list.(map[string]any), page: page}
		said.agree(w.T, ofASubscription)
		var plan struct {
			Leave   []object
			NotLeft []object `json:"not_left"`
		}
		w.send(http.MethodPost, "/subscriptions/preview",
			object{"mailbox": sample.Owner, "senders": []string{said.api.text("sender")}}, &plan)
		require.Len(w, append(plan.Leave, plan.NotLeft...), 1)
		planned := w.page("subscriptions/leave?" + url.Values{"sender": {said.api.text("sender")}}.Encode())
		for _, leave := range append(plan.Leave, plan.NotLeft...) {
			require.Contains(w, planned, leave.text("sender"))
			require.Contains(w, planned, leave.text("target"))
			require.Contains(w, planned, leave.text("text"))
			require.Contains(w, planned, leave.text("why"))
		}
	}
	var left struct{ Left []object }
	require.NoError(w, json.Unmarshal(w.run("unsubscribe", "status"), &left))
	require.Len(w, left.Left, 1)
	said := answers{cli: left.Left[0], api: listed["left"].([]any)[0].(map[string]any), page: page}
	said.agree(w.T, ofALeft)
}
