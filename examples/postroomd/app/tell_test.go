package app

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/stop"
	"github.com/postroom-go/postroom/safety/webhook"
)

// A toldApp is an App that posts its notices to a topic.
type toldApp struct {
	*testing.T
	*App
	account string
}

func openToldApp(t *testing.T) *toldApp {
	t.Helper()
	h := openTestApp(t, "", func(c *config.Config) { c.Notify.NtfyURL = "http://127.0.0.1:1/topic" })
	id, err := h.AddAccount(t.Context(), sample.Owner)
	require.NoError(t, err)
	return &toldApp{t, h, id}
}

// in runs fn in a transaction, and returns the notices that it has made.
func (a *toldApp) in(fn func(ctx context.Context, tx queue.Tx) error) (told []notify.Notice) {
	a.Helper()
	filter := queue.Filter{Types: []string{string(notify.JobNtfy)}}
	before, err := a.Queue.Jobs(a.Context(), filter)
	require.NoError(a.T, err)
	require.NoError(a.T, a.DB.Write(a.Context(), fn))
	jobs, err := a.Queue.Jobs(a.Context(), filter)
	require.NoError(a.T, err)
	for _, job := range jobs[:len(jobs)-len(before)] {
		var n notify.Notice
		require.NoError(a.T, json.Unmarshal(job.Payload, &n))
		told = append(told, n)
	}
	return told
}

func (a *toldApp) happens(e events.Event) []notify.Notice {
	a.Helper()
	return a.in(func(ctx context.Context, tx queue.Tx) error { return a.onEvent(ctx, tx, e) })
}

func TestPeopleAreToldOfAStop(t *testing.T) {
	a := openToldApp(t)
	told := a.in(func(ctx context.Context, tx queue.Tx) error {
		return a.Ledger.Switch().Stop(ctx, tx, "ann", stop.Options{Why: "too much"})
	})
	require.Len(t, told, 1)
	require.Equal(t, notify.Stopped, told[0].Kind)
	require.Equal(t, "Everything is stopped, by ann", told[0].Title)
	require.Equal(t, "Everything is stopped, by ann: too much. 'postroomd resume' ends it, and so does the page.",
		told[0].Text)
	require.Empty(t, a.in(func(ctx context.Context, tx queue.Tx) error {
		return a.Ledger.Switch().Resume(ctx, tx, "ann", "")
	}))
}

func TestPeopleAreToldOfABreaker(t *testing.T) {
	a := openToldApp(t)
	for source, title := range map[postroom.Source]string{
		postroom.SourceModel:         "A breaker has stopped the models of " + sample.Owner,
		postroom.SourceDeterministic: "A breaker has stopped the rules of " + sample.Owner,
	} {
		e := events.Event{ID: string(source), Kind: events.BreakerOpened, AccountID: a.account, Source: source,
			Why: "50 undone"}
		told := a.happens(e)
		require.Len(t, told, 1)
		require.Equal(t, notify.Stopped, told[0].Kind)
		require.Equal(t, title, told[0].Title)
		require.Contains(t, told[0].Text, title+": 50 undone.")
		require.Empty(t, a.happens(e), "once")
		e.Kind, e.ID = events.BreakerClosed, "closed "+e.ID
		require.Empty(t, a.happens(e))
	}
}

// The reason has the domain of whoever causes the flood: no client makes a link of it.
func TestWhatIsNotAskedHasNoLink(t *testing.T) {
	a := openToldApp(t)
	told := a.happens(events.Event{ID: "1", Kind: events.NotAsked, AccountID: a.account, Source: postroom.SourceModel,
		Why: "models have caused 50 requests about mail of a@mallory.example within a day"})
	require.Len(t, told, 1)
	require.Equal(t, notify.NotAsked, told[0].Kind)
	require.Equal(t, "models have caused 50 requests about mail of a@mallory[.]example within a day", told[0].Text)
}

func TestPeopleAreToldOfDisabledRules(t *testing.T) {
	a := openToldApp(t)
	disable := func(ctx context.Context, tx queue.Tx) error {
		return a.tellOfDisabledRules(ctx, tx, a.account, []rules.Rule{
			{ID: "r1", Name: "Bills", DisabledReason: "the label is gone"},
			{ID: "r2", Name: "News", DisabledReason: "the label is gone"},
		})
	}
	told := a.in(disable)
	require.Len(t, told, 2)
	require.Equal(t, notify.RuleDisabled, told[1].Kind)
	require.Equal(t, `The rule "Bills" is disabled`, told[1].Title)
	require.Equal(t, `The rule "Bills" is disabled: the label is gone. It decides nothing until you change or enable it.`,
		told[1].Text)
	require.Len(t, a.in(disable), 2, "enabled and disabled again")
}

// The jobs of a digest name it, and each door reads its words.
func TestADigestIsReadWhenItIsTold(t *testing.T) {
	a := openToldApp(t)
	at := time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC)
	require.NoError(t, a.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO notices (kind, subject, told_at) VALUES ('digest', 's', $1)",
			at.Format("2006-01-02T15:04:05.000000Z"))
		return err
	}))
	read, err := a.readWebhookNotice(t.Context(), webhook.Notice{Kind: string(notify.OfDigest), Subject: "s"})
	require.NoError(t, err)
	require.Equal(t, "Postroom: 0 messages came, 0 done", read.Title)
	require.Contains(t, read.Text, "Thu 26 Nov 2026 ")
	text, err := a.readDiscordNotice(t.Context(), "digest:s")
	require.NoError(t, err)
	require.Equal(t, read.Title+"\n```text\n"+strings.TrimSpace(read.Text)+"\n```", text)
	old := notify.Notice{Kind: notify.OfDigest, Subject: "x", Title: "Postroom: old", Text: "old"}
	same, err := a.readNotice(t.Context(), old)
	require.NoError(t, err)
	require.Equal(t, old, same, "a job of an earlier version has them")
}
