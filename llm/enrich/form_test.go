package enrich_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/corpora"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// sqliteWorld is a world for what no engine changes.
func sqliteWorld(t testing.TB, change func(*enrich.Config)) *world {
	t.Helper()
	return newWorld(t, queuetest.New(t), change)
}

func TestTheFormOfMailTellsWhatItIs(t *testing.T) {
	w := sqliteWorld(t, nil)
	labeled := func(msg *postroom.Message, labels ...string) *postroom.Message {
		msg.LabelIDs = labels
		return msg
	}
	subject := func(msg *postroom.Message, s string) *postroom.Message {
		msg.Subject = s
		return msg
	}
	list := "List-Unsubscribe: <https://shop.example/u>"
	for name, of := range map[string]struct {
		msg             *postroom.Message
		category, level string
	}{
		"a stranger":               {verified(letter("", "ada@else.example", "Hello.")), "", ""},
		"a colleague":              {verified(letter("", "bob@mail.acme.example", "Hello.")), "work", ""},
		"who claims to be one":     {letter("", "bob@acme.example", "Hello."), "", ""},
		"a friend":                 {verified(letter("", "friend@gmail.com", "Hello.")), "personal", ""},
		"who claims to be one too": {letter("", "friend@gmail.com", "Hello."), "", ""},
		"a friend at work":         {verified(letter("", "friend@else.example", "Hello.")), "", ""},
		"a newsletter":             {with(letter("", "a@shop.example", ""), list), "newsletters", "low"},
		"an important one": {labeled(with(letter("", "a@shop.example", ""), list), "IMPORTANT"), "newsletters",
			"normal"},
		"an offer":               {subject(with(letter("", "a@shop.example", ""), list), "20% off everything"), "promotions", "low"},
		"a receipt by a list":    {subject(with(letter("", "a@shop.example", ""), list), "Your receipt"), "receipts", "normal"},
		"a receipt":              {subject(letter("", "noreply@shop.example", ""), "Ihre Rechnung Nr. 5"), "receipts", "normal"},
		"an order's program":     {subject(letter("", "orders@shop.example", ""), "Two things were replaced"), "receipts", "normal"},
		"a compound":             {subject(letter("", "noreply@shop.example", ""), "Ihre Stromrechnung"), "receipts", "normal"},
		"bulk mail of a program": {with(letter("", "notifications@shop.example", ""), list), "notifications", "normal"},
		"a person's receipt":     {subject(letter("", "ada@else.example", ""), "Your receipt"), "", ""},
		"a list of people":       {with(letter("", "ada@else.example", ""), "List-Post: <mailto:l@list.example>"), "forums", "low"},
		"an old list":            {with(letter("", "ada@else.example", ""), "Precedence: list", "List-Id: <l.list.example>"), "forums", "low"},
		"a notification":         {letter("", "noreply@shop.example", ""), "notifications", "normal"},
		"one that may be urgent": {subject(letter("", "noreply@bank.example", ""), "New sign-in"), "notifications", ""},
		"a bounce":               {with(letter("", "mailer-daemon@a.example", ""), "Return-Path: <>"), "notifications", "normal"},
		"a tab":                  {labeled(letter("", "ada@else.example", ""), "CATEGORY_SOCIAL"), "social", "low"},
		"updates":                {labeled(letter("", "ada@else.example", ""), "CATEGORY_UPDATES"), "notifications", "normal"},
		"an automatic answer":    {with(letter("", "ada@else.example", ""), "Auto-Submitted: auto-replied"), "notifications", "normal"},
		"one that wants no automatic answer": {with(letter("", "ada@else.example", ""), "X-Auto-Response-Suppress: OOF"),
			"", ""},
	} {
		of.msg.ID = name
		e := w.told(of.msg)
		require.Equal(t, of.category, e.Category, name)
		require.Equal(t, of.level, e.Level, name)
		if of.category != "" {
			require.Equal(t, enrich.ByForm, e.CategoryTold.By, name)
			require.NotEmpty(t, e.CategoryTold.Reasoning, name)
		} else {
			require.Equal(t, enrich.ByNone, e.CategoryTold.By, name)
		}
		require.Equal(t, enrich.StateCompleted, e.State, name)
	}
}

func TestTheOwnersListsAreUsed(t *testing.T) {
	w := sqliteWorld(t, func(c *enrich.Config) {
		c.Categories = []enrich.Category{
			{"Reading", "what can wait", []enrich.Form{enrich.FormNewsletter, enrich.FormPromotion}},
			{"Rest", "all else", nil}}
		c.Levels = []enrich.Level{{"later", "x", 0}, {"now", "x", 0.05}}
	})
	e := w.told(newsletter("m"))
	require.Equal(t, "Reading", e.Category)
	require.Equal(t, "now", e.Level)
	e = w.told(letter("n", "noreply@shop.example", ""))
	require.Empty(t, e.Category, "no category has the form")
	require.Equal(t, "now", e.Level)
}

func TestTheHostIsAskedFirst(t *testing.T) {
	known := enrich.Facts{Category: "WORK", CategoryTold: enrich.Told{Confidence: 1, By: "a rule"}}
	w := sqliteWorld(t, func(c *enrich.Config) {
		c.First = func(context.Context, *postroom.Message) (enrich.Facts, error) { return known, nil }
	})
	e := w.told(newsletter("m"))
	require.Equal(t, "work", e.Category)
	require.Equal(t, enrich.ByHost, e.CategoryTold.By)
	require.Equal(t, "low", e.Level, "what it does not tell is told otherwise")
	for name, facts := range map[string]enrich.Facts{
		"category":   {Category: "none", CategoryTold: enrich.Told{By: enrich.ByHost}},
		"level":      {Level: "none", ImportanceTold: enrich.Told{By: enrich.ByHost}},
		"score":      {Level: "low", Score: 2, ImportanceTold: enrich.Told{By: enrich.ByHost}},
		"confidence": {CalendarTold: enrich.Told{By: enrich.ByHost, Confidence: -1}},
	} {
		known = facts
		_, err := w.service.Facts(t.Context(), newsletter("n"))
		require.ErrorContains(t, err, "llm/enrich: Config.First", name)
	}
}

