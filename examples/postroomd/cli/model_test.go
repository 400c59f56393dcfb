package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/calls"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/rules"
)

const modelRules = `rules:
  - name: Receipts
    condition:
      type: subject_contains
      value: receipt
    action: star
`

// inbox is a Gmail with these messages, each by its subject.
func inbox(t *testing.T, messages ...string) *gmailtest.Server {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: filepath.Join(t.TempDir(), "gmail"),
		Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	for _, m := range messages {
		sendTo(t, server, m, "Ada <ada@example.com>", "Hello, this is about "+m+".")
	}
	return server
}

func sendTo(t *testing.T, server *gmailtest.Server, subject, from, body string) {
	t.Helper()
	_, err := server.Deliver(t.Context(),
		fmt.Appendf(nil, "From: %s\r\nTo: %s\r\nSubject: %s\r\nMessage-ID: <%s@example.com>\r\n\r\n%s\r\n",
			from, sample.Owner, subject, strings.ReplaceAll(subject, " ", "-"), body))
	require.NoError(t, err)
}

// withModel configures a model of a server, and rules that leave it something to do.
func withModel(t *testing.T, gmail *gmailtest.Server, url, more string) (where []string) {
	t.Helper()
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(rules, []byte(modelRules), 0o600))
	file := configure(t, gmail, fmt.Sprintf(
		"[llm]\nprovider = \"openai\"\nmodel = \"small\"\nbase_url = %q\napi_key = %q\n%s", url, inEnv(t, "sk-hunter2"), more))
	return []string{"--config", file, "--set", "paths.rules=" + rules, "--data", migratedFolder(t)}
}

// decides answers each mail by a word of its subject: archive, delete or hello.
func decides(asked llmtest.Asked) llmtest.Reply {
	action := "none"
	text := asked.Messages[1].Text
	for _, word := range []string{"archive", "delete"} {
		if strings.Contains(text, "Subject: "+word) {
			action = word
		}
	}
	return llmtest.Reply{
		ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision(action, "{}", 0.95)}},
		Usage: llm.Usage{InputTokens: 1000, OutputTokens: 100},
	}
}

