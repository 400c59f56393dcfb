package doors_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/rules"
)

// things are what the doors speak of. The last ones are changed by each door in turn.
var things = []struct {
	name string
	same func(*world)
}{
	{"action", sameAction}, {"decision", sameDecision}, {"message", sameMessage}, {"rule", sameRule},
	{"request", sameRequest}, {"draft", sameDraft}, {"run", sameRun}, {"cost", sameCost}, {"call", sameCall},
	{"subscription", sameSubscription}, {"away", sameAbsence}, {"task", sameTask}, {"label", sameLabel},
	{"mailbox", sameMailbox}, {"stop", sameStop},
}

// What one door says about a thing, the others do not say otherwise, on both databases.
func TestEachDoorSaysTheSame(t *testing.T) {
	for engine, database := range map[string]func(testing.TB) string{
		"sqlite": func(testing.TB) string { return "" }, "postgres": dbtest.PostgresDSN,
	} {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, database(t))
			for _, thing := range things {
				t.Run(thing.name, func(t *testing.T) {
					of := *w
					of.T = t
					thing.same(&of)
				})
			}
		})
	}
}

var ofAnAction = []fact{
	{name: "id", cli: "id", api: "id", mcp: "id"},
	{name: "mailbox", api: "mailbox", mcp: "mailbox", page: "mailbox"},
	{name: "what", cli: "action label", api: "kind decision.label", mcp: "action"},
	{name: "what, in words", api: "did", page: "did"},
	{name: "state", cli: "state", api: "state"},
	{name: "by", cli: "rule|source", api: "decision.rule|decision.source", mcp: "by"},
	{name: "by, in words", api: "by", page: "by"},
	{name: "why", cli: "rationale", api: "decision.rationale", mcp: "why", page: "decision.rationale"},
	{name: "confidence", cli: "confidence", api: "decision.confidence", mcp: "confidence"},
	{name: "sender", cli: "sender", api: "sender", mcp: "sender", page: "sender"},
	{name: "subject", cli: "subject", api: "subject", mcp: "subject", page: "subject"},
	{name: "decided", cli: "created_at", api: "decision.created_at", mcp: "decided_at"},
	{name: "error", cli: "error", api: "error", mcp: "error", page: "error"},
}

func sameAction(w *world) {
	for _, action := range w.kinds() {
		id := action.text("id")
		said := answers{cli: action, api: w.get("/actions/" + id), mcp: w.call("action_show", object{"id": id}),
			page: w.page("actions/" + id)}
		said.agree(w.T, ofAnAction)
		state := postroom.ActionState(action.text("state"))
		require.Equal(w, state.Words(), said.mcp.text("state"))
		require.Equal(w, action.text("undoable") == "true" && state == postroom.ActionCompleted,
			said.api.text("can_undo") == "true")
		if said.api.text("can_undo") == "true" {
			require.Contains(w, said.page, "Take it back")
		}
	}
}

var ofADecision = []fact{
	{name: "id", cli: "id", api: "id"},
	{name: "message", cli: "message_id", api: "message_id"},
	{name: "what", cli: "action label", api: "action label", mcp: "action"},
	{name: "parameters", cli: "parameters", api: "parameters"},
	{name: "source", cli: "source", api: "source"},
	{name: "rule", cli: "rule", api: "rule", page: "rule"},
	{name: "by", cli: "rule|source", api: "rule|source", mcp: "by"},
	{name: "confidence", cli: "confidence", api: "confidence", mcp: "confidence"},
	{name: "why", cli: "rationale", api: "rationale", mcp: "why", page: "rationale"},
	{name: "asks", cli: "needs_approval", api: "needs_approval"},
	{name: "why it asks", cli: "gate_reasons", api: "gate_reasons", mcp: "asks"},
	{name: "sender", cli: "sender", api: "sender", mcp: "sender", page: "sender"},
	{name: "subject", cli: "subject", api: "subject", mcp: "subject", page: "subject"},
	{name: "decided", cli: "created_at", api: "created_at", mcp: "decided_at"},
}

func sameDecision(w *world) {
	for _, action := range w.kinds() {
		id := w.get("/actions/" + action.text("id")).text("decision.id")
		said := answers{cli: w.decisions[id], mcp: w.call("action_show", object{"id": action.text("id")}),
			api: w.inPages("/decisions", "decisions", id), page: w.page("actions/" + action.text("id"))}
		said.agree(w.T, ofADecision)
		for _, reason := range said.api["gate_reasons"].([]any) {
			require.Contains(w, said.page, reason)
		}
	}
}

