package statistics_test

import (
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// A row is one of the table.
type row struct {
	Dimension string `db:"dimension"`
	Span      string `db:"span"`
	Day       string `db:"day"`
	Name      string `db:"name"`
	Outcome   string `db:"outcome"`
	Bin       int    `db:"bin"`
}

type sums struct {
	N     int64 `db:"n"`
	Total int64 `db:"total"`
}

// stored is what the package has counted.
func (w *world) stored() map[row]sums {
	w.Helper()
	var list []struct {
		row
		sums
	}
	require.NoError(w, dbquery.Select(w.ctx, w.db.Reader(), &list,
		`SELECT dimension, span, day, name, outcome, bin, n, total FROM statistics WHERE account_id = $1`, w.account))
	all := map[row]sums{}
	for _, r := range list {
		all[r.row] = r.sums
	}
	return all
}

// A full is a count of all rows of the tables, without SQL that selects.
type full struct {
	*world
	counts map[row]sums
}

func (f full) add(dimension statistics.Dimension, at time.Time, name, outcome string, bin int, total int64) {
	y, m, d := at.UTC().Date()
	for span, first := range map[string]time.Time{"day": time.Date(y, m, d, 0, 0, 0, 0, time.UTC),
		"month": time.Date(y, m, 1, 0, 0, 0, 0, time.UTC), "year": time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)} {
		key := row{string(dimension), span, first.Format(time.DateOnly), name, outcome, bin}
		s := f.counts[key]
		f.counts[key] = sums{s.N + 1, s.Total + total}
	}
}

func (f full) addTime(dimension statistics.Dimension, at time.Time, name, outcome string, d time.Duration) {
	d = max(0, d)
	f.add(dimension, at, name, outcome, statistics.TimeBin(d), d.Milliseconds())
}

func (f full) addSure(dimension statistics.Dimension, at time.Time, name, outcome string, confidence float64) {
	f.add(dimension, at, name, outcome, statistics.ConfidenceBin(confidence), int64(confidence*1e6+0.5))
}

type messageRow struct {
	ID         string      `db:"id"`
	From       string      `db:"from_email"`
	Labels     string      `db:"labels"`
	ReceivedAt dbtime.Time `db:"received_at"`
	CreatedAt  dbtime.Time `db:"created_at"`
	DeletedAt  dbtime.Time `db:"deleted_at"`
}

func (m *messageRow) came() time.Time {
	if m.ReceivedAt.IsZero() {
		return m.CreatedAt.Time
	}
	return m.ReceivedAt.Time
}

type actionRow struct {
	ID         string      `db:"id"`
	MessageID  string      `db:"message_id"`
	Type       string      `db:"type"`
	State      string      `db:"state"`
	ApprovalID string      `db:"approval_id"`
	EndedAt    dbtime.Time `db:"ended_at"`
	Source     string      `db:"source"`
	Rule       string      `db:"rule_name"`
	Model      string      `db:"model"`
	Confidence float64     `db:"confidence"`
	Key        string      `db:"decision_key"`
}

type requestRow struct {
	ActionID    string      `db:"action_id"`
	Outcome     string      `db:"outcome"`
	ReplacedBy  string      `db:"replaced_by"`
	RequestedAt dbtime.Time `db:"requested_at"`
	DecidedAt   dbtime.Time `db:"decided_at"`
}

type linkRow struct {
	ActionID  string      `db:"effect_action_id"`
	CreatedAt dbtime.Time `db:"created_at"`
	VoidAt    dbtime.Time `db:"void_at"`
}

type feedbackRow struct {
	ID        string      `db:"id"`
	ActionID  string      `db:"action_id"`
	Kind      string      `db:"kind"`
	Counted   int         `db:"counted"`
	Verdict   int         `db:"verdict"`
	CreatedAt dbtime.Time `db:"created_at"`
}

func selected[T any](w *world, query string) (list []T) {
	w.Helper()
	require.NoError(w, dbquery.Select(w.ctx, w.db.Reader(), &list, query, w.account))
	return list
}

