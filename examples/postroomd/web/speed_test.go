package web_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// Each page answers at once, also in a large mailbox. The command
//
//	POSTROOM_TEST_PAGES=1000000 go test ./examples/postroomd/web -run TestPagesOfALargeMailbox -v -timeout 2h
//
// fills a mailbox of that many messages, with a fifth as many actions, on both engines, and allows 150 ms (p95). CI
// has 50,000 and allows 300 ms. It is not run by default, since what else the machine does would decide.
func TestPagesOfALargeMailbox(t *testing.T) {
	text := os.Getenv("POSTROOM_TEST_PAGES")
	if text == "" {
		t.Skip("the pages are not timed: set POSTROOM_TEST_PAGES to a number of messages, as 50000")
	}
	costtest.NeedsExactCosts(t)
	messages, err := strconv.Atoi(text)
	require.NoError(t, err)
	limit := 150 * time.Millisecond
	if messages <= 50_000 {
		limit = 300 * time.Millisecond
	}
	for name, database := range map[string]func(t *testing.T) string{
		"sqlite":   func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return dbtest.PostgresDSN(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldWith(t, "", func(c *config.Config) { c.Paths.Database = config.Database(database(t)) })
			w.multiply(messages)
			w.timePreviews()
			w.timePages(limit)
		})
	}
}

// timePages asks for each page, and checks that it answers within the limit.
func (w *world) timePages(limit time.Duration) {
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0].Action
	search := func(q string) string { return "mail?" + url.Values{"q": {q}}.Encode() }
	for _, path := range []string{
		"", "?window=30d", "waiting", "mail", search("is:unread"), search("in:inbox older_than:2y"), search("invoice"),
		w.pathOf(moved), w.pathOf(moved) + "/rules", "actions", "actions?rule=Newsletters&state=completed",
		"actions?kind=move", "actions?sender=nobody@example.org", "actions/" + moved.ID, "undo?kind=move&window=24h",
		"rules", "rules/" + w.rules()[0].ID, "rules/edit",
		"rules/form", "rules/form?rule=Newsletters", "rules/preview",
		previewOf(rules.SenderEmail, "newsletter@example.com"), previewOf(rules.SubjectContains, "invoice"),
		previewOf(rules.SubjectContains, "no such subject"), previewOf(rules.BodyContains, "no such text"),
	} {
		p50, p95 := w.timePage(path)
		for again := 0; p95 > limit && again < 2; again++ { // what else the machine does counts for nothing
			p50, p95 = w.timePage(path)
		}
		w.Logf("%-50s p50 %8.1f ms  p95 %8.1f ms", "/"+path, p50.Seconds()*1000, p95.Seconds()*1000)
		if p95 > limit {
			w.Errorf("/%s takes %s, more than %s", path, p95, limit)
		}
	}
}

// previewOf is the path of a preview of a rule with one condition.
func previewOf(kind rules.Kind, value string) string {
	return "rules/preview?" + url.Values{"tree": {`{"type":"` + string(kind) + `"}`}, "value 0": {value}}.Encode()
}

// timePreviews looks for what no message has, until it ends: after two seconds of work at the latest.
func (w *world) timePreviews() {
	account, err := w.Mail.AccountByEmail(w.Context(), sample.Owner)
	require.NoError(w, err)
	for _, kind := range []rules.Kind{rules.SubjectContains, rules.BodyContains} {
		begun, first := time.Now(), time.Duration(0)
		var found app.RulePreview
		rule := rules.NewRule("new", rules.Condition{Type: kind, Value: "no such text"}, postroom.Archive, nil)
		for found, err = range w.PreviewRule(w.Context(), account, rule) {
			require.NoError(w, err)
			first = cmp.Or(first, time.Since(begun))
		}
		took := time.Since(begun)
		w.Logf("%-20s first after %s, %d of %d read in %s", kind, first, found.Read, found.All, took)
		require.True(w, found.Ended || found.Spent)
		require.Less(w, took, 4*time.Second, "it is bounded to two seconds, and what is under way then")
	}
}