var ofAMessage = []fact{
	{name: "id", cli: "id", api: "id", mcp: "id"},
	{name: "our id", cli: "message_id", api: "message_id"},
	{name: "thread", cli: "thread_id", api: "thread_id", mcp: "thread_id"},
	{name: "from", cli: "from", api: "from", mcp: "from", page: "from.email"},
	{name: "to", cli: "to", api: "to", mcp: "to"},
	{name: "subject", cli: "subject", api: "subject", mcp: "subject", page: "subject"},
	{name: "received", cli: "received_at", api: "received_at", mcp: "received_at"},
	{name: "date", cli: "date", api: "date"},
	{name: "size", cli: "size", api: "size"},
	{name: "snippet", cli: "snippet", api: "snippet"},
	{name: "labels", cli: "labels", api: "labels", mcp: "labels"},
	{name: "text", cli: "text", api: "text", page: "text"},
	{name: "files", cli: "files", api: "files"},
	{name: "hidden text", cli: "hidden", api: "hidden"},
}

func sameMessage(w *world) {
	for _, action := range w.kinds() {
		mail := w.mails[action.text("id")]
		path := "mail/" + url.PathEscape(sample.Owner) + "/" + mail.text("id")
		said := answers{cli: mail, api: w.get("/" + path), mcp: w.call("mail_read", object{"id": mail.text("id")}),
			page: w.page(path)}
		said.agree(w.T, ofAMessage)
		require.Contains(w, said.mcp.text("text"), mail.text("text"))
		for _, label := range mail["labels"].([]any) {
			require.Contains(w, said.page, label)
		}
	}
}

var ofARule = []fact{
	{name: "name", cli: "name", api: "name", mcp: "name", page: "name"},
	{name: "condition", cli: "condition", api: "when", mcp: "when", page: "when"},
	{name: "actions", cli: "actions", mcp: "actions"},
	{name: "enabled", api: "enabled", mcp: "enabled"},
	{name: "hits", api: "hits", mcp: "hits_30_days"},
	{name: "undos", api: "undone", mcp: "undone_30_days"},
	{name: "hits, in words", api: "hits_in_words", page: "hits_in_words"},
}

// The commands speak of a rule where it has decided: as it was then, and is in use.
func sameRule(w *world) {
	var listed []object
	for _, rule := range w.call("rules_list", object{})["rules"].([]any) {
		listed = append(listed, rule.(map[string]any))
	}
	decided := 0
	page, done := w.page("rules"), w.get("/rules/activity")["rules"].([]any)
	for i, rule := range w.list("/rules") {
		var c rules.Condition
		text, err := json.Marshal(rule["condition"])
		require.NoError(w, err)
		require.NoError(w, json.Unmarshal(text, &c))
		rule["when"] = c.String()
		of := done[i].(map[string]any)
		require.Equal(w, rule["id"], of["id"])
		rule["hits"], rule["undone"] = of["hits"], of["undone"]
		rule["hits_in_words"] = rule.text("hits") + map[bool]string{true: " hit", false: " hits"}[rule.text("hits") == "1"]
		said := answers{cli: w.rules[rule.text("name")], api: rule, mcp: listed[i], page: page}
		facts := ofARule
		if said.cli == nil {
			facts = slices.Clone(facts)
			for i := range facts {
				facts[i].cli = ""
			}
		} else {
			decided++
			require.Equal(w, "in use", said.cli.text("now"))
		}
		said.agree(w.T, facts)
		require.Contains(w, w.page("rules/"+rule.text("id")), rule.text("name"))
	}
	require.Len(w, w.rules, decided)
	require.Greater(w, decided, 10)
}

var ofARequest = []fact{
	{name: "id", cli: "id", api: "id", mcp: "id"},
	{name: "mailbox", api: "mailbox", mcp: "mailbox", page: "mailbox"},
	{name: "what", cli: "action label", api: "action label", mcp: "action"},
	{name: "what, in words", api: "would", page: "would"},
	{name: "state", cli: "state", api: "state"},
	{name: "by", cli: "rule|source", api: "rule|source", mcp: "by", page: "rule"},
	{name: "why it would", cli: "rationale", api: "rationale", mcp: "why", page: "rationale"},
	{name: "why it asks", cli: "reasons", api: "reasons", mcp: "asks"},
	{name: "confidence", cli: "confidence", api: "confidence", mcp: "confidence"},
	{name: "sender", cli: "sender", api: "sender", mcp: "sender", page: "sender"},
	{name: "subject", cli: "subject", api: "subject", mcp: "subject", page: "subject"},
	{name: "decided", cli: "created_at", api: "created_at", mcp: "decided_at"},
	{name: "asked", cli: "requested_at", api: "requested_at"},
	{name: "expires", cli: "expires_at", api: "expires_at"},
	{name: "mail received", cli: "about.received_at", api: "mail.received_at"},
}

