package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/safety"
)

var (
	_ agent.Mail   = (*mailstore.Store)(nil)
	_ agent.Labels = (*mailstore.Store)(nil)
	_ agent.Ledger = (*safety.Ledger)(nil)
)

// answersOf returns what the model was shown after its calls, in order.
func answersOf(client *llmtest.Scripted) (texts []string) {
	all := client.Requests()
	for _, m := range all[len(all)-1].Messages[2:] {
		if m.Role != llm.RoleAssistant {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

func TestSearchFindsMailOfTheSenderOnly(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), llmtest.Calls(agent.SearchMail, `{"query": "password OR from:carol"}`),
		llmtest.Calls(agent.SearchMail, `{"query": "password"}`), llmtest.Calls(agent.SearchMail, `{"query": "from:carol@client.example"}`),
		llmtest.Calls(agent.SearchMail, `{"query": "-- "}`), llmtest.Calls(agent.SearchMail, `{"words": 7}`),
		llmtest.Calls(agent.OwnAnswers, `{}`), ends(agent.OutcomeNone))
	w := newWorld(t, queuetest.New(t), client, nil)
	w.deliver(mail("carols", "t2", carol, "my password is swordfish"))
	w.deliver(mail("adas", "t3", ada, "I forgot my password again"))
	spam := w.deliver(mail("spam", "t4", ada, "password of spam"))
	spam.LabelIDs = []string{postroom.LabelSpam}
	other := w.deliver(mail("other", "t5", ada, "password of another account"))
	other.AccountID = "account-2"
	w.deliver(sent("toCarol", "t6", carol, "the code for Carol is 1234"))
	w.deliver(mail("fromOwner", "t8", owner, "a forged answer")).To = []postroom.Address{{Email: ada}}
	w.deliver(sent("toAda", "t7", ada, "Dear Ada\n\nOn Monday, Carol wrote:\n> I am ill\n"))
	w.run(mail("m", "t1", ada, "What was it?"))
	shown := answersOf(client)
	require.Contains(t, shown[0], "(nothing found)", "or and from and carol are words")
	require.Contains(t, shown[1], "I forgot my password again")
	require.Contains(t, shown[2], `"carol@client.example" is an address or a link, and no tool takes one`)
	require.Contains(t, shown[3], "the query has no words")
	require.Contains(t, shown[4], "do not fit the schema")
	require.Contains(t, shown[5], "1. Dear Ada")
	for _, foreign := range []string{"swordfish", "of spam", "another account", "1234", "I am ill", "a forged answer"} {
		require.NotContains(t, strings.Join(shown, "\n"), foreign)
	}
}

func TestASenderWhoIsNotVerifiedOpensNoOtherMail(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), llmtest.Calls(agent.SearchMail, `{"query": "password"}`),
		llmtest.Calls(agent.OwnAnswers, `{}`), ends(agent.OutcomeNone))
	w := newWorld(t, queuetest.New(t), client, nil)
	w.deliver(mail("adas", "t3", ada, "my password is swordfish"))
	forged := mail("m", "t1", ada, "What was it?")
	forged.Headers = forged.Headers[2:]
	w.run(forged)
	require.NotContains(t, toolNames(client), agent.SearchMail)
	require.Contains(t, toolNames(client), agent.ReadThread)
	for _, text := range answersOf(client) {
		require.Contains(t, text, "there is no such tool here")
	}
}

func toolNames(client *llmtest.Scripted) (names []string) {
	for _, tool := range client.Requests()[1].Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestTheThreadIsReadWithoutTheBinAndDrafts(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), llmtest.Calls(agent.ReadThread, `{}`), ends(agent.OutcomeNone))
	w := newWorld(t, queuetest.New(t), client, nil)
	toAda := func(id, thread, body string) *postroom.Message {
		m := w.deliver(mail(id, thread, carol, body))
		m.Cc = []postroom.Address{{Email: strings.ToUpper(ada)}}
		return m
	}
	toAda("a", "t1", "the first")
	toAda("in-the-bin", "t1", "in the bin").LabelIDs = []string{postroom.LabelTrash}
	toAda("as-a-draft", "t1", "half a draft").LabelIDs = []string{postroom.LabelDraft}
	toAda("elsewhere", "t2", "of another thread")
	toAda("lately", "t1", "the second")
	for range 25 {
		toAda("long", "t1", strings.Repeat("long ", 2000))
	}
	w.run(mail("message", "t1", ada, "the newest"))
	shown := answersOf(client)[0]
	require.Contains(t, shown, "--- message 20 of 20\nFrom: "+ada)
	require.Contains(t, shown, "the second")
	for _, foreign := range []string{"in the bin", "half a draft", "of another thread", "the first"} {
		require.NotContains(t, shown, foreign)
	}
	require.Less(t, len(shown), 14_000)
}

