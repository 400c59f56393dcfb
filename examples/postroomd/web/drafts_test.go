package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// writes is a model that decides nothing, and answers each mail alike: with a price that nobody has named.
func writes(asked llmtest.Asked) llmtest.Reply {
	text := "Hello,\n\nThursday is fine. I bring the contract, and it stays at 4711 EUR.\n\nAda"
	switch all := fmt.Sprint(asked.Messages); {
	case strings.Contains(all, "on Friday instead"):
		text = "Hello,\n\nlet us meet on Friday instead.\n\nAda"
	case !strings.Contains(all, "TASK\nWrite the answer"):
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision("none", "{}", 0.95)}}}
	}
	return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: compose.WriteAnswer,
		Arguments: fmt.Sprintf(`{"person_writes":false,"text":%q}`, text)}}}
}

// newDraftsWorld is a world in which drafts are written.
func newDraftsWorld(t *testing.T) *world {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, writes)
	return newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.LLM.Age = 0
		c.Replies.Enabled = true
	})
}

// letter delivers a mail, and returns the path of its page.
func (w *world) letter(from, subject, text string) string {
	w.Helper()
	m, err := w.Server.Deliver(w.Context(), []byte("From: "+from+"\r\nTo: "+sample.Owner+"\r\nSubject: "+subject+
		"\r\nMessage-ID: <"+strconv.Itoa(len(subject))+"@example.com>\r\n\r\n"+text+"\r\n"))
	require.NoError(w, err)
	w.settle()
	return "mail/" + sample.Owner + "/" + m.ID
}

func (w *world) settle() {
	w.Helper()
	accounts, err := w.Mail.Accounts(w.Context())
	require.NoError(w, err)
	faults, err := w.RunUntilIdle(w.Context(), accounts[0].ID)
	require.NoError(w, err)
	require.Empty(w, faults)
}

// drafted asks for the draft of an answer to a mail by its page, and returns the path of the page of the draft.
func (w *world) drafted(mail string) string {
	w.Helper()
	require.Equal(w, http.StatusSeeOther, w.post(mail+"/draft", url.Values{"from": {"/" + mail}}).status)
	w.settle()
	return w.get(mail).find(w.T, `href="[./]*(drafts/[^"]+)"`)
}

// inGmail opens the draft of a page as it is at Gmail, and puts a text in its place, as a person does.
func (w *world) inGmail(draft, text string) {
	w.Helper()
	found, err := drafts.Find(w.Context(), w.App, sample.Owner, draft[strings.LastIndex(draft, "/")+1:])
	require.NoError(w, err)
	whole, err := drafts.NewWhole(w.Context(), w.App, found)
	require.NoError(w, err)
	client, err := w.Clients.Client(w.Context(), found.AccountID)
	require.NoError(w, err)
	service, err := w.Server.Service(w.Context())
	require.NoError(w, err)
	list, err := service.Users.Drafts.List("me").Do()
	require.NoError(w, err)
	for _, d := range list.Drafts {
		if d.Message.ThreadId == found.ThreadID || len(list.Drafts) == 1 { // a person's may be in another thread
			_, err = client.UpdateDraft(w.Context(), d.Id, []byte("From: "+sample.Owner+"\r\nTo: zoe@example.com\r\n"+
				"Subject: "+whole.AtGmail.Subject+"\r\n\r\n"+strings.ReplaceAll(text, "\n", "\r\n")+"\r\n"), found.ThreadID)
			require.NoError(w, err)
			return
		}
	}
	require.Fail(w, "there is no such draft")
}

const meeting = "Hello Ada,\r\n\r\nshall we meet on Thursday? <b>Bring</b> the contract.\r\n\r\nZoe"

// A person asks for a draft beside a mail, reads it beside the conversation, has it written again by a sentence, and
// discards it, by keys and on a phone.
func TestADraftIsReadReworkedAndDiscarded(t *testing.T) {
	w := newDraftsWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		mail := w.letter("Zoe <zoe@example.com>", fmt.Sprint("Meeting at ", width), meeting)
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + mail)
		b.Until(ready)
		browsertest.Eval[any](b, `document.querySelector("[formaction$='/draft']").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("being written")`)
		w.settle()
		b.Open(w.url + "mail?q=subject:" + strconv.FormatInt(width, 10))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector(".label.answer").textContent`), "drafted")
		b.Press("g", "d")
		b.Until(`document.querySelector("h1").textContent === "Drafts" && ` + ready)
		b.Press("j", kb.Enter)
		b.Until(`!!document.querySelector("#thread") && ` + ready)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#thread").innerText`), "<b>Bring</b> the contract")
		require.Equal(t, "[check: 4711 EUR]", browsertest.Eval[string](b, `document.querySelector("#text mark").textContent`))
		b.Press("r")
		b.Until(`document.activeElement?.id === "sentence"`)
		b.Press("on Friday instead", kb.Enter)
		b.Until(`document.querySelector(".done")?.textContent.includes("written again")`)
		w.settle()
		b.Open(w.url + browsertest.Eval[string](b, "location.pathname.slice(1)"))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#text").innerText`), "Friday")
		require.True(t, browsertest.Eval[bool](b, `!document.querySelector("mark")`))
		browsertest.Eval[any](b, `document.querySelector("#discard").open = true`)
		browsertest.Eval[any](b, `document.querySelector("#discard button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("deleted at Gmail")`)
		require.Equal(t, "skipped", browsertest.Eval[string](b, `document.querySelector("#state").textContent`))
		require.Contains(t, w.get(mail).body, "discarded by "+access.LocalName)
	}
	b.Quiet()
}

