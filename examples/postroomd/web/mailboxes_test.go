package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// A person pauses a mailbox with a reason, resumes it, and removes it by typing its address.
func TestAMailboxIsPausedResumedAndRemoved(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	for _, width := range []int64{390, 1280} {
		b.Size(width, 844)
		b.Open(w.url + "mailboxes")
		browsertest.Eval[any](b, `document.querySelector(".confirm summary").click();
			document.querySelector("[name=why]").value = "on holiday"; document.querySelector(".confirm button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("paused")`)
		paused, err := w.Mail.Account(t.Context(), account.ID)
		require.NoError(t, err)
		require.Equal(t, mailstore.AccountPaused, paused.State)
		require.Equal(t, "paused by "+access.LocalName+": on holiday", paused.Reason)
		browsertest.Eval[any](b, `document.querySelector(".mailbox button.primary").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("again")`)
	}
	require.Equal(t, http.StatusConflict, w.post("mailboxes/"+account.ID+"/remove", url.Values{"address": {"you"}}).status)
	b.Open(w.url + "mailboxes/" + account.ID + "/remove")
	b.TabTo("#address")
	b.Press(strings.Split(sample.Owner, "")...)
	b.Press("\r")
	b.Until(`document.querySelector(".done")?.textContent.includes("removed")`)
	_, err = w.Mail.Account(t.Context(), account.ID)
	require.ErrorIs(t, err, postroom.ErrNotFound)
	require.NotEmpty(t, w.acted(safety.Filter{}), "what was done stays on record")
	b.Open(w.url + "audit")
	acts := browsertest.Eval[string](b, `document.querySelector("#acts").innerText`)
	for _, did := range []string{"a mailbox was removed", "a mailbox was resumed", "a mailbox was paused", "on holiday",
		sample.Owner, access.LocalName} {
		require.Contains(t, acts, did)
	}
	b.Quiet()
}

// A person has work of a mailbox done now, and who asked is on record; a schedule of another is not fired by it.
func TestWorkIsDoneNow(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	other := w.withNeighbour()
	for _, id := range []string{account.ID, other} {
		require.NoError(t, w.Queue.SetSchedule(t.Context(), queue.Schedule{Name: string(gmail.JobLabelsSync) + ":" + id,
			Cron: "@daily", Job: gmail.NewLabelsSyncJob(id)}))
	}
	jobs := func(kind string) []queue.Job {
		list, err := w.Queue.Jobs(t.Context(), queue.Filter{Types: []string{kind}, States: []queue.State{queue.StateQueued}})
		require.NoError(t, err)
		return list
	}
	b := browsertest.Browse(t)
	click := func(button, done string) {
		b.Open(w.url + "mailboxes")
		browsertest.Eval[any](b, `document.querySelector("details.now").open = true`)
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), button)
		browsertest.Eval[any](b, `document.querySelector('`+button+`').click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("` + done + `")`)
	}
	b.Size(390, 844)
	b.Scheme("dark")
	click("[value=reconcile]", "being done now")
	click("[value=reconcile]", "nothing was added")
	b.Size(1280, 844)
	b.Scheme("light")
	click("[value=sync]", "being done now")
	b.Open(w.url + "mailboxes")
	browsertest.Eval[any](b, `document.querySelector("details.now").open = true`)
	b.Accessible("do it now")
	b.Picture("mailboxes-now")
	click("[name=schedule]", "being done now")
	for _, kind := range []string{string(gmail.JobReconcile), string(gmail.JobHistorySync)} {
		require.Len(t, jobs(kind), 1)
		require.Equal(t, []string{"asked for by " + access.LocalName}, jobs(kind)[0].Tags)
	}
	require.Len(t, jobs(string(gmail.JobLabelsSync)), 1)
	b.Open(w.url + "labels?mailbox=" + sample.Owner)
	browsertest.Eval[any](b, `document.querySelector("main [value=labels]").click()`)
	b.Until(`document.querySelector(".done")?.textContent.includes("being done now")`)
	require.Equal(t, []string{"asked for by " + access.LocalName}, jobs(string(gmail.JobLabelsSync))[0].Tags, "the newest")
	path := "mailboxes/" + account.ID + "/now"
	foreign := url.Values{"schedule": {string(gmail.JobLabelsSync) + ":" + other}}
	require.Equal(t, http.StatusNotFound, w.post(path, foreign).status)
	require.Equal(t, http.StatusConflict, w.post(path, url.Values{"do": {"x"}}).status)
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.Approve})
	require.Equal(t, http.StatusForbidden, seer.post(path, url.Values{"do": {"sync"}}).status)
	b.Quiet()
}

