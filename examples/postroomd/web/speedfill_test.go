package web_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue/driver"
)

// newLargeWorld is the sample mailbox with all that has a page switched on, and with a report of a first look.
func newLargeWorld(t *testing.T, postgres bool) *world {
	t.Helper()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, works)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "support.yaml"), []byte(supportProfile), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "files"), 0o700))
	w := newWorldWith(t, "", func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
		c.Paths.Agents = config.Path(folder)
		c.Replies.Enabled, c.Enrich.Enabled, c.Lists.Enabled, c.Learn.Enabled = true, true, true, true
		c.Archive.URL = "file://" + filepath.Join(t.TempDir(), "kept")
		if postgres {
			c.Paths.Database = config.Database(dbtest.PostgresDSN(t))
		}
	})
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	require.Less(t, w.post("mailboxes/"+account.ID+"/look", url.Values{}).status, 400)
	require.NoError(t, w.RunJobs(t.Context()))
	return w
}

// Sizes of what is filled in beside mail and what was done to it.
const (
	fillLists   = 5000    // senders of newsletters, none of which is read
	fillLetters = 25_000  // their messages of the last 90 days, as where a million comes in ten years
	fillMeant   = 100_000 // messages of which it is known what they mean
	fillSome    = 5000    // drafts, runs of agents, lists that were left, acts, corrections
	fillTasks   = 3000    // reminders and tasks
	fillCalls   = 50_000  // of models
)

// A filling is what makes the rows of a table, of the newest messages or of what was done.
type filling struct{ table, columns, values, from string }

// newest are the newest messages, numbered, as m.
func newest(n int) string {
	const columns = "id, account_id, thread_id, provider_message_id, received_at, size"
	return fmt.Sprintf("(SELECT %[1]s, ROW_NUMBER() OVER () AS i FROM (SELECT %[1]s FROM messages WHERE deleted_at IS NULL "+
		"ORDER BY COALESCE(received_at, created_at) DESC LIMIT %[2]d) AS newest) AS m", columns, n)
}

// fillings are what a large mailbox has beside mail, with numbers at random places, so that no list is in one piece.
var fillings = []filling{
	{"enrichments", "account_id, message_id, received_at, state, category, category_confidence, category_by, " +
		"importance_level, importance_confidence, importance_by, action_items, action_count, events, event_count, " +
		"calendar_by, calendar_confidence, unsure, total_tokens, created_at, updated_at, ended_at",
		"account_id, id, received_at, CASE WHEN i % 20 = 0 THEN 'pending_approval' ELSE 'completed' END, " +
			"CASE WHEN i % 3 = 0 THEN 'personal' ELSE 'newsletters' END, 0.7, 'model', 'high', 0.9, 'model', " +
			"CASE WHEN i % 10 = 0 THEN '[{\"text\": \"Pay the bill\", \"due\": \"2031-03-05\"}]' ELSE '[]' END, " +
			"CASE WHEN i % 10 = 0 THEN 1 ELSE 0 END, " +
			"CASE WHEN i % 50 = 0 THEN '[{\"title\": \"Lunch ' || i || '\", \"start\": \"20' || " +
			"CASE WHEN i % 500 = 0 THEN '31' ELSE '21' END || '-03-06T17:00\", \"zone\": \"Europe/Berlin\"}]' " +
			"ELSE '[]' END, CASE WHEN i % 50 = 0 THEN 1 ELSE 0 END, 'model', 0.9, CASE WHEN i % 20 = 0 THEN 1 ELSE 0 END, " +
			"1200, received_at, received_at, received_at", newest(fillMeant)},
	{"replies", "account_id, thread_id, message_id, sent_message_id, state, reason, need, turn, reworks, created_at, updated_at",
		"m.account_id, t.provider_thread_id, m.provider_message_id, '', CASE i % 5 WHEN 0 THEN 'pending' WHEN 1 THEN 'drafted' " +
			"WHEN 2 THEN 'sent' WHEN 3 THEN 'archived' ELSE 'skipped' END, 'it asks', 1, 1, 0, received_at, received_at",
		newest(fillSome) + " JOIN threads AS t ON t.id = m.thread_id"},
	{"agent_runs", "id, account_id, thread_id, message_id, profile, version, model, job_id, replay_of, state, reason, outcome, " +
		"parameters, action_id, model_calls, tool_calls, tokens, cost, duration_ms, started_at, ended_at",
		"id, account_id, thread_id, id, 'support', '1', 'openai::small', '', '', 'done', 'It is clear.', 'draft', '{}', '', 3, 2, " +
			"4000, 9000000, 8000, received_at, received_at", newest(fillSome)},
	{"agent_steps", "run_id, n, kind, name, input, input_sha256, output, fault, tokens, cost, duration_ms",
		"'run', i, 'tool', 'read_thread', '{}', '', 'The text of a message, as it was written.', '', 400, 1000000, 900", newest(12)},
	{"llm_calls", "id, account_id, purpose, model, state, input_tokens, output_tokens, cost, latency_ms, created_at, about, prompt, answer",
		"CASE WHEN i = 1 THEN 'x' ELSE id END, account_id, 'classify', CASE WHEN i % 3 = 0 THEN 'openai::small' ELSE " +
			"'anthropic::large' END, 'answered', 900, 80, 2000000, 900, received_at, id, 'p', '{\"action\": \"none\"}'", newest(fillCalls)},
	{"tasks", "id, account_id, message_id, title, notes, created_at, closed_at, closed_by",
		"id, account_id, id, 'Pay the bill', '', received_at, CASE WHEN i % 2 = 0 THEN received_at END, ''", newest(fillTasks)},
	{"reminders", "id, user_id, title, body, cron, zone, state, due_at, job_id, deliveries, delivered_at, created_at",
		"id, account_id, 'Call the bank', '', '', '', CASE WHEN i < 500 THEN 'scheduled' ELSE 'delivered' END, received_at, '', 1, " +
			"received_at, received_at", newest(fillTasks)},
	{"feedback", "id, account_id, message_id, kind, made_by, action_id, rule_id, source, proposed_action, proposed_label, " +
		"final_action, final_label, votes, created_at, verdict",
		"id, account_id, id, CASE WHEN i % 2 = 0 THEN 'moved_back' ELSE 'rejected' END, 'Ann', '', '', 'llm', 'archive', '', " +
			"'none', '', 1, received_at, 1", newest(fillSome)},
	{"safety_events", "id, kind, account_id, source, changed_by, why, created_at",
		"id, 'voice_edited', account_id, '', 'Ann', 'as she writes', received_at", newest(fillSome)},
	{"unsubscriptions", "action_id, account_id, message_id, sender, list_id, way, target, asked_at, left_at",
		"id, account_id, message_id, 'left' || i || '@lists.example', 'left' || i || '.lists.example', 'one_click', " +
			"'lists.example', created_at, created_at",
		fmt.Sprintf("(SELECT id, account_id, message_id, created_at, ROW_NUMBER() OVER () AS i FROM actions "+
			"WHERE state = 'completed' LIMIT %d) AS a", fillSome)},
	{"archived_messages", "account_id, message_id, thread_id, sha256, size, received_at, rfc_message_id, labels_json, state, " +
		"verified_at, fault", "account_id, provider_message_id, thread_id, id, size, received_at, rfc_message_id, '[]', 'present', " +
		"received_at, ''", "messages"},
}

