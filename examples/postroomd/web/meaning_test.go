package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
)

const (
	hostileReason = "<script>alert(1)</script> \u202eIt is {{work}}\""
	hostileEvents = `[{"title": "<img src=x onerror=alert(1)>", "start": "2031-03-06T17:00", "zone": "Europe/Berlin"}]`
	hostileItems  = `[{"text": "\"><b>Pay</b> at https://bad.example", "due": "2031-03-05"}]`
)

// meantWorld knows what mail means, and is unsure about the category of some, which is as an attacker would have it.
func meantWorld(t *testing.T, n int) (w *world, unsure []*postroom.Message) {
	t.Helper()
	w = newWorldWith(t, "", func(c *config.Config) { c.Enrich.Enabled = true })
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	found, err := w.SearchMail(t.Context(), account.ID, mailindex.Search{Query: "in:inbox", Limit: n})
	require.NoError(t, err)
	require.Len(t, found.Messages, n)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE enrichments SET unsure = 0"); err != nil {
			return err
		}
		for _, m := range found.Messages {
			if _, err := tx.ExecContext(ctx, `UPDATE enrichments
SET state = 'pending_approval', unsure = 1, category = 'personal', category_by = 'model', category_confidence = 0.6,
category_reasoning = $1, importance_level = 'high', importance_by = 'model',
importance_confidence = 0.9, action_items = $2, action_count = 1, events = $3, event_count = 1, calendar_by = 'model',
calendar_confidence = 0.9, unsubscribe_method = 'web', unsubscribe_url = 'javascript:alert(1)', total_tokens = 1234
WHERE message_id = $4`, hostileReason, hostileItems, hostileEvents, m.ID); err != nil {
				return err
			}
		}
		return nil
	}))
	return w, found.Messages
}

func mailPath(m *postroom.Message) string { return "mail/" + sample.Owner + "/" + m.ProviderID }

