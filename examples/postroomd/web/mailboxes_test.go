package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/dbquery"
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
	b.Quiet()
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
	require.Contains(t, w.get("settings").body, "This is a demo")
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