// What a person has changed in Gmail is shown, line by line, and a form of before says that the draft has changed.
func TestAChangedDraftIsShown(t *testing.T) {
	w := newDraftsWorld(t)
	draft := w.drafted(w.letter("Zoe <zoe@example.com>", "Meeting", meeting))
	require.Contains(t, w.get("").body, "One draft of an answer lies ready")
	w.inGmail(draft, "Hello,\n\nThursday is fine.\n\nAda")
	page := w.get(draft)
	require.Contains(t, page.body, "as it was changed in Gmail")
	require.Contains(t, page.body, `<div class="added">&#43; Thursday is fine.</div>`)
	turn := page.find(t, `name="turn" value="(\d+)"`)
	form := url.Values{"turn": {turn}, "sentence": {"shorter"}, "from": {"/" + draft}}
	require.Equal(t, http.StatusConflict, w.post(draft+"/rework", url.Values{"sentence": {"shorter"}}).status)
	require.Equal(t, http.StatusSeeOther, w.post(draft+"/rework", form).status)
	answer := w.post(draft+"/discard", form)
	require.Equal(t, http.StatusConflict, answer.status)
	require.Contains(t, answer.body, "has changed since it was shown")
	require.Equal(t, http.StatusNotFound, w.get("drafts/"+sample.Owner+"/none").status)
	require.Equal(t, http.StatusConflict, w.get("drafts?state=none").status)
	require.Equal(t, http.StatusConflict, w.get("drafts?before=none").status)
}

// The page is in the menu where drafts are written, has a tab for each status that there is, and pages.
func TestDraftsAreListedByStatus(t *testing.T) {
	without := newWorldWith(t, "", func(c *config.Config) { c.Replies.Enabled = false })
	require.NotContains(t, without.get("").body, "drafts")
	require.Contains(t, newWorld(t).get("drafts").body, scripted.Note, "a demo says who writes")
	w := newDraftsWorld(t)
	require.Contains(t, w.get("").body, `href="./drafts"`)
	require.NotContains(t, w.get("drafts").body, scripted.Note)
	page := w.get("drafts")
	require.Contains(t, page.body, "No draft lies ready")
	require.Equal(t, 1, strings.Count(page.body, `id="tab-`))
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	found, err := w.SearchMail(t.Context(), account.ID, mailindex.Search{Query: "in:inbox", Limit: 90})
	require.NoError(t, err)
	threads := map[string]bool{}
	for _, m := range found.Messages {
		if m.HasLabel(postroom.LabelSent) || threads[m.ProviderThreadID] {
			continue
		}
		threads[m.ProviderThreadID] = true
		require.NoError(t, w.AskDraft(t.Context(), m.AccountID, m.ProviderThreadID, "Ann"))
	}
	require.Greater(t, len(threads), 50)
	page = w.get("drafts?state=writing")
	require.Contains(t, page.body, fmt.Sprintf("Being written %d", len(threads)))
	require.NotContains(t, page.body, "tab-ready")
	require.Equal(t, 50, strings.Count(page.body, "data-row"))
	older := w.get(replaceAmp(page.find(t, `<a href="\./(drafts[^"]+)">Older`)))
	require.Equal(t, len(threads)-50, strings.Count(older.body, "data-row"))
	require.Contains(t, older.body, "The newest")
}

