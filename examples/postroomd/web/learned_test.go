package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
)

const learnedText = "rules:\n  - {name: \"Learned: <b>shop</b>\", condition: {type: sender_email, " +
	"value: news@shop.example}, action: archive, priority: 900000}\n"

// A learned rule is shown with what taught it, and accepted and removed by a click each.
func TestALearnedRuleOnThePage(t *testing.T) {
	w := newWorldWith(t, "", func(c *config.Config) { c.Learn.Enabled = true })
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	at := "rules?mailbox=" + url.QueryEscape(sample.Owner)
	require.Contains(t, w.get(at).body, "Nothing waits for you.")
	taught, err := w.Mail.NewestFrom(t.Context(), account.ID, "gazette@compilers.example", time.Time{}, 1)
	require.NoError(t, err)
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		now := dbtime.Of(queue.Now(tx))
		_, err := tx.ExecContext(ctx, `INSERT INTO learned_rules (id, account_id, rule_key, state, class, name, rule_text,
agreeing, contradicting, lower_bound, first_at, last_at, evidence_json, matched, proposed_at, changed_at, changed_by)
VALUES ('0a', $1, 'key', 'proposed', 'medium', 'Learned: <b>shop</b>', $2,
  7, 0, 0.65, $3, $4, $5, 12, $6, $7, 'learning')`,
			account.ID, learnedText, now, now, `{"taught": ["`+taught[0]+`", "gone"]}`, now, now)
		return err
	}))
	shown := w.get(at).body
	require.Contains(t, shown, "Learned: &lt;b&gt;shop&lt;/b&gt;")
	require.Contains(t, shown, "7 conversations for it, 0 against: right in 65 % of cases or more")
	m, err := w.Mail.Message(t.Context(), account.ID, taught[0])
	require.NoError(t, err)
	require.Contains(t, shown, m.From.Email)

	form := url.Values{"mailbox": {sample.Owner}, "rule": {"0a"}, "answer": {"accept"}}
	require.Equal(t, http.StatusSeeOther, w.post("rules/learned", form).status)
	r, err := w.Lessons.Rule(t.Context(), "0a")
	require.NoError(t, err)
	require.Equal(t, lessons.Accepted, r.State)
	require.Contains(t, w.get(at).body, "In use")
	require.Equal(t, http.StatusConflict, w.post("rules/learned", form).status, "it was answered")
	form.Set("answer", "remove")
	require.Equal(t, http.StatusSeeOther, w.post("rules/learned", form).status)
	require.NotContains(t, w.get(at).body, "&lt;b&gt;shop")

	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO decision_drift (account_id, rule_id, rule_version, name, state, acted,
corrected, changed_at, changed_by) VALUES ($1, '', '', '', 'asks', 20, 3, $2, '')`, account.ID, dbtime.Of(queue.Now(tx)))
		return err
	}))
	for _, page := range []string{at, ""} {
		require.Contains(t, w.get(page).body, "You are asked about what the models decide.")
		require.Contains(t, w.get(page).body, `mailboxes/`+account.ID+`/right"`)
	}
	form = url.Values{"rule": {"models"}}
	require.Equal(t, http.StatusSeeOther, w.post("mailboxes/"+account.ID+"/right", form).status)
	require.NotContains(t, w.get("").body, "You are asked about")
	require.Contains(t, w.get("models").body, "There are 0 answers; a threshold is proposed from 46 on.")

	for _, path := range []string{"rules/learn", "rules/bulk"} {
		form := url.Values{"mailbox": {sample.Owner}, "count": {"no"}}
		require.Equal(t, http.StatusSeeOther, w.post(path, form).status, path)
	}
	form = url.Values{"mailbox": {sample.Owner}, "count": {"yes"}, "shown": {"3"}}
	require.Equal(t, http.StatusConflict, w.post("rules/bulk", form).status, "there are none by now")
}

func TestNothingIsLearnedOnThePageUnlessAsked(t *testing.T) {
	w := newWorld(t)
	require.NotContains(t, w.get("rules?mailbox="+url.QueryEscape(sample.Owner)).body, "Proposed from what you did")
	answer := w.post("rules/learn", url.Values{"mailbox": {sample.Owner}})
	require.Equal(t, http.StatusConflict, answer.status)
	require.Contains(t, answer.body, "learn.enabled")
}