// full counts everything.
func (w *world) full() map[row]sums {
	w.Helper()
	f := full{w, map[row]sums{}}
	came := map[string]time.Time{}
	for _, m := range selected[messageRow](w, `SELECT id, from_email, CAST(labels_json AS TEXT) AS labels, received_at,
		created_at, deleted_at FROM messages WHERE account_id = $1`) {
		came[m.ID] = m.came()
		own := strings.Contains(m.Labels, `"SENT"`) || strings.Contains(m.Labels, `"DRAFT"`)
		if m.DeletedAt.IsZero() && !own && !strings.HasSuffix(m.From, "@postroom.invalid") {
			f.add(statistics.Sender, m.came(), strings.ToLower(m.From), "", 0, 0)
		}
	}
	for _, e := range selected[struct {
		Category   string      `db:"category"`
		Confidence float64     `db:"category_confidence"`
		ReceivedAt dbtime.Time `db:"received_at"`
	}](w, `SELECT category, category_confidence, received_at FROM enrichments WHERE account_id = $1`) {
		if e.Category != "" {
			f.addSure(statistics.Category, e.ReceivedAt.Time, e.Category, "", e.Confidence)
		}
	}
	f.acts(came)
	return f.counts
}

func (f full) acts(came map[string]time.Time) {
	requests := selected[requestRow](f.world, `SELECT action_id, outcome, replaced_by, requested_at, decided_at
		FROM approvals WHERE action_id IN (SELECT id FROM actions WHERE account_id = $1)`)
	links := selected[linkRow](f.world, `SELECT effect_action_id, created_at, void_at FROM action_links
		WHERE relation = 'undo_of' AND effect_action_id IN (SELECT id FROM actions WHERE account_id = $1)`)
	said := selected[feedbackRow](f.world, `SELECT id, action_id, kind, counted, verdict, created_at FROM feedback
		WHERE account_id = $1 ORDER BY id`)
	for _, a := range selected[actionRow](f.world, `SELECT a.id, a.message_id, a.type, a.state, a.approval_id, a.ended_at,
		d.source, d.rule_name, d.model, d.confidence, d.decision_key FROM actions a
		JOIN decisions d ON d.id = a.decision_id WHERE a.account_id = $1`) {
		f.action(&a, came, requests, links, said)
	}
	for _, r := range requests {
		switch {
		case r.DecidedAt.IsZero():
		case r.ReplacedBy != "":
			f.add(statistics.Act, r.DecidedAt.Time, "edited", "", 0, 0)
		case r.Outcome == "approved" || r.Outcome == "rejected":
			f.add(statistics.Act, r.DecidedAt.Time, r.Outcome, "", 0, 0)
			f.addTime(statistics.AnswerTime, r.DecidedAt.Time, r.Outcome, "", r.DecidedAt.Sub(r.RequestedAt.Time))
		}
	}
	for _, l := range links {
		if l.VoidAt.IsZero() {
			f.add(statistics.Act, l.CreatedAt.Time, "undone", "", 0, 0)
		}
	}
	for _, s := range said {
		if s.Counted != 2 && slices.Contains([]string{"relabelled", "moved_back", "chosen"}, s.Kind) {
			f.add(statistics.Act, s.CreatedAt.Time, s.Kind, "", 0, 0)
		}
	}
}

func (f full) action(a *actionRow, came map[string]time.Time, requests []requestRow, links []linkRow,
	said []feedbackRow) {
	rejected := slices.ContainsFunc(requests, func(r requestRow) bool {
		return r.ActionID == a.ID && r.Outcome == "rejected"
	})
	wrong := rejected || slices.ContainsFunc(links, func(l linkRow) bool {
		return l.ActionID == a.ID && l.VoidAt.IsZero()
	})
	verdict := 0
	for _, s := range said {
		if s.ActionID == a.ID && s.Verdict != 0 && s.Counted != 2 {
			verdict = s.Verdict
		}
	}
	done := a.State == "completed"
	if a.EndedAt.IsZero() || a.Type != "archive" || a.Source == "none" || !done && (a.State != "rejected" || !rejected) {
		return
	}
	outcome := statistics.Unjudged
	switch {
	case wrong || verdict == 1:
		outcome = statistics.Corrected
	case a.ApprovalID != "" || verdict == 2:
		outcome = statistics.Confirmed
	}
	if a.Source == "llm" {
		f.addSure(statistics.Model, a.EndedAt.Time, a.Model, outcome, a.Confidence)
	} else {
		f.add(statistics.Rule, a.EndedAt.Time, a.Rule, outcome, 0, 0)
	}
	arrived, known := came[a.MessageID]
	if !done || !known || strings.HasPrefix(a.Key, postroom.BatchKeyPrefix) {
		return
	}
	how := statistics.Alone
	if a.ApprovalID != "" {
		how = statistics.Asked
	}
	f.addTime(statistics.ActionTime, a.EndedAt.Time, a.Source, how, a.EndedAt.Sub(arrived))
}