// timePage asks for a page twenty times.
func (w *world) timePage(path string) (p50, p95 time.Duration) {
	times := make([]time.Duration, 20)
	for i := range times {
		begun := time.Now()
		page := w.get(path)
		times[i] = time.Since(begun)
		require.Equal(w, http.StatusOK, page.status, "%s: %s", path, page.body)
		require.Less(w, len(page.body), 60<<10, path)
	}
	slices.Sort(times)
	return times[len(times)/2], times[len(times)-2]
}

// multiply copies each message of the sample, with what was decided about it and done, to earlier hours, until there
// are as many messages. What waits for a person stays as it is.
func (w *world) multiply(messages int) {
	w.Helper()
	shift, id := dialect(w.Env.Config.Paths.Database.Postgres())
	const sample = 93
	copies := messages / sample
	require.NoError(w, driver.Write(w.Context(), w.DB, func(ctx context.Context, tx *driver.WriteTx) error {
		for _, table := range []struct {
			name, columns, where string
			copies               int
		}{
			{"threads", "#id, account_id, %provider_thread_id, subject, snippet, @last_message_at, @created_at, @updated_at", "", copies},
			{"messages", "#id, account_id, #thread_id, %provider_message_id, history_id, labels_json, rfc_message_id, " +
				"in_reply_to, references_json, from_name, from_email, from_key, recipients_json, subject, snippet, headers_json, " +
				"body_plain, body_html, attachments_json, size, @received_at, @sent_at, deleted_at, @created_at, @updated_at", "", copies},
			{"decisions", "#id, account_id, #message_id, %provider_message_id, decision_key, source, action_type, " +
				"parameters_json, confidence, needs_approval, rationale, rule_id, rule_name, rule_version, safe_mode, model, " +
				"explanations_json, telemetry_json, sender, subject, @created_at", "", copies / 5},
			{"actions", "#id, account_id, #message_id, #decision_id, type, parameters_json, content_sha256, state, error, " +
				"approval_id, job_id, sequence, undo_hint_json, report_json, @created_at, @updated_at, @executed_at, rev",
				" AND state = 'completed'", copies / 5},
		} {
			var into, from []string
			for column := range strings.SplitSeq(table.columns, ", ") {
				name := strings.TrimLeft(column, "#@%")
				into = append(into, name)
				switch column[0] {
				case '#':
					name = strings.ReplaceAll(id, "COLUMN", name)
				case '%':
					name += " || '-' || n.i"
				case '@':
					name = strings.ReplaceAll(shift, "COLUMN", name)
				}
				from = append(from, name)
			}
			_, err := tx.ExecContext(ctx, fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "+
				"INSERT INTO %s (%s) SELECT %s FROM %s, n WHERE TRUE%s",
				table.copies, table.name, strings.Join(into, ", "), strings.Join(from, ", "), table.name, table.where))
			require.NoError(w, err, table.name)
		}
		_, err := tx.ExecContext(ctx, "ANALYZE")
		return err
	}))
	if w.Env.Config.Paths.Database.Postgres() { // as autovacuum does soon
		_, err := w.DB.Reader().ExecContext(w.Context(), "VACUUM messages, threads, decisions, actions")
		require.NoError(w, err)
	}
}

// dialect returns how a time is put eleven hours earlier for each copy, and an id made of that of the sample.
func dialect(postgres bool) (shift, id string) {
	if postgres {
		return "COLUMN - n.i * INTERVAL '11 hours'", "lpad(to_hex(16777216 - n.i), 8, '0') || substr(COLUMN::text, 9)"
	}
	return "strftime('%Y-%m-%dT%H:%M:%f000Z', COLUMN, '-' || (11 * n.i) || ' hours')",
		"printf('%08x', 16777216 - n.i) || substr(COLUMN, 9)"
}