// A page says how much mail a mailbox has, or nothing about it.
func TestThePageSaysHowMuchMailThereIs(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	stored, err := w.CountMail(t.Context(), account.ID)
	require.NoError(t, err)
	require.Positive(t, stored)
	require.Contains(t, w.get("mailboxes").body, "<dt>Messages stored</dt><dd>"+strconv.Itoa(stored)+"</dd>")
	require.NotContains(t, w.get("").body, ">0 messages<")
}

// Of a large mailbox, pages say that there is more than they count.
func TestPagesCountOnlySoMuchMail(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	w.multiply(view.MostMail + 100)
	w.exec("UPDATE accounts SET decide_since = $1", dbtime.Of(time.Now().AddDate(0, 0, 1)))
	require.Contains(t, w.get("mailboxes").body, "<dt>Messages stored</dt><dd>more than 10\u202f000</dd>")
	require.Contains(t, w.get("mailboxes").body, "more than 1000 messages are stored from before")
	require.Contains(t, w.get("").body, "more than 1000 messages are stored from before")
	for _, path := range []string{"remove", "signout"} {
		require.Contains(t, w.get("mailboxes/"+account.ID+"/"+path).body, "more than 10\u202f000", path)
	}
}

// Where nothing is decided about the mail of a mailbox, the first page and that of the mailboxes say why.
func TestAMailboxThatCannotBeSetUpIsSaid(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	const why = "its rules cannot be read: <b>x.yaml</b>"
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.Mail.SetSetupError(ctx, tx, account.ID, why)
	}))
	for _, page := range []string{"", "mailboxes"} {
		require.Contains(t, w.get(page).body, "its rules cannot be read: &lt;b&gt;x.yaml", page)
	}
}

// The page of the mailboxes says how the copies of the mail are, and what is wrong with them.
func TestTheArchiveIsSaid(t *testing.T) {
	w := newWorld(t)
	require.NotContains(t, w.get("mailboxes").body, "<dt>Archive</dt>")
	var err error
	w.Archive, err = mailarchive.Open(mailarchive.Config{DB: w.DB, Mail: w.Mail, Clients: w.Clients, Ledger: w.Ledger,
		Archive: config.Archive{URL: "file://" + t.TempDir()}})
	require.NoError(t, err)
	require.Contains(t, w.get("mailboxes").body, "nothing yet")
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, `
INSERT INTO archives (account_id, email, head_number, head_sha256, history_id, records_cursor, listing_history,
  listing_token, failure, chain_fault)
VALUES ($1, $2, 1, '', 1, '', 0, '', 'the disk is full', '')`, account.ID, account.Email)
		return err
	}))
	page := w.get("mailboxes").body
	require.Contains(t, page, "0 messages, the first copy goes on, not verified yet, not encrypted")
	require.Contains(t, page, "The archive is not right: the disk is full")
	require.Contains(t, w.get("").body, "The archive of "+sample.Owner+" is not right.")
}

// What a model is told about a label is said on the page.
func TestALabelIsDescribed(t *testing.T) {
	w := newWorld(t)
	action := w.get("labels").find(t, `action="\./(labels/[^"]+)"`)
	form := url.Values{"description": {" Invoices <b> "}, "model": {"1"}}
	require.Equal(t, http.StatusSeeOther, w.post(action, form).status)
	described := func() (l postroom.Label) {
		account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
		require.NoError(t, err)
		list, err := w.Mail.Labels(t.Context(), account.ID)
		require.NoError(t, err)
		for _, l = range list {
			if l.Description != "" {
				break
			}
		}
		return l
	}
	require.Equal(t, "Invoices <b>", described().Description)
	require.True(t, described().AvailableToClassifier)
	require.Contains(t, w.get("labels").body, `value="Invoices &lt;b&gt;"`)
	require.Equal(t, http.StatusNotFound, w.post("labels/"+sample.Owner+"/none", url.Values{}).status)
}

// Settings are shown with where they come from, and no secret is.
func TestSettingsShowNoSecret(t *testing.T) {
	w := newWorld(t)
	demo := w.get("settings").body
	require.Contains(t, demo, `<dd class="note">the demo</dd>`)
	require.NotContains(t, demo, string(w.Env.Config.Gmail.Token))
	loaded, err := config.Load(config.Sources{Environ: []string{"POSTROOMD_API_TOKEN=" + strings.Repeat("hunter2", 6),
		"POSTROOMD_APP_WORKERS=7"}})
	require.NoError(t, err)
	w.Env.Values = loaded.Values
	body := w.get("settings").body
	require.Contains(t, body, "$POSTROOMD_APP_WORKERS")
	require.Contains(t, body, "(secret)")
	require.NotContains(t, body, "hunter2")
}