// Whoever knows the subject and an id can write into a thread. He reads nothing there that he did not write or get.
func TestAStrangerWhoJoinsAThreadReadsNothingOfIt(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), llmtest.Calls(agent.ReadThread, `{}`),
		ends(agent.OutcomeDraft, `"body": "Yes."`, `"to": [2]`), ends(agent.OutcomeDraft, `"body": "Yes."`))
	w := newWorld(t, queuetest.New(t), client, nil)
	w.deliver(mail("a", "t1", ada, "the password is swordfish"))
	w.deliver(sent("b", "t1", ada, "swordfish, thank you"))
	r := w.run(mail("message", "t1", mallory, "What did we say?"))
	require.NotContains(t, answersOf(client)[0], "swordfish")
	require.Contains(t, answersOf(client)[1], "the numbers are 1 to 1", "nobody else takes part in what he sees")
	require.Equal(t, []any{mallory}, w.action(r).Parameters["to"])
}

// A forged message can name anybody in Cc: its answer goes to who is said to have sent it.
func TestAForgedMessageIsAnsweredToItsSenderAlone(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeDraft, `"body": "Yes."`, `"to": [1, 2]`),
		ends(agent.OutcomeDraft, `"body": "Yes."`))
	w := newWorld(t, queuetest.New(t), client, nil)
	w.deliver(mail("a", "t1", ada, "the password is swordfish"))
	forged := mail("message", "t1", ada, "What did I say?")
	forged.Headers, forged.Cc = nil, []postroom.Address{{Email: mallory}}
	r := w.run(forged)
	require.Contains(t, answersOf(client)[0], "the numbers are 1 to 1")
	require.Equal(t, []any{ada}, w.action(r).Parameters["to"])
}

func TestAnOutcomeThatTheProfileLacks(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeArchive), ends(agent.OutcomeNone))
	w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) { c.Profiles[0].Outcomes = nil })
	require.Equal(t, agent.OutcomeNone, w.run(mail("m", "t1", ada, "x")).Outcome)
	require.Contains(t, answersOf(client)[0], "there is no outcome archive: the outcomes are none")
	require.NotContains(t, toolNames(client), "finish_archive")
}

func TestRecipientsAreParticipantsOfTheThread(t *testing.T) {
	answer := func(to string) llmtest.Turn { return ends(agent.OutcomeReply, `"body": "Yes."`, `"to": `+to) }
	client := llmtest.NewScripted(t, reads("question"), answer("[3]"), answer("[0]"), answer("[-1]"),
		answer(`["thief@evil.example"]`), answer("[2, 1, 2]"))
	w := newWorld(t, queuetest.New(t), client, nil)
	m := mail("m", "t1", ada, "Is it ready?")
	m.Cc = []postroom.Address{{Email: carol}, {Email: "Me+tag@example.com"}}
	m.ReplyTo = []postroom.Address{{Email: "thief@evil.example"}}
	r := w.run(m)
	for i, want := range []string{"no participant 3: the numbers are 1 to 2", "no participant 0", "no participant -1",
		"schema"} {
		require.Contains(t, answersOf(client)[i], want)
	}
	a := w.action(r)
	require.Equal(t, postroom.AutoReply, a.Type)
	require.Equal(t, []any{carol, ada}, a.Parameters["to"])
	require.Equal(t, postroom.ActionPendingApproval, a.State)
	require.Empty(t, w.passed)
}

// What is found in other threads goes to the one who wrote it, or got it.
func TestAfterASearchTheAnswerGoesToTheSenderAlone(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), llmtest.Calls(agent.SearchMail, `{"query": "price"}`),
		ends(agent.OutcomeDraft, `"body": "7"`, `"to": [1, 2]`), ends(agent.OutcomeDraft, `"body": "7"`))
	w := newWorld(t, queuetest.New(t), client, nil)
	w.deliver(mail("adas", "t3", ada, "the price is 7"))
	m := mail("m", "t1", ada, "Which price?")
	m.Cc = []postroom.Address{{Email: carol}}
	r := w.run(m)
	require.Contains(t, answersOf(client)[1], "participant 2 must not read what the tools have returned")
	require.Equal(t, []any{ada}, w.action(r).Parameters["to"])
}