// fill adds newsletters, and what is known of mail and was done about it besides actions.
func (w *world) fill() {
	w.Helper()
	account, err := w.Mail.AccountByEmail(w.Context(), sample.Owner)
	require.NoError(w, err)
	for _, f := range fillings {
		w.exec("INSERT INTO " + f.table + " (" + f.columns + ") SELECT " + f.values + " FROM " + f.from +
			" WHERE TRUE ON CONFLICT DO NOTHING")
	}
	w.exec("INSERT INTO archives (account_id, email, head_number, head_sha256, history_id, records_cursor, listing_history, "+
		"listing_token, ran_at, failure, chain_fault) VALUES ($1, $2, 7, 'x', 9, '', 0, '', $3, '', '')",
		account.ID, account.Email, dbtime.Of(time.Now()))
	// Most mail came before the mailbox was added.
	w.exec("UPDATE accounts SET decide_since = $1 WHERE id = $2", dbtime.Of(time.Now().AddDate(0, 0, -30)), account.ID)
}

// addLists adds letters of newsletters that came in the last 90 days.
func (w *world) addLists(n int) {
	w.Helper()
	postgres := w.Env.Config.Paths.Database.Postgres()
	step := 90 * 24 * 3600 / n
	at := fmt.Sprintf("strftime('%%Y-%%m-%%dT%%H:%%M:%%f000Z', 'now', '-' || (n.i * %d) || ' seconds')", step)
	id := "printf('%08x', 8388608 - n.i) || substr(COLUMN, 9)"
	if postgres {
		at = fmt.Sprintf("now() - n.i * INTERVAL '%d seconds'", step)
		id = "lpad(to_hex(8388608 - n.i), 8, '0') || substr(COLUMN::text, 9)"
	}
	of := func(column string) string { return strings.ReplaceAll(id, "COLUMN", column) }
	with := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n)
	letter := "(SELECT * FROM messages WHERE CAST(headers_json AS TEXT) LIKE '%List-Unsubscribe%' ORDER BY id LIMIT 1) AS m" //nolint:unqueryvet // a copy
	require.NoError(w, driver.Write(w.Context(), w.DB, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, with+"INSERT INTO threads (id, account_id, provider_thread_id, subject, snippet, "+
			"last_message_at, created_at, updated_at) SELECT "+of("t.id")+", t.account_id, t.provider_thread_id || '-l' || n.i, "+
			"t.subject, t.snippet, "+at+", "+at+", "+at+" FROM threads AS t JOIN "+letter+" ON m.thread_id = t.id, n")
		require.NoError(w, err)
		_, err = tx.ExecContext(ctx, with+"INSERT INTO messages (id, account_id, thread_id, provider_message_id, history_id, "+
			"labels_json, rfc_message_id, in_reply_to, references_json, from_name, from_email, recipients_json, subject, snippet, "+
			"headers_json, body_plain, body_html, attachments_json, size, received_at, sent_at, created_at, updated_at) SELECT "+
			of("m.id")+", account_id, "+of("m.thread_id")+", provider_message_id || '-l' || n.i, history_id, "+
			"'[\"INBOX\",\"UNREAD\"]', rfc_message_id, in_reply_to, references_json, from_name, "+
			fmt.Sprintf("'list' || (n.i %% %d) || '@lists.example', ", min(fillLists, n/20))+
			"recipients_json, subject, snippet, "+
			"headers_json, body_plain, body_html, attachments_json, size, "+at+", "+at+", "+at+", "+at+" FROM "+letter+", n")
		return err
	}))
}