// Tokens of programs are listed with their ends, and those of before that have none with what to do about it.
func TestSettingsSayWhenTokensEnd(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.get("settings").body, "No program has a token of its own")
	store := tokens.New(w.DB)
	for _, token := range []tokens.Token{{Name: "desk", Scope: tokens.See}, {Name: "former", Scope: tokens.Own},
		{Name: "ended", Scope: tokens.See, ExpiresAt: time.Now().Add(-time.Hour)}, {Name: "revoked", Scope: tokens.See}} {
		_, err := store.Add(t.Context(), token)
		require.NoError(t, err)
	}
	require.NoError(t, store.Revoke(t.Context(), "revoked"))
	w.endless("former")
	body := w.get("settings").body
	require.Contains(t, body, "<strong>desk</strong>")
	require.Regexp(t, `ends <time datetime="[^"]+" title="[^"]+">in \d+ d`, body)
	require.Regexp(t, `<strong>former</strong>(?s:.{1,120})without end: revoke it`, body)
	require.NotContains(t, body, "<strong>ended</strong>")
	require.NotContains(t, body, "<strong>revoked</strong>")
}

// A token is made and revoked on the page. Its secret is shown once, and is in no address.
func TestATokenIsMadeAndRevokedOnThePage(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "dark", 390: "light"} {
		name := fmt.Sprintf("desk-%d", width)
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "settings")
		b.Until(ready)
		browsertest.Eval[any](b, `document.querySelector("#tokens details").open = true`)
		if width == 1280 { // it looks at all of them
			fits(b, "token")
		}
		browsertest.Eval[any](b, `(() => { const f = document.querySelector("#tokens details form");
			f.elements.name.value = "`+name+`"; f.querySelector("button").click(); })()`)
		b.Until(`!!document.querySelector("#tokens [role=status] pre")`)
		if width == 1280 {
			fits(b, "token-made")
		}
		secret := browsertest.Eval[string](b, `document.querySelector("#tokens [role=status] pre").textContent`)
		token, err := tokens.New(w.DB).Find(t.Context(), secret)
		require.NoError(t, err)
		require.Equal(t, name, token.Name)
		require.Equal(t, tokens.See, token.Scope)
		require.Empty(t, token.Mailboxes)
		require.WithinDuration(t, time.Now().AddDate(0, 0, tokens.MostDays), token.ExpiresAt, time.Hour)
		require.NotContains(t, browsertest.Eval[string](b, `location.href`), secret)
		require.NotContains(t, w.get("settings").body, secret)
		browsertest.Eval[any](b, `document.querySelector('[formaction$="settings/tokens/`+name+`/revoke"]').click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("revoked")`)
		_, err = tokens.New(w.DB).Find(t.Context(), secret)
		require.ErrorIs(t, err, tokens.ErrUnknown)
	}
	b.Quiet()

	form := url.Values{"name": {"desk two"}, "scope": {"own"}, "days": {"30"}}
	wrong := w.post("settings/tokens", form)
	require.Equal(t, http.StatusUnprocessableEntity, wrong.status)
	require.Contains(t, wrong.body, "is no name of a token")
	require.Contains(t, wrong.body, `value="desk two"`)
	for name, value := range map[string]string{"days": "91", "scope": "all", "name": "desk-390"} {
		form := url.Values{"name": {"desk-2"}, "scope": {"own"}, "days": {"30"}}
		form.Set(name, value)
		require.Equal(t, http.StatusUnprocessableEntity, w.post("settings/tokens", form).status, name)
	}
	form = url.Values{"name": {"desk-2"}, "scope": {"own"}, "days": {"30"}, "box": {"nobody@example.org"}}
	require.Equal(t, http.StatusNotFound, w.post("settings/tokens", form).status)
	form.Set("box", sample.Owner)
	require.Equal(t, http.StatusOK, w.post("settings/tokens", form).status)
	require.Contains(t, w.get("settings").body, "<strong>desk-2</strong> <span>own</span> <span>"+sample.Owner)
	require.Equal(t, http.StatusConflict, w.post("settings/tokens/none/revoke", url.Values{}).status)
}

// endless takes the end from a token, as those have none that were made before all had to end.
func (w *world) endless(name string) {
	w.Helper()
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, "UPDATE api_tokens SET expires_at = NULL WHERE name = $1", name)
		return err
	}))
}

// The log is verified and exported as the commands do.
func TestTheLogIsVerifiedAndExported(t *testing.T) {
	w := newWorld(t)
	require.NotContains(t, w.get("audit").body, "Nothing was altered")
	require.Contains(t, w.get("audit?verify=1").body, "Nothing was altered")
	exported := w.get("audit/export")
	require.Contains(t, exported.header.Get("Content-Disposition"), "attachment")
	lines := strings.Split(strings.TrimSpace(exported.body), "\n")
	require.Greater(t, len(lines), 50)
	require.Contains(t, lines[len(lines)-1], `"heads":["`)
}