// ofWhatIsSent is said where a person approves it, and not to assistants.
var ofWhatIsSent = []fact{
	{name: "its bytes", cli: "message.sha256", api: "message.sha256", page: "message.sha256"},
	{name: "its size", cli: "message.size", api: "message.size"},
	{name: "its header", cli: "message.header", api: "message.header"},
	{name: "its files", cli: "message.files", api: "message.files"},
	{name: "its text", cli: "message.text", api: "message.text", page: "message.text"},
}

func sameRequest(w *world) {
	waiting := w.call("approvals_list", object{})["actions"].([]any)
	require.Len(w, waiting, len(w.requests))
	require.NotEmpty(w, waiting)
	sent := 0
	for i, request := range w.requests {
		id := request.text("id")
		said := answers{cli: request, api: w.get("/approvals/" + id), mcp: waiting[i].(map[string]any),
			page: w.page("waiting/" + id)}
		said.agree(w.T, ofARequest)
		if request.text("action") == "forward" {
			sent++
			said.agree(w.T, ofWhatIsSent)
			require.NotContains(w, plain(map[string]any(said.mcp)), said.api.text("message.sha256"), "nor its digest")
			for _, r := range said.api["recipients"].([]any) {
				require.Contains(w, said.page, squeeze(r.(map[string]any)["address"].(string)))
			}
		}
		list := w.page("waiting")
		for _, reason := range request["reasons"].([]any) {
			require.Contains(w, said.page, reason)
			require.Contains(w, list, reason)
		}
	}
	require.Positive(w, sent)
}

var ofADraft = []fact{
	{name: "id", cli: "id", api: "id", mcp: "thread_id"},
	{name: "mailbox", cli: "mailbox", api: "mailbox", mcp: "mailbox", page: "mailbox"},
	{name: "message", cli: "message_id", api: "message_id", mcp: "message"},
	{name: "from", cli: "from", api: "from", page: "from"}, // an assistant gets no "<", with which HTML begins
	{name: "subject", cli: "subject", api: "subject", mcp: "subject", page: "subject"},
	{name: "state", cli: "state", api: "state", mcp: "state", page: "state"},
	{name: "why", cli: "reason", api: "reason", mcp: "reason", page: "reason"},
	{name: "turn", cli: "turn", api: "turn"},
	{name: "since", cli: "since", api: "since", mcp: "since"},
}

func sameDraft(w *world) {
	path := "drafts/" + url.PathEscape(sample.Owner) + "/" + w.draft.text("id")
	listed := w.call("drafts_list", object{"all": true})["drafts"].([]any)
	require.Len(w, listed, 1)
	said := answers{cli: w.draft, api: w.get("/" + path), mcp: listed[0].(map[string]any), page: w.page(path)}
	said.agree(w.T, ofADraft)
}

// ofARun is not said to assistants: it has what other models were told.
var ofARun = []fact{
	{name: "id", cli: "id", api: "id", page: "id"},
	{name: "mailbox", cli: "mailbox", api: "mailbox", page: "mailbox"},
	{name: "message", cli: "message_id", api: "message_id"},
	{name: "subject", cli: "subject", api: "subject", page: "subject"},
	{name: "agent", cli: "profile version", api: "profile version", page: "profile"},
	{name: "model", cli: "model", api: "model", page: "model"},
	{name: "state", cli: "state", api: "state", page: "state"},
	{name: "outcome", cli: "outcome parameters", api: "outcome parameters", page: "outcome"},
	{name: "its text", api: "parameters.body", page: "parameters.body"},
	{name: "why", cli: "reason", api: "reason", page: "reason"},
	{name: "action", cli: "action_id", api: "action_id"},
	{name: "calls", cli: "model_calls tool_calls steps", api: "model_calls tool_calls steps"},
	{name: "tokens", cli: "tokens", api: "tokens", page: "tokens"},
	{name: "cost", cli: "cost", api: "cost", page: "cost"},
	{name: "time", cli: "seconds", api: "seconds", page: "seconds"},
	{name: "when", cli: "started_at ended_at", api: "started_at ended_at"},
}

func sameRun(w *world) {
	id := w.agentRun.text("id")
	said := answers{cli: w.agentRun, api: w.get("/runs/" + id), page: w.page("agents/runs/" + id)}
	said.agree(w.T, ofARun)
	require.Contains(w, said.page, "read_thread")
	require.Equal(w, id, w.inPages("/runs", "runs", id).text("id"))
}
