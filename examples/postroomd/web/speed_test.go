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
	"github.com/postroom-go/postroom/examples/postroomd/web"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/internal/dbquery"
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
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		t.Run(name, func(t *testing.T) {
			w := newLargeWorld(t, postgres)
			paths := w.routePaths()
			newsletters := min(fillLetters, messages/2)
			w.multiply(messages - newsletters)
			w.addLists(newsletters)
			w.analyze("messages", "threads", "decisions", "actions")
			w.fill()
			for _, f := range fillings {
				w.analyze(f.table)
			}
			w.analyze("messages", "archive_months") // the filling has changed each row many times
			w.timePreviews()
			w.timePages(limit, paths)
		})
	}
}

// queries are what the addresses of routes ask for, or the most that they ask for.
var queries = map[string]string{
	"GET /mail/act":            url.Values{"q": {"in:inbox"}, "kind": {"archive"}}.Encode(),
	"GET /mail/ask":            url.Values{"q": {"in:inbox"}}.Encode(),
	"GET /subscriptions/leave": "sender=list1@lists.example&sender=list2@lists.example",
	"GET /undo":                "kind=move&window=24h",
}

// noPages are routes that are not timed: they are made for as long as what they show is.
var noPages = map[string]string{
	"GET /events":                   "a stream",
	"GET /audit/export":             "a file",
	"GET /waiting/{id}/message.eml": "a file, for a message that is sent",
	"GET /static/":                  "files",
	"GET /mail/{mailbox}/{id}/fix":  "it tries the changed rules on mail for three seconds at most",
}

// routePaths are the addresses of all pages, about something that is there.
func (w *world) routePaths() (paths []string) {
	w.Helper()
	pages, err := web.New(w.App)
	require.NoError(w, err)
	defer pages.Close()
	things := w.things()
	for _, of := range pages.Routes() {
		path, isPage := strings.CutPrefix(of.Pattern, "GET ")
		if !isPage || noPages[of.Pattern] != "" {
			continue
		}
		path = strings.TrimPrefix(things.Replace(path), "/")
		if strings.HasSuffix(path, "/html") {
			path = w.htmlPath()
		}
		if query := queries[of.Pattern]; query != "" {
			path += "?" + query
		}
		paths = append(paths, path)
	}
	require.NotEmpty(w, paths)
	return paths
}

// htmlPath is the address of the HTML of a message.
func (w *world) htmlPath() string {
	w.Helper()
	var id string
	require.NoError(w, dbquery.Get(w.Context(), w.DB.Reader(), &id,
		"SELECT provider_message_id FROM messages WHERE body_html <> '' ORDER BY id LIMIT 1"))
	return "mail/" + sample.Owner + "/" + id + "/html"
}

// timePages asks for each page, and checks that it answers within the limit.
func (w *world) timePages(limit time.Duration, paths []string) {
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0].Action
	search := func(q string) string { return "mail?" + url.Values{"q": {q}}.Encode() }
	for _, path := range append(paths, "?window=30d", search("is:unread"), search("in:inbox older_than:2y"),
		search("invoice"), w.pathOf(moved), w.pathOf(moved)+"/rules", "actions?rule=Newsletters&state=completed",
		"actions?kind=move", "actions?sender=nobody@example.org", "actions?max_confidence=0.5", "actions/"+moved.ID,
		"rules/form?rule=Newsletters", "mailboxes/"+moved.AccountID+"/away?until=2031-03-05&text=Away",
		"drafts?state=sent", "drafts?state=ready&mailbox="+sample.Owner, "agents?profile=support&mailbox="+sample.Owner,
		"meaning?show=events", "meaning?show=todo", "models?model=openai::small",
		previewOf(rules.SenderEmail, "newsletter@example.com"), previewOf(rules.SubjectContains, "invoice"),
		previewOf(rules.SubjectContains, "no such subject"), previewOf(rules.BodyContains, "no such text")) {
		limit := limit
		if strings.HasPrefix(path, "mail/act?") || strings.HasPrefix(path, "mail/ask?") {
			limit *= 5 // it reads 500 messages whole, of however many
		}
		least, p50, p95, size := w.timePage(path)
		for again := 0; p95 > limit && again < 2; again++ { // what else the machine does counts for nothing
			least, p50, p95, _ = w.timePage(path)
		}
		w.Logf("%-50s least %8.1f ms  p50 %8.1f ms  p95 %8.1f ms  %5.1f kB", "/"+path, least.Seconds()*1000,
			p50.Seconds()*1000, p95.Seconds()*1000, float64(size)/1024)
		if size >= maxPage {
			w.Errorf("/%s has %d bytes, not less than %d", path, size, maxPage)
		}
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

// maxPage bounds a page, in bytes.
const maxPage = 60 << 10

// timePage asks for a page twenty times.
func (w *world) timePage(path string) (least, p50, p95 time.Duration, size int) {
	times := make([]time.Duration, 20)
	for i := range times {
		begun := time.Now()
		page := w.get(path)
		times[i] = time.Since(begun)
		if page.status != http.StatusOK {
			w.Errorf("/%s answers %d: %s", path, page.status, page.body)
			return least, p50, p95, size
		}
		size = len(page.body)
	}
	slices.Sort(times)
	return times[0], times[len(times)/2], times[len(times)-2], size
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
				"approval_id, job_id, sequence, undo_hint_json, report_json, @created_at, @updated_at, @executed_at, @ended_at, rev",
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
		return nil
	}))
}

// analyze does what both engines do by themselves in time.
func (w *world) analyze(tables ...string) {
	w.Helper()
	for _, table := range tables {
		if !w.Env.Config.Paths.Database.Postgres() {
			w.exec("ANALYZE " + table)
			continue
		}
		_, err := w.DB.Reader().ExecContext(w.Context(), "VACUUM ANALYZE "+table)
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