func decidedActions(t *testing.T, where []string) map[string]webapi.Action {
	t.Helper()
	r := postroomd(t, append([]string{"actions", "--json", "--limit", "100"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var views []webapi.Action
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &views))
	bySubject := map[string]webapi.Action{}
	for _, v := range views {
		bySubject[v.Subject] = v
	}
	return bySubject
}

// One run of the daemon: rules decide first, the model about the rest; the gate holds what is dangerous; all is on
// record.
func TestDaemonAsksTheModelAboutWhatNoRuleMatches(t *testing.T) {
	t.Parallel()
	for _, wire := range []struct {
		name llmtest.Wire
		set  string
	}{{llmtest.ChatCompletions, "openai"}, {llmtest.Messages, "anthropic"}, {llmtest.GenerateContent, "gemini"}} {
		t.Run(wire.set, func(t *testing.T) {
			t.Parallel()
			gmail := inbox(t, "receipt one", "archive me", "delete me", "hello")
			model := llmtest.NewServerFunc(t, wire.name, decides)
			where := append(withModel(t, gmail, model.URL, "input_price = 1\noutput_price = 5\naccount_dollars_day = 1\n"),
				"--set", "llm.provider="+wire.set)
			d := start(t, where...)
			d.ready()
			d.eventually("all is sorted", func() bool { return idle(t, gmail, where...) })
			d.stop()
			require.NotContains(t, d.log(), "hunter2")

			done := decidedActions(t, where)
			require.Len(t, done, 4)
			require.Equal(t, postroom.SourceDeterministic, done["receipt one"].Source)
			for subject, want := range map[string]string{"archive me": "archive completed",
				"delete me": "delete pending_approval", "hello": "none completed"} {
				require.Equal(t, want, fmt.Sprint(done[subject].Action, " ", done[subject].State))
				require.Equal(t, postroom.SourceModel, done[subject].Source)
				require.Equal(t, "Scripted.", done[subject].Rationale)
			}
			seen := model.Seen()
			require.Len(t, seen, 3, "the rule's message is not shown to the model")
			require.Contains(t, fmt.Sprint(seen[0].Header), "sk-hunter2")
			for _, s := range seen {
				require.NotContains(t, fmt.Sprint(s.Body), "hunter2")
			}
			status := statusOf(t, where...)
			require.Equal(t, 1, status.Approvals)
			require.Len(t, status.Models, 1)
			require.Empty(t, status.Outages)
			requireExplained(t, where, status.Models[0])
		})
	}
}

// asJSON reads what a command prints as JSON, and requires that it prints text as well.
func asJSON(t *testing.T, into any, where []string, args ...string) (text string) {
	t.Helper()
	r := postroomd(t, append(append(args, "--json"), where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), into))
	r = postroomd(t, append(args, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.NotContains(t, r.stdout, "hunter2")
	return r.stdout
}

// requireExplained looks at the archived message of the daemon's test, and at what all cost.
func requireExplained(t *testing.T, where []string, model string) {
	t.Helper()
	var decisions []view.Decision
	text := asJSON(t, &decisions, where, "decisions", "list", "--source", "llm")
	require.Len(t, decisions, 3)
	require.Contains(t, text, "model "+model)
	i := slices.IndexFunc(decisions, func(d view.Decision) bool { return d.Subject == "archive me" })
	var whole view.WholeDecision
	text = asJSON(t, &whole, where, "decisions", "show", decisions[i].ID)
	require.Contains(t, text, "The gate lets it pass")
	require.Len(t, whole.Actions, 1)
	require.Equal(t, "puts back INBOX", whole.Actions[0].Undo)
	var same view.WholeDecision
	asJSON(t, &same, where, "decisions", "show", whole.Actions[0].ID)
	require.Equal(t, whole, same, "the id of an action finds its decision")

	var x view.Explanation
	text = asJSON(t, &x, where, "explain", decisions[i].Message)
	require.Contains(t, text, `subject_contains "receipt" (it is "archive me")`)
	require.Equal(t, rules.NoMatch, x.Rules[0].Outcome)
	require.Len(t, x.Model.Calls, 1)
	require.Contains(t, x.Model.Calls[0].Answer, `"action":"archive"`)
	require.True(t, x.Model.Same)
	require.Len(t, x.Decisions, 1)
	require.Contains(t, postroomd(t, append([]string{"explain", x.Message.ID, "--prompt"}, where...)...).stdout,
		"| Subject: archive me", "Gmail's id does as well")

	var cost view.Cost
	text = asJSON(t, &cost, where, "cost")
	require.Contains(t, text, "3,300 tokens, 3 calls")
	require.InDelta(t, 0.0045, cost.Month.Total.Dollars, 1e-9)
	require.EqualValues(t, 3, cost.Today.Total.Calls)
	require.Len(t, cost.Budgets, 1)
	require.InDelta(t, 0.9955, *cost.Budgets[0].DollarsLeft, 1e-9)
	require.EqualValues(t, 2_000_000-3300, *cost.Budgets[0].TokensLeft)
	require.Empty(t, cost.Unpriced)

	var list calls.Page
	text = asJSON(t, &list, where, "cost", "calls", "--mailbox", sample.Owner)
	require.Len(t, list.List, 3)
	require.Contains(t, text, "archive me")
	at := slices.IndexFunc(list.List, func(c calls.Call) bool { return c.Subject == "archive me" })
	require.Equal(t, decisions[i].Message, list.List[at].About)
	var one calls.Call
	text = asJSON(t, &one, where, "cost", "calls", list.List[at].ID)
	require.Regexp(t, `outcome +answered`, text)
	require.Contains(t, one.Answer, `"action":"archive"`)

	for _, args := range [][]string{{"explain", "none"}, {"decisions", "show", "none"},
		{"decisions", "list", "--below", "2"}, {"decisions", "list", "--limit", "0"}} {
		require.Equal(t, exitUsage, postroomd(t, append(args, where...)...).status, args)
	}
}

// A key that is refused stops nothing else, is told once, and loses no message: with the right key they are decided.
func TestARefusedKeyIsToldAndMailWaits(t *testing.T) {
	gmail := inbox(t, "receipt one", "archive me", "hello", "hello again", "hello a third time")
	var good atomic.Bool
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		if !good.Load() {
			return llmtest.Reply{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: "Incorrect API key provided"}
		}
		return decides(asked)
	})
	where := withModel(t, gmail, model.URL, "concurrency = 1\n")
	r := postroomd(t, append([]string{"run", "--once"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "4 messages wait for a model to decide about them")
	require.Contains(t, r.stdout, "key refused")
	require.NotContains(t, r.stdout+r.stderr, "hunter2")
	require.Equal(t, 1, strings.Count(r.stderr, "a model is not asked"), r.stderr)
	require.Less(t, len(model.Seen()), 4, "who has refused is not asked by each job")
	require.Equal(t, postroom.ActionCompleted, decidedActions(t, where)["receipt one"].State)

	status := statusOf(t, where...)
	require.Equal(t, 4, status.Undecided)
	require.Len(t, status.Outages, 1)
	require.Equal(t, "key refused", status.Outages[0].Reason)
	text := postroomd(t, append([]string{"status"}, where...)...).stdout
	require.Contains(t, text, "check the key and what it may do")
	require.Contains(t, text, "4 messages wait for a model")

	good.Store(true)
	sum := runOnce(t, where...)
	require.Zero(t, sum.Undecided)
	require.Equal(t, 4, sum.Models[status.Models[0]])
	require.Empty(t, statusOf(t, where...).Outages)
}

// A spent budget is a hard stop, and a run that is to end does not wait for tomorrow.
func TestASpentBudgetStopsTheModel(t *testing.T) {
	gmail := inbox(t, "archive one", "archive two", "archive three")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, decides)
	where := withModel(t, gmail, model.URL, "concurrency = 1\naccount_tokens_day = 4500\n")
	sum := runOnce(t, where...)
	require.Positive(t, sum.Undecided)
	require.Equal(t, 3, sum.Undecided+sum.Models[statusOf(t, where...).Models[0]])
	require.Len(t, sum.Outages, 1)
	require.Equal(t, "budget spent", sum.Outages[0].Reason)
	require.Equal(t, sample.Owner, sum.Outages[0].Mailbox)
	require.False(t, sum.Outages[0].Until.IsZero())
	require.LessOrEqual(t, len(model.Seen()), 3)
}

// The fallback answers while the first is away.
func TestTheFallbackAnswers(t *testing.T) {
	t.Setenv("LLM_API_KEY", "sk-hunter2")
	gmail := inbox(t, "archive me")
	away := llmtest.NewServer(t, llmtest.ChatCompletions,
		llmtest.Reply{Status: http.StatusNotFound, Code: "model_not_found", Message: "no such model"})
	model := llmtest.NewServerFunc(t, llmtest.Messages, decides)
	where := withModel(t, gmail, away.URL,
		fmt.Sprintf(
			"[llm_fallback]\nprovider = \"anthropic\"\nmodel = \"other\"\nbase_url = %q\napi_key = \"env:LLM_API_KEY\"\n",
			model.URL))
	sum := runOnce(t, where...)
	require.Equal(t, map[string]int{"anthropic::other": 1}, sum.Models)
	require.Zero(t, sum.Undecided)
}

// The fourth of four notifications costs nothing, until what was done about the first is taken back.
func TestMailOfOneTemplateIsDecidedOnce(t *testing.T) {
	notify := func(gmail *gmailtest.Server, n int) {
		_, err := gmail.Deliver(t.Context(),
			fmt.Appendf(nil,
				"Received: from shop.example.com by mx.google.com with ESMTPS id x%d; Sun, 01 Mar 2026 12:00:00 +0000\r\n"+
					"Authentication-Results: mx.google.com; dmarc=pass header.from=shop.example.com\r\nFrom: Shoes <news@shop.example.com>\r\nTo: %s\r\n"+
					"Subject: archive order %d that has been sent\r\nMessage-ID: <%d@shop.example.com>\r\nList-Id: <news.shop.example.com>\r\n\r\nYour parcel %d is on its way.\r\n", n, sample.Owner, n, n, n))
		require.NoError(t, err)
	}
	gmail := inbox(t)
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, decides)
	where := withModel(t, gmail, model.URL, "")
	for n := 1111; n < 1115; n++ {
		notify(gmail, n)
		require.Zero(t, runOnce(t, where...).Undecided)
	}
	require.Len(t, model.Seen(), 3)
	done := decidedActions(t, where)
	first, fourth := done["archive order 1111 that has been sent"], done["archive order 1114 that has been sent"]
	require.Equal(t, postroom.Archive, fourth.Action)
	require.Equal(t, postroom.ActionCompleted, fourth.State)
	require.Contains(t, fourth.Rationale, "which is of the same template: Scripted.")

	d := start(t, where...)
	d.ready()
	r := postroomd(t, append([]string{"undo", first.ID}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	d.eventually("it is taken back", func() bool {
		return strings.Contains(postroomd(t, append([]string{"actions", "--type", "undo_archive"}, where...)...).stdout,
			"completed")
	})
	d.stop()
	notify(gmail, 1115)
	runOnce(t, where...)
	require.Len(t, model.Seen(), 4, "what was taken back is not done again")
}

// The better model is asked about what the first is not sure of, and about nothing else.
func TestTheBetterModelIsAsked(t *testing.T) {
	t.Setenv("LLM_API_KEY", "sk-hunter2")
	gmail := inbox(t, "archive me", "hello")
	cheap := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		reply := decides(asked)
		if strings.Contains(asked.Messages[1].Text, "Subject: hello") {
			reply.ToolCalls[0].Arguments = llmtest.Decision("archive", "{}", 0.5)
		}
		return reply
	})
	large := llmtest.NewServerFunc(t, llmtest.GenerateContent, decides)
	where := withModel(t, gmail, cheap.URL,
		fmt.Sprintf(
			"[llm_better]\nprovider = \"gemini\"\nmodel = \"large\"\nbase_url = %q\napi_key = \"env:LLM_API_KEY\"\n", large.URL))
	sum := runOnce(t, where...)
	require.Equal(t, 1, sum.Models["gemini::large"])
	require.Len(t, sum.Models, 2)
	require.Len(t, large.Seen(), 1)
	require.Equal(t, postroom.None, decidedActions(t, where)["hello"].Action)
}

