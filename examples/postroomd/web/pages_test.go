package web_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// lookedAt names the test that looks at what a route shows, by [looks] or [fits]: at all widths, in both themes.
var lookedAt = map[string]string{
	"GET /{$}":                       "TestEachPageFitsAndIsReadable",
	"GET /actions":                   "TestEachPageFitsAndIsReadable",
	"GET /actions/{id}":              "TestEachPageFitsAndIsReadable",
	"GET /agents":                    "TestEachPageAboutAgentsFitsAndIsReadable",
	"GET /agents/runs/{id}":          "TestEachPageAboutAgentsFitsAndIsReadable",
	"GET /assistant":                 "TestRulesAreWrittenWithTheAssistant",
	"GET /assistant/{session}":       "TestRulesAreWrittenWithTheAssistant",
	"GET /audit":                     "TestEachPageFitsAndIsReadable",
	"GET /drafts":                    "TestEachPageAboutDraftsFitsAndIsReadable",
	"GET /drafts/{mailbox}/{id}":     "TestEachPageAboutDraftsFitsAndIsReadable",
	"GET /labels":                    "TestEachPageFitsAndIsReadable",
	"GET /mail":                      "TestEachPageFitsAndIsReadable",
	"GET /mail/act":                  "TestAllThatASearchFindsIsStarred",
	"GET /mail/ask":                  "TestTheModelIsAskedAboutASearch",
	"GET /mail/{mailbox}/{id}":       "TestEachPageFitsAndIsReadable",
	"GET /mail/{mailbox}/{id}/fix":   "TestTheRulesAboutAMailAreFixed",
	"GET /mail/{mailbox}/{id}/html":  "TestAMessageIsShownAsHTML",
	"GET /mail/{mailbox}/{id}/rules": "TestEachPageFitsAndIsReadable",
	"GET /mailboxes":                 "TestEachPageFitsAndIsReadable",
	"GET /mailboxes/{id}/archive":    "TestTheArchiveIsShownAndCopiedFromThePage",
	"GET /mailboxes/{id}/away":       "TestTheFormOfAnAbsenceFitsAndIsReadable",
	"GET /mailboxes/{id}/look":       "TestAFirstLookIsAskedForAndShown",
	"GET /mailboxes/{id}/remove":     "TestEachPageFitsAndIsReadable",
	"GET /mailboxes/{id}/signout":    "TestAMailboxIsSignedOutOf",
	"POST /mailboxes/{id}/signin":    "TestADeadGrantIsMended",
	"GET /meaning":                   "TestWhatMailMeansIsAnsweredOnThePage",
	"GET /models":                    "TestEachPageFitsAndIsReadable",
	"GET /models/calls/{id}":         "TestCallsOfModelsFitAndAreReadable",
	"GET /rules":                     "TestEachPageFitsAndIsReadable",
	"GET /rules/apply":               "TestRulesAreAppliedToOldMail",
	"GET /rules/edit":                "TestEachPageFitsAndIsReadable",
	"GET /rules/form":                "TestEachPageFitsAndIsReadable",
	"GET /rules/import":              "TestGmailsFiltersAreImported",
	"GET /rules/preview":             "TestARuleIsPreviewedAsOneTypes",
	"GET /rules/versions":            "TestEachPageFitsAndIsReadable",
	"GET /rules/{id}":                "TestEachPageFitsAndIsReadable",
	"GET /settings":                  "TestEachPageFitsAndIsReadable",
	"GET /statistics":                "TestStatisticsAreShown",
	"GET /subscriptions":             "TestListsAreLeftFromThePage",
	"GET /subscriptions/leave":       "TestListsAreLeftFromThePage",
	"GET /undo":                      "TestEachPageFitsAndIsReadable",
	"GET /waiting":                   "TestEachPageAboutRequestsFitsAndIsReadable",
	"GET /waiting/{id}":              "TestEachPageAboutRequestsFitsAndIsReadable",
	"/":                              "TestAPageThatIsNotThere",
	"GET /audit/export":              "", // files, streams and styles are no pages
	"GET /waiting/{id}/message.eml":  "",
	"GET /events":                    "",
	"GET /static/":                   "",
}