func TestTheWayToLeaveAListIsOnRecord(t *testing.T) {
	w := sqliteWorld(t, nil)
	require.Equal(t, enrich.Unsubscribe{Method: "one_click", URL: "https://shop.example/u"},
		w.told(newsletter("a")).Unsubscribe)
	require.Equal(t, enrich.Unsubscribe{Method: "web", URL: "https://a.example/u"},
		w.told(with(letter("b", "a@a.example", ""), "List-Unsubscribe: <mailto:u@a.example>, <https://a.example/u>")).Unsubscribe)
	require.Equal(t, enrich.Unsubscribe{Method: "mail", URL: "mailto:u@a.example"},
		w.told(with(letter("c", "a@a.example", ""), "List-Unsubscribe: <mailto:u@a.example>")).Unsubscribe)
	require.Empty(t, w.told(letter("d", "a@a.example", "")).Unsubscribe)
	w = sqliteWorld(t, func(c *enrich.Config) { c.Stages = []enrich.Stage{enrich.StageCategory} })
	e := w.told(newsletter("e"))
	require.Empty(t, e.Unsubscribe, "the stage is switched off")
	require.Empty(t, e.Level)
	require.Equal(t, enrich.StateCompleted, e.State)
}

// kindsOf are the categories of the sample's mail, by the names of its files; the others are people's, or harmful.
var kindsOf = map[string]string{
	"newsletter": "newsletters", "receipt": "receipts", "order": "receipts", "shipping": "receipts", "invoice": "receipts",
	"social": "social", "list": "forums", "bounce": "notifications", "notification": "notifications",
	"security": "notifications", "invitation": "appointments", "autoreply": "notifications",
}

// The share of mail that needs no model is measured on the sample mailbox, without what is not decided about: sent
// mail, drafts, spam and trash. Ordinary is what is not there to be odd: broken, attacks, charsets. The aim is 70 % of
// that.
func TestMostMailNeedsNoModel(t *testing.T) {
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = &model{} })
	var all, cheap, ordinary, cheapOrdinary, right, told int
	for _, m := range sampleMail(t, sample.Mailbox()) {
		facts, err := w.service.Facts(t.Context(), m.msg)
		require.NoError(t, err)
		q, err := w.service.Question(t.Context(), m.msg)
		require.NoError(t, err)
		kind, _, _ := strings.Cut(m.name, "-")
		all++
		if !odd[kind] {
			ordinary++
		}
		if q == nil {
			cheap++
			if !odd[kind] {
				cheapOrdinary++
			}
		} else {
			t.Logf("%s needs a model: %v", m.name, stagesOf(*q))
		}
		if want, ok := kindsOf[kind]; ok && facts.Category != "" {
			told++
			if facts.Category == want {
				right++
			} else {
				t.Logf("%s: %s instead of %s (%s)", m.name, facts.Category, want, facts.CategoryTold.Reasoning)
			}
		}
	}
	t.Logf("sample: %d of %d need no model, %d of %d ordinary ones; %d of %d categories are right", cheap, all,
		cheapOrdinary, ordinary, right, told)
	require.GreaterOrEqual(t, 100*cheapOrdinary, 70*ordinary)
	require.GreaterOrEqual(t, 100*right, 90*told)
}

var odd = map[string]bool{"broken": true, "injection": true, "spoof": true, "charset": true,
	"attachment": true}

type sampled struct {
	name string
	msg  *postroom.Message
}

// sampleMail is the mail of a source, such as the sample mailbox, that would be decided about.
func sampleMail(t testing.TB, of mailbox.Source) (list []sampled) {
	t.Helper()
	for m, err := range of.Messages() {
		require.NoError(t, err)
		parsed, err := mime.ParseBytes(m.Raw, nil)
		require.NoError(t, err)
		msg := readmail.Message(parsed)
		msg.ID, msg.AccountID, msg.LabelIDs, msg.ReceivedAt = m.Name, account, m.Labels, m.Received
		if !slices.ContainsFunc([]string{"SENT", "DRAFT", "SPAM", "TRASH"}, msg.HasLabel) {
			list = append(list, sampled{m.Name, msg})
		}
	}
	require.NotEmpty(t, list)
	return list
}

// Of real mail, most of it letters that test a filter, the share is logged. It has no labels of Gmail.
func TestTheShareOfRealMail(t *testing.T) {
	folder := corpora.Path("05-spam-news", "spamassassin-t", "nice")
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("no mail in %s", folder)
	}
	w := sqliteWorld(t, func(c *enrich.Config) { c.Model = &model{} })
	all, cheap, forms := 0, 0, map[string]int{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		parsed, err := mime.ParseBytes(raw, nil)
		require.NoError(t, err, file)
		msg := readmail.Message(parsed)
		msg.ID, msg.AccountID, msg.ReceivedAt = filepath.Base(file), account, msg.Date
		q, err := w.service.Question(t.Context(), msg)
		require.NoError(t, err, file)
		facts, err := w.service.Facts(t.Context(), msg)
		require.NoError(t, err, file)
		all++
		forms[cmp.Or(facts.Category, "open")]++
		if q == nil {
			cheap++
		}
	}
	t.Logf("%d of %d need no model: %v", cheap, all, forms)
	require.GreaterOrEqual(t, 100*cheap, 10*all)
}