// What the person instructs is told to the model, and what is forbidden is not done whatever the model says.
func TestInstructionsAreFollowed(t *testing.T) {
	gmail := inbox(t, "archive me")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, decides)
	where := withModel(t, gmail, model.URL, "reuse = \"0s\"\n")
	runOnce(t, where...)
	try := func(args ...string) result {
		return postroomd(t, append(append([]string{"instructions"}, args...), where...)...)
	}
	do := func(args ...string) string {
		r := try(args...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	require.Equal(t, "no instructions\n", do("list"))
	added := do("add", "--forbid", "archive,move", "Never archive anything.")
	require.Contains(t, added,
		"\nbinding: no archive, move for all mail\nadvice: the text, which the model reads and may ignore\n")
	never := idPattern.FindString(added)
	require.Contains(t, do("add", "--name", "ada", "--domain", "Example.com", "--unauthenticated",
		"Ada may ask for much."),
		"binding: nothing; add --forbid archive\n")
	require.Contains(t, do("add", "--mailbox", sample.Owner, "--forbid", "trash", "Be kind."),
		"binding: no trash for mail to "+sample.Owner)
	require.Contains(t, do("add", "--domain", "verified.example", "Trust them."),
		"only with mail whose sender is verified")
	bare := do("add", "--sender", "a@b.cc", "--forbid", "star")
	require.Contains(t, bare, "binding: no star for mail of a@b.cc\n")
	require.NotContains(t, bare, "advice")
	require.Contains(t, do("change", idPattern.FindString(bare), "--forbid", "", "--text", "Be brief."),
		"binding: nothing")
	do("remove", idPattern.FindString(bare))
	text := do("list")
	require.Contains(t, text, "mail of example.com")
	require.Contains(t, text, "mail to "+sample.Owner)
	require.Contains(t, text, "archive, move")

	sendTo(t, gmail, "archive me again", "Ada <ada@example.com>", "Hello.")
	runOnce(t, where...)
	prompt := fmt.Sprint(model.Seen()[1].Body)
	require.Contains(t, prompt, "DIRECTIONS\n1. Never archive anything.\n2. Be kind.")
	require.Contains(t, prompt, "LLM RULE: ada\nAda may ask for much.")
	kept := decidedActions(t, where)["archive me again"]
	require.Equal(t, "none completed", fmt.Sprint(kept.Action, " ", kept.State))
	require.Contains(t, kept.Rationale, "action archive is not offered")
	require.Len(t, model.Seen(), 4, "it was told so twice")
	explained := strings.Join(strings.Fields(postroomd(t, append([]string{"explain", kept.ID}, where...)...).stdout), " ")
	require.Contains(t, explained, "binding no archive, move for all mail, by instruction "+never)
	require.Contains(t, explained, "binding nothing for mail of example.com, by instruction ")

	require.Contains(t, do("disable", never), "is disabled")
	require.Contains(t, do("list"), "off")
	do("enable", never[:13])
	do("disable", never)
	sendTo(t, gmail, "archive a third", "Ada <ada@example.com>", "Hello.")
	runOnce(t, where...)
	require.Equal(t, postroom.Archive, decidedActions(t, where)["archive a third"].Action)
	do("remove", never)
	for _, args := range [][]string{{"remove", never}, {"enable", ""}, {"add", " "}, {"add"},
		{"add", "--forbid", "burn", "x"}, {"add", "--forbid", "none", "x"}, {"add", "--mailbox", "no@b.cc", "x"}} {
		require.Equal(t, exitUsage, try(args...).status, args)
	}
}

func TestTheCommandsOfDirectionsNameInstructions(t *testing.T) {
	for _, name := range []string{"directions", "llm-rules"} {
		r := postroomd(t, name, "add", "--name", "x", "Be brief.")
		require.Equal(t, exitUsage, r.status)
		require.Contains(t, r.stderr, name+" are instructions now: 'postroomd instructions add'")
	}
}

// Instructions are given before the first run, so that the first message is decided about with them.
func TestInstructionsAreGivenBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	gmail := inbox(t, "archive me")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, decides)
	where := withModel(t, gmail, model.URL, "")
	r := postroomd(t, append([]string{"instructions", "add", "--forbid", "archive", "Archive nothing."}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	runOnce(t, where...)
	require.Equal(t, postroom.None, decidedActions(t, where)["archive me"].Action)
	require.Contains(t, fmt.Sprint(model.Seen()[0].Body), "Archive nothing.")
}