// A page that nobody looks at at each width, in both themes, and with axe-core, is found here.
func TestEachPageIsLookedAt(t *testing.T) {
	pages, err := web.New(newWorld(t).App)
	require.NoError(t, err)
	t.Cleanup(pages.Close)
	looking := testsThatCall(t, "looks", "fits")
	for _, of := range pages.Routes() {
		name, listed := lookedAt[of.Pattern]
		if !listed && strings.HasPrefix(of.Pattern, "POST ") {
			continue // it leads to a page
		}
		require.True(t, listed, "no test looks at %s: name the one that does", of.Pattern)
		if name != "" {
			require.Contains(t, looking, name, of.Pattern)
		}
	}
}

// testsThatCall returns the names of the tests of this package that call one of the functions.
func testsThatCall(t *testing.T, functions ...string) (tests []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if called, ok := call.Fun.(*ast.Ident); ok {
					for _, name := range functions {
						if called.Name == name {
							tests = append(tests, f.Name.Name)
						}
					}
				}
				return true
			})
		}
	}
	return tests
}

// A page that is not there says so, and leads back.
func TestAPageThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, http.StatusNotFound, w.get("nowhere/"+strings.Repeat("far", 60)).status)
	b := browsertest.Browse(t)
	b.Open(w.url + "nowhere/" + strings.Repeat("far", 60))
	fits(b, "problem")
	browsertest.Eval[any](b, `document.querySelector("main a").click()`)
	b.Until(`document.querySelector("h1")?.textContent === "Today" && ` + ready)
}

// Rows do not move below somebody who ticks: the page says how many are new, or that it has changed, and
// shows it when asked.
func TestAListIsHeldWhileSomebodyTicks(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	list := w.waiting(safety.Filter{Rule: "News"})
	b.Open(w.url + "waiting?rule=News")
	b.Until(ready + " && " + connected)
	b.Press("j", "j", "x")
	row := `document.querySelector('[data-row] a[href$="` + list[0].Action.ID + `"]')`
	require.True(t, browsertest.Eval[bool](b, "!!"+row))
	require.NoError(t, w.RejectShown(t.Context(), list[0].Approval, "Ann", ""))
	b.Until(`document.querySelector("#news")?.textContent === "The list has changed: show it"`)
	require.True(t, browsertest.Eval[bool](b, "!!"+row), "it stays where it is")
	require.Equal(t, 1, browsertest.Eval[int](b, `document.querySelectorAll("[data-row] :checked").length`))
	browsertest.Eval[any](b, `document.querySelector("#news").click()`)
	b.Until("!" + row + ` && !document.querySelector("#news")`)

	b.Open(w.url + "waiting?rule=Rest")
	b.Until(ready + " && " + connected)
	b.Press("j", "x")
	w.deliver("kim@example.org", "One more")
	b.Until(`document.querySelector("#news")?.textContent === "1 new: show the list"`)
	b.Quiet()
}

// A person who runs no scripts searches, answers, takes back, reads on, stops and resumes all the same.
func TestPagesWithoutScripts(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	browsertest.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	// submit fills in a form, clicks its button, and waits for the page that it leads to.
	submit := func(button, until string, fill ...string) {
		t.Helper()
		browsertest.Eval[any](b, strings.Join(fill, ";")+`; document.querySelector("`+button+`").click()`)
		b.UntilAsked(`document.readyState === "complete" && !!(` + until + `)`)
	}
	said := func(text string) string {
		return `document.querySelector(".done")?.textContent.includes("` + text + `")`
	}
	asks := w.waiting(safety.Filter{Rule: "News"})
	b.Open(w.url)
	require.False(t, browsertest.Eval[bool](b, `[...document.querySelectorAll("#keys-open, #live-toggle")]
		.some((e) => e.checkVisibility())`), "there is nothing that needs a script")
	submit("#stop", `document.querySelector("#stopped #by")?.textContent === "`+access.LocalName+`"`)
	submit("#resume", said("goes on"))
	b.Open(w.url + "waiting/" + asks[0].Action.ID)
	submit("[name=approve]", said("Approved"))
	b.Open(w.url + "waiting/" + asks[1].Action.ID)
	submit("[name=reject]", said("Rejected"), `document.querySelector("#why").value = "my sister writes there"`)
	require.NoError(t, w.RunJobs(t.Context()))
	require.Equal(t, postroom.ActionCompleted, w.state(asks[0].Action.ID))
	answers, err := w.Ledger.ApprovalsOf(t.Context(), asks[1].Action.ID)
	require.NoError(t, err)
	require.Equal(t, "my sister writes there", answers[0].Why)
	b.Open(w.url + "waiting?rule=News")
	submit("#bulk [value=reject]", said("Rejected: 2 of 2"), `document.querySelectorAll("[name=pick]").forEach((e, i) =>
		{ e.checked = i < 2; })`)
	b.Open(w.url + "actions/" + asks[0].Action.ID)
	submit("#undo button", said("taken back"))
	b.Open(w.url + "mail?mailbox=" + url.QueryEscape(sample.Owner))
	submit(".filters button", `location.search.includes("is%3Aunread") && document.querySelectorAll("[data-row]").length > 0`,
		`document.querySelector("#m-q").value = "is:unread"`)
	b.Quiet()
}