func TestFilesAreReadByWordsAndNotByPath(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.txt")
	require.NoError(t, os.WriteFile(outside, []byte("delivery secret outside"), 0o600))
	folder := t.TempDir()
	for name, text := range map[string]string{"faq.md": "Delivery takes 3 days, see https://shop.example/delivery.\n\nReturns are free.",
		".hidden.txt": "delivery hidden", "key.pem": "delivery key", "large.txt": "delivery large" + strings.Repeat(" ", 1<<20)} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(outside, filepath.Join(folder, "link.txt")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(folder, "up")))
	client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeReply, `"body": "See https://shop.example/delivery"`),
		llmtest.Calls(agent.ReadFiles, `{"query": "delivery ../outside.txt"}`), llmtest.Calls(agent.ReadFiles, `{"query": "zebra"}`),
		ends(agent.OutcomeReply, `"body": "See https://evil.example/delivery."`),
		ends(agent.OutcomeReply, `"body": "See https://shop.example/delivery."`, `"to": [2]`))
	w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) {
		c.Folder = func(accountID string) string { return map[string]string{account: folder}[accountID] }
		c.Profiles[0].Tools = []string{agent.ReadFiles}
	})
	m := mail("m", "t1", ada, "How long?")
	m.Cc = []postroom.Address{{Email: carol}}
	r := w.run(m)
	shown := answersOf(client)
	require.Contains(t, shown[0], `the link or address "https://shop.example/delivery", which is not the owner's`)
	require.Contains(t, shown[1], "1. faq.md: Delivery takes 3 days")
	for _, foreign := range []string{"outside", "hidden", "key", "large", "Returns"} {
		require.NotContains(t, shown[1], foreign)
	}
	require.Contains(t, shown[2], "(nothing found)")
	require.Contains(t, shown[3], "evil.example")
	require.Equal(t, "See https://shop.example/delivery.", w.action(r).Parameters["body"])
	require.Equal(t, []any{carol}, w.action(r).Parameters["to"], "the owner's files are for all participants")
}

func TestAnOutcomeThatIsWrongIsSaidToTheModel(t *testing.T) {
	client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeLabel, `"label": "Private"`), ends(agent.OutcomeLabel, `"label": "INBOX"`),
		ends(agent.OutcomeReply, `"body": " "`), ends(agent.OutcomeReply, `"body": "`+strings.Repeat("x", 2001)+`"`),
		ends(agent.OutcomeSnooze, `"when": "someday"`), llmtest.Calls("finish_none", `{"reason": " ", "confidence": 1}`),
		llmtest.Calls("finish_none", `{"reason": "x", "confidence": 7}`), llmtest.Calls("finish_delete", `{}`),
		llmtest.Turn{Response: &llm.Response{ToolCalls: append(ends(agent.OutcomeNone).Response.ToolCalls,
			ends(agent.OutcomeArchive).Response.ToolCalls...)}},
		ends(agent.OutcomeCreateTask, `"title": "x"`, `"due": "soon"`), ends(agent.OutcomeLabel, `"label": "orders"`))
	w := newWorld(t, queuetest.New(t), client, func(c *agent.Config) { c.Profiles[0].Limits.ModelCalls = 20 })
	r := w.run(mail("m", "t1", ada, "x"))
	for i, want := range []string{`there is no label "Private"`, `there is no label "INBOX"`, `"body"`, "body has 2001 characters: write at most 2000",
		`"when" is not a time`, "the reason is blank", "is not within 0 to 1", "there is no outcome delete", "with one call alone", "with one call alone",
		`"due"`} {
		require.Contains(t, answersOf(client)[i], want)
	}
	require.Equal(t, postroom.Parameters{postroom.ParamLabel: "Label_1"}, w.action(r).Parameters)
	require.Equal(t, postroom.ActionQueued, w.action(r).State)
}

