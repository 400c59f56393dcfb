package statistics_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// tt is a test, or a case of a property.
type tt interface {
	require.TestingT
	Helper()
}

// A world is an account whose rows are written as the packages that own the tables write them.
type world struct {
	tt
	ctx     context.Context //nolint:containedctx // of the test
	db      queue.DB
	account string
}

func newWorld(ctx context.Context, t tt, db queue.DB) *world {
	t.Helper()
	w := &world{tt: t, ctx: ctx, db: db, account: uuid.NewString()}
	w.exec(`INSERT INTO accounts (id, provider, email, created_at, updated_at) VALUES ($1, 'gmail', $2, $3, $3)`,
		w.account, w.account+"@example.com", at(0))
	w.exec(`INSERT INTO threads (id, account_id, provider_thread_id, subject, snippet, created_at, updated_at)
		VALUES ($1, $1, 't', '', '', $2, $2)`, w.account, at(0))
	return w
}

// start is such that the days of a test are in two years, and at their borders.
var start = time.Date(2025, 12, 30, 22, 59, 59, 999_999_000, time.UTC)

// at is an instant so many hours after the start.
func at(hours int) dbtime.Time { return dbtime.Of(start.Add(time.Duration(hours) * time.Hour)) }

func (w *world) exec(statement string, args ...any) {
	w.Helper()
	require.NoError(w, w.db.Write(w.ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, statement, args...)
		return err
	}))
}

func (w *world) message(from, labels string, received dbtime.Time) (id string) {
	w.Helper()
	id = uuid.NewString()
	w.exec(`INSERT INTO messages (id, account_id, thread_id, provider_message_id, history_id, labels_json,
		rfc_message_id, in_reply_to, references_json, from_name, from_email, from_key, recipients_json, subject, snippet,
		headers_json, body_plain, body_html, attachments_json, size, received_at, created_at, updated_at)
		VALUES ($1, $2, $2, $1, 1, $3, '', '', '[]', '', $4, NULL, '[]', '', '', '{}', '', '', '[]', 1, $5, $6, $6)`,
		id, w.account, labels, from, received, at(1))
	return id
}

func (w *world) enrich(message, category string, confidence float64, received dbtime.Time) {
	w.Helper()
	w.exec(`INSERT INTO enrichments (account_id, message_id, received_at, state, category, category_confidence,
		created_at, updated_at) VALUES ($1, $2, $3, 'done', $4, $5, $3, $3)`, w.account, message, received, category,
		confidence)
}

// A decided is a decision with its action.
type decided struct {
	source, rule, model, kind, key string
	confidence                     float64
}

func (w *world) action(message string, d decided, state string, ended dbtime.Time) (id string) {
	w.Helper()
	id = uuid.NewString()
	w.exec(`INSERT INTO decisions (id, account_id, message_id, provider_message_id, decision_key, source, action_type,
		parameters_json, confidence, needs_approval, rationale, rule_id, rule_name, rule_version, safe_mode, model,
		explanations_json, telemetry_json, sender, subject, created_at)
		VALUES ($1, $2, $3, '', $4, $5, 'archive', '{}', $6, 0, '', $7, $7, '', '', $8, '[]', '{}', '', '', $9)`,
		id, w.account, message, d.key+id, d.source, d.confidence, d.rule, d.model, at(0))
	w.exec(`INSERT INTO actions (id, account_id, message_id, decision_id, type, parameters_json, content_sha256, state,
		error, approval_id, job_id, created_at, updated_at, ended_at, rev)
		VALUES ($1, $2, $3, $1, $4, '{}', '', $5, '', '', '', $6, $6, $7, 1)`, id, w.account, message, d.kind, state,
		at(0), ended)
	return id
}

func (w *world) request(action, outcome string, requested, answered dbtime.Time) (id string) {
	w.Helper()
	id = uuid.NewString()
	w.exec(`INSERT INTO approvals (id, action_id, reasons_json, digest, requested_at, expires_at, decided_at, outcome,
		approver, why, signature, used_by) VALUES ($1, $2, '[]', '', $3, $3, $4, $5, '', '', '', '')`, id, action,
		requested, answered, outcome)
	return id
}

func (w *world) undo(action, undo string, made dbtime.Time) {
	w.Helper()
	w.exec(`INSERT INTO action_links (cause_action_id, effect_action_id, relation, created_at)
		VALUES ($1, $2, 'undo_of', $3) ON CONFLICT DO NOTHING`, undo, action, made)
}

func (w *world) feedback(message, action, kind string, verdict int, made dbtime.Time) (id string) {
	w.Helper()
	id = uuid.Must(uuid.NewV7()).String()
	w.exec(`INSERT INTO feedback (id, account_id, message_id, kind, made_by, action_id, rule_id, source,
		proposed_action, proposed_label, final_action, final_label, votes, created_at, verdict)
		VALUES ($1, $2, $3, $4, '', $5, '', '', '', '', '', '', 0, $6, $7)`, id, w.account, message, kind, action, made,
		verdict)
	return id
}

func (w *world) store() *statistics.Store {
	w.Helper()
	return storeOf(w, w.db)
}

func storeOf(t tt, db queue.DB) *statistics.Store {
	t.Helper()
	s, err := statistics.New(statistics.Config{DB: db})
	require.NoError(t, err)
	return s
}

// count counts what is marked, as the job does.
func (w *world) count() {
	w.Helper()
	require.NoError(w, w.store().Count(w.ctx))
}

// groups says what was counted of a dimension.
func (w *world) groups(f statistics.Filter) (texts []string) {
	w.Helper()
	f.Accounts = append(f.Accounts, w.account)
	r, err := w.store().Read(w.ctx, f)
	require.NoError(w, err)
	for _, g := range r.Groups {
		texts = append(texts, fmt.Sprintf("%s %s %d", g.Name, g.Outcome, g.N))
	}
	return texts
}

func (w *world) rows(table string) (n int) {
	w.Helper()
	require.NoError(w, dbquery.Get(w.ctx, w.db.Reader(), &n, "SELECT COUNT(*) FROM "+table+" WHERE account_id = $1",
		w.account))
	return n
}

var byRule = decided{source: "deterministic", rule: "News", kind: "archive"}

func newTestWorld(t *testing.T, db queue.DB) *world {
	t.Helper()
	require.NoError(t, statistics.Migrate(t.Context(), db))
	return newWorld(t.Context(), t, db)
}