// A full disk and a spent budget stand on top of the first page, as the reader's other troubles do.
func TestTodayTellsOfAFullDiskAndASpentBudget(t *testing.T) {
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
			Arguments: llmtest.Decision("none", "{}", 1)}}}
	})
	w := newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.LLM.Age, c.LLM.AccountTokensDay = 0, 10 // the sample is older
	})
	page := w.get("").body
	require.Contains(t, page, "::small is not asked.")
	require.Contains(t, page, "for "+sample.Owner)
	require.Contains(t, page, "raise the budget, or wait for the next day")
	require.NotContains(t, page, "cannot be written")
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for _, change := range []string{"INSERT", "UPDATE"} {
			_, err := tx.ExecContext(ctx, "CREATE TRIGGER full_"+change+" BEFORE "+change+
				" ON postroomd_probes BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
			if err != nil {
				return err
			}
		}
		return nil
	}))
	page = w.get("").body
	require.Contains(t, page, "The database cannot be written.")
	require.Contains(t, page, "database or disk is full")
}

// Times are those of the reader, whose zone the browser says.
func TestTimesAreThoseOfTheReader(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	browsertest.Call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Tokyo"})
	asked := w.waiting(safety.Filter{})[0]
	b.Open(w.url + "waiting/" + asked.Action.ID)
	b.Until(`document.documentElement.dataset.zone === "Asia/Tokyo" && ` + ready)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	shown := browsertest.Eval[[]string](b, `[...document.querySelectorAll("time")].map((e) => e.textContent)`)
	require.Contains(t, shown, asked.Approval.ExpiresAt.In(tokyo).Format("Mon 2 Jan 2006, 15:04"))
	b.Quiet()
}

// Outside of a demo, mail leads to where Gmail shows it, in the mailbox that has it.
func TestMailLeadsToGmail(t *testing.T) {
	w := newWorld(t)
	request := w.waiting(safety.Filter{})[0].Action
	mail := w.pathOf(request)
	require.NotContains(t, w.get(mail).body, "mail.google.com", "a demo has its own Gmail")
	w.Env.Demo = false
	at := `<a href="https://mail.google.com/mail/?authuser=` + url.QueryEscape(sample.Owner) + `#all/` + path.Base(mail) + `"`
	for _, page := range []string{mail, "waiting/" + request.ID} {
		require.Contains(t, w.get(page).body, at, page)
	}
}

// Before there is a mailbox, each page says how to add one, or that nothing is there yet.
func TestPagesWithoutAMailbox(t *testing.T) {
	env := environment.Demo(environment.Folder(t.TempDir()))
	a, err := app.New(t.Context(), app.Config{Environment: env})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	w := serveWorld(t, a)
	for page, says := range map[string]string{"": "There is no mailbox yet. ", "mail": "There is no mailbox yet. ",
		"rules": "There is no mailbox yet. ", "mailboxes": "To add a mailbox: ", "waiting": "Nothing waits for you.",
		"actions": "Nothing was done yet.", "labels": "", "models": "", "audit": "", "settings": ""} {
		answer := w.get(page)
		require.Equal(t, http.StatusOK, answer.status, "%s: %s", page, answer.body)
		require.Contains(t, answer.body, says, page)
	}
}