func TestEachPageAboutDraftsFitsAndIsReadable(t *testing.T) {
	w := newDraftsWorld(t)
	mail := w.letter("Zoe <zoe@example.com>", "Meeting about the contract on Thursday, in the small room", meeting)
	draft := w.drafted(mail)
	changed := w.drafted(w.letter("Bob <bob@example.com>", "Lunch", "Shall we have lunch on Monday?"))
	w.inGmail(changed, "Hello,\n\nMonday is fine.\n\nAda")
	gone := w.drafted(w.letter("Eve <eve@example.com>", "An offer", "Do you want to buy something?"))
	form := url.Values{"turn": {w.get(gone).find(t, `name="turn" value="(\d+)"`)}, "from": {"/" + gone}}
	require.Equal(t, http.StatusSeeOther, w.post(gone+"/discard", form).status)
	pages := map[string]string{"drafts": "drafts", "drafts-ended": "drafts?state=skipped", "draft": draft,
		"draft-changed": changed, "draft-ended": gone, "message-drafted": mail}
	w.small(pages)
	looks(browsertest.Browse(t), w.url, pages)
	as := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	for _, path := range pages {
		require.NotRegexp(t, `<form method="post" action="[./]*(drafts|mail)|formaction|<button form`, as.get(path).body, path)
	}
}

// A person sends a draft from its page, after a look at each recipient and word; what has changed since is not sent.
func TestADraftIsSentFromItsPage(t *testing.T) {
	w := newDraftsWorld(t)
	b := browsertest.Browse(t)
	sent := func() int {
		service, err := w.Server.Service(t.Context())
		require.NoError(t, err)
		list, err := service.Users.Messages.List("me").Q("in:sent subject:supper").Do()
		require.NoError(t, err)
		return len(list.Messages)
	}
	for i, scheme := range []string{"light", "dark"} {
		draft := w.drafted(w.letter("Zoe <zoe@example.com>", "The supper "+scheme, meeting))
		require.NotContains(t, w.get(draft).body, `name="sha256"`, "it has a fact to check")
		w.inGmail(draft, "Hello,\n\nThursday is fine.\n\nAda")
		page := w.get(draft)
		form := url.Values{"from": {"/" + draft}, "turn": {page.find(t, `name="turn" value="(\d+)"`)},
			"sha256": {page.find(t, `name="sha256" value="(\w+)"`)}}
		w.inGmail(draft, "Hello,\n\nMonday is fine.\n\nAda")
		require.Equal(t, http.StatusConflict, w.post(draft+"/send", form).status)
		form.Del("sha256")
		require.Equal(t, http.StatusConflict, w.post(draft+"/send", form).status)
		require.Equal(t, i, sent())

		b.Scheme(scheme)
		for _, width := range []int64{390, 1280} {
			b.Size(width, 900)
			b.Open(w.url + draft)
			b.Until(ready)
			browsertest.Eval[any](b, `document.querySelector("#send").open = true`)
			require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "%s at %d", scheme, width)
			require.Empty(t, browsertest.Eval[[]string](b, browsertest.Pale), "%s at %d", scheme, width)
			b.Picture(fmt.Sprint("draft-send-", scheme, width))
		}
		b.Accessible("send, " + scheme)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#send table").innerText`), "zoe@example.com")
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#sent").innerText`), "Monday is fine.")
		browsertest.Eval[any](b, `document.querySelector("#send form button").click()`)
		b.Until(`document.querySelector(".done")?.textContent === "✓ The draft is sent."`)
		require.Equal(t, "sent", browsertest.Eval[string](b, `document.querySelector("#state").textContent`))
		require.Equal(t, i+1, sent())
		w.settle()
	}
	b.Quiet()
}

// The owner reads and changes on the page how the model that writes drafts is told to write.
func TestTheVoiceIsOnThePageOfDrafts(t *testing.T) {
	w := newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", "http://127.0.0.1:1", "sk-1"
		c.Replies.Enabled, c.Replies.Voice = true, true
	})
	require.Contains(t, w.get("drafts").body, "Nothing was learned yet.")
	const path = "drafts/" + sample.Owner + "/voice"
	w.post(path, url.Values{"text": {"I say <b>Moin</b>."}, "version": {"0"}})
	page := w.get("drafts").body
	require.Contains(t, page, "I say &lt;b&gt;Moin&lt;/b&gt;.")
	require.Contains(t, page, "it stays")
	w.post(path, url.Values{"text": {"late"}, "version": {"0"}})
	w.post(path, url.Values{"text": {"without"}})
	require.Contains(t, w.get("drafts").body, "Moin")
	jobs := func() (n int) {
		require.NoError(t, w.DB.Reader().Get(&n, "SELECT COUNT(*) FROM jobs WHERE type = 'voice_learn'"))
		return n
	}
	for _, form := range []url.Values{{}, {"version": {"1"}}, {"replace": {"1"}}, {"replace": {"1"}, "version": {"0"}}} {
		w.post(path+"/rebuild", form)
		require.Zero(t, jobs(), form)
	}
	require.Contains(t, page, `<input type="hidden" name="version" value="1">
    <label class="grow">`)
	w.post(path+"/rebuild", url.Values{"replace": {"1"}, "version": {"1"}})
	require.Equal(t, 1, jobs())
}