// A person filters the list by what mail means, sees what is unsure in one place, and answers it there and beside a
// message: it is right, it is another, it is wrong. Texts of attackers stay texts.
func TestWhatMailMeansIsAnsweredOnThePage(t *testing.T) {
	w, unsure := meantWorld(t, 6)
	known := func(m *postroom.Message) *enrich.Enrichment {
		e, err := w.Enrichment.Get(t.Context(), m.AccountID, m.ID)
		require.NoError(t, err)
		return e
	}
	b := browsertest.Browse(t)
	click := func(row int, text string) {
		browsertest.Eval[any](b, `document.body.dataset.old = "1";
			[...document.querySelectorAll("#list [data-row], #meaning")].at(`+string(rune('0'+row))+
			`).querySelector("button[value=`+text+`]").click()`)
		b.Until(`!document.body.dataset.old && location.search.includes("done=answer-meaning") && ` + ready)
	}
	for i, width := range []int64{390, 1280} {
		b.Size(width, 844)
		b.Open(w.url + "mail?topic=personal&priority=high")
		b.Until(ready)
		require.Equal(t, 6-2*i, browsertest.Eval[int](b, `document.querySelectorAll("[data-row]").length`))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("[data-row] .labels").textContent`),
			"high 1 appointment 1 to do")
		left := 6 - 3*i
		b.Open(w.url + "meaning")
		b.Until(ready)
		require.Equal(t, left, browsertest.Eval[int](b, `document.querySelectorAll("[data-row]").length`))
		click(0, "approve")
		browsertest.Eval[any](b, `document.querySelector("[data-row] select").value = "work"`)
		click(0, "value")
		require.Equal(t, left-2, browsertest.Eval[int](b, `document.querySelectorAll("[data-row]").length`))
		b.Open(w.url + mailPath(unsure[2+3*i]))
		b.Until(ready)
		browsertest.Eval[any](b, `document.querySelector("#meaning [name=why]").value = "She is my aunt."`)
		click(0, "reject")
	}
	b.Quiet()
	for i := range 2 {
		m := unsure[3*i : 3*i+3]
		require.Equal(t, "personal", known(m[0]).Category)
		require.Contains(t, known(m[0]).CategoryTold.Reasoning, "answered by "+access.LocalName)
		require.Equal(t, "work", known(m[1]).Category)
		require.Equal(t, enrich.ByPerson, known(m[1]).CategoryTold.By)
		require.Equal(t, enrich.Denial{Value: "personal", Why: "She is my aunt.", By: access.LocalName},
			known(m[2]).Denials[enrich.StageCategory])
	}
	require.NoError(t, w.RunJobs(t.Context()))
	require.Contains(t, w.get(mailPath(unsure[2])).body,
		"rejected: category personal, by "+access.LocalName+": She is my aunt.")
	require.Contains(t, w.get("meaning").body, "Nothing is unsure.")
	pages := map[string]string{"meaning-events": "meaning?show=events", "meaning-todo": "meaning?show=todo",
		"meant": mailPath(unsure[0])}
	w.small(pages)
	looks(browsertest.Browse(t), w.url, pages)
}

// What senders and models write is text on the page, and no more of it than a page bears; bad answers say why.
func TestWhatMailMeansIsShownAsText(t *testing.T) {
	w, unsure := meantWorld(t, 30)
	pages := map[string]string{"unsure": "meaning", "events": "meaning?show=events", "todo": "meaning?show=todo",
		"message": mailPath(unsure[0]), "list": "mail?topic=personal"}
	w.small(pages)
	for name, path := range pages {
		page := w.get(path).body
		require.NotContains(t, page, "<script>alert", name)
		require.NotContains(t, page, "<img src=x", name)
		for _, form := range strings.Split(page, "/meaning\">\n  <input")[1:] { // Enter in a field presses the first button
			_, first, _ := strings.Cut(form, "<button ")
			require.True(t, strings.HasPrefix(first, `name="do" value="reject"`), name)
		}
		require.NotContains(t, page, `href="javascript:`, name)
		require.NotContains(t, page, "\u202e", name)
	}
	require.Contains(t, w.get("meaning?show=events").body,
		"&lt;img src=x onerror=alert(1)&gt;, 2031-03-06T17:00, Europe/Berlin")
	require.Contains(t, w.get("meaning?show=todo").body, "https://bad.example, until 2031-03-05")
	first := w.get("meaning")
	older := w.get("meaning" + replaceAmp(first.find(t, `href="[./]*meaning([^"]+before=[^"]+)"`)))
	for want, page := range map[int]reply{20: first, 10: older} {
		require.Equal(t, want, strings.Count(page.body, "<li data-row"))
	}
	require.Equal(t, http.StatusConflict, w.get("meaning?before=none").status)
	for _, wrong := range []url.Values{{}, {"stage": {"category"}}, {"stage": {"category"}, "do": {"value"}},
		{"stage": {"category"}, "do": {"value"}, "value": {"nonsense"}}, {"stage": {"note"}, "do": {"approve"}}} {
		require.Equal(t, http.StatusConflict, w.post(mailPath(unsure[0])+"/meaning", wrong).status, wrong)
	}
	require.Equal(t, http.StatusNotFound, w.post("mail/"+sample.Owner+"/none/meaning", url.Values{}).status)
	as := w.as(access.Person{Name: "bob@example.org", Role: access.See})
	for _, path := range pages {
		require.NotContains(t, as.get(path).body, "It is wrong", path)
	}
	require.Equal(t, http.StatusConflict, newWorld(t).get("meaning").status, "nothing is found out there")
}

// An appointment says in which file and in which draft it is.
func TestAnAppointmentSaysWhereItWasPut(t *testing.T) {
	w, named := meantWorld(t, 6)
	const put = "It is in the file"
	require.NotContains(t, w.get("meaning?show=events").body, put)
	m := named[0]
	e, err := w.Enrichment.Get(t.Context(), m.AccountID, m.ID)
	require.NoError(t, err)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for id, place := range map[string][]any{e.EventUID(0): {"<b>Tea</b>.ics", ""}, "": {"", "r-1"}} {
			if _, err := tx.ExecContext(ctx, `INSERT INTO kept_appointments
(account_id, message_id, appointment, path, sha256, draft, kept_at) VALUES ($1, $2, $3, $4, '', $5, '2026-01-01T00:00:00Z')`,
				m.AccountID, m.ID, id, place[0], place[1]); err != nil {
				return err
			}
		}
		return nil
	}))
	body := w.get("meaning?show=events").body
	require.Contains(t, body, put+" &lt;b&gt;Tea&lt;/b&gt;.ics, and in a draft to yourself.")
	require.Equal(t, 1, strings.Count(body, put))
}