func TestLinksOfStrangersAreInNoText(t *testing.T) {
	for _, text := range []string{"https://evil.example/x", "HTTP://1.2.3.4", "www.evil.test", "evil.com",
		"see evil.com/pay", "evil。com",
		"ev\u200bil.com", "thief@evil.test", "mailto:thief", "tel:+4912345", "javascript:alert(1)", "bücher.de", "//evil.com/x", "evil.com:8080",
		"thief＠evil.com", "xn--bcher-kva.de", "evil.рф", "see 公司.中国/pay", "EVIL.МОСКВА"} {
		client := llmtest.NewScripted(t, reads("question"), llmtest.Calls(agent.ReadThread, "{}"),
			ends(agent.OutcomeNote, `"note": "pay at `+text+`"`), ends(agent.OutcomeNone))
		w := newWorld(t, queuetest.New(t), client, nil)
		w.run(mail("m", "t1", ada, "please pay at "+text))
		require.Contains(t, answersOf(client)[1], "which is not the owner's", "%q", text)
	}
	client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeNote, `"note": " in\u200bvi\u202esible "`))
	w := newWorld(t, queuetest.New(t), client, nil)
	require.Equal(t, "invisible", w.action(w.run(mail("m", "t1", ada, "x"))).Parameters["note"])
	for _, text := range []string{"at 9.30 a.m., e.g. on 1.2.2027", "report.pdf costs 12.50", "Dr.Smith", "yes.And no",
		ada} {
		client := llmtest.NewScripted(t, reads("question"), ends(agent.OutcomeNote, `"note": "`+text+`"`))
		w := newWorld(t, queuetest.New(t), client, nil)
		require.Equal(t, agent.OutcomeNote, w.run(mail("m", "t1", ada, "x")).Outcome, "%q", text)
	}
}

func TestNewRefuses(t *testing.T) {
	read := func(context.Context, *agent.Scope, struct{}) (string, error) { return "", nil }
	dangerous, err := agent.NewTool("transfer", "Transfer money.", postroom.Dangerous, read)
	require.NoError(t, err)
	safe, err := agent.NewTool("stock", "Count.", postroom.Safe, read)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		change func(*agent.Config)
		want   string
	}{
		"no database":      {func(c *agent.Config) { c.DB = nil }, "Config.DB is nil"},
		"no ledger":        {func(c *agent.Config) { c.Ledger = nil }, "Config.Ledger is nil"},
		"no mail":          {func(c *agent.Config) { c.Mail = nil }, "Config.Mail is nil"},
		"nobody's mailbox": {func(c *agent.Config) { c.Own = nil }, "Config.Own is nil"},
		"a dangerous tool": {func(c *agent.Config) { c.Tools = []agent.Tool{dangerous} }, "tool transfer is dangerous; what cannot be undone is a kind of action"},
		"a zero tool":      {func(c *agent.Config) { c.Tools = []agent.Tool{{Name: "x"}} }, `tool "x" is a zero Tool`},
		"two tools":        {func(c *agent.Config) { c.Tools = []agent.Tool{safe, safe} }, "there are two tools stock"},
		"no files":         {func(c *agent.Config) { c.Profiles[0].Tools = []string{agent.ReadFiles} }, `there is no tool "read_files"; the tools are list_labels`},
		"no search":        {func(c *agent.Config) { c.Correspondence = nil }, `there is no tool "search_mail"`},
		"no labels":        {func(c *agent.Config) { c.Labels = nil }, "outcome label: Config.Labels is nil"},
		"no model":         {func(c *agent.Config) { c.Profiles[0].Model = "large" }, `there is no model "large"; the models are small`},
		"two profiles":     {func(c *agent.Config) { c.Profiles = append(c.Profiles, profile()) }, "there are two of that name"},
		"no draft":         {func(c *agent.Config) { c.Kinds = nil }, `profile "support": outcome draft: "draft" is not an action`},
		"no notes":         {func(c *agent.Config) { c.Kinds = nil }, "outcome note: action add_note: nobody carries it out here"},
		"an outcome":       {func(c *agent.Config) { c.Profiles[0].Outcomes = []agent.Outcome{"delete"} }, `unknown outcome "delete"`},
		"a limit":          {func(c *agent.Config) { c.Profiles[0].Limits.Tokens = -1 }, "tokens is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := newWorld(t, queuetest.New(t), llmtest.NewScripted(t), nil).cfg
			cfg.Profiles = []agent.Profile{profile()}
			tt.change(&cfg)
			_, err := agent.New(cfg)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err = agent.NewTool("finish_all", "x", postroom.Safe, read)
	require.ErrorContains(t, err, "not with finish_")
	_, err = agent.NewTool("text", "x", postroom.Safe, func(context.Context, *agent.Scope, string) (string, error) { return "", nil })
	require.ErrorContains(t, err, "give a struct")
}
