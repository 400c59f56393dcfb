package gmailtest

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// plan is how SQLite goes about a query, a line for each step.
func plan(t *testing.T, s *Server, query string, args ...any) (steps []string) {
	t.Helper()
	rows, err := s.db.Reader().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, rows.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	return steps
}

// A search begins with what finds few messages, or goes through an index in the order of its answer. These are the
// first steps; a mailbox of 100,000 messages is slow with any other.
func TestSearchesBeginWithAnIndex(t *testing.T) {
	s := NewServer(t)
	for q, first := range map[string]string{
		"":                        "SEARCH m USING INDEX messages_newest (account=?)",
		"after:1 before:2":        "SEARCH m USING INDEX messages_newest (account=? AND internal_date>? AND internal_date<?)",
		"in:inbox is:unread":      "SEARCH l USING COVERING INDEX message_labels_label (account=? AND label_id=?)",
		"in:inbox words":          "SEARCH l USING COVERING INDEX message_labels_label (account=? AND label_id=?)",
		"words":                   "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
		"rfc822msgid:1@crowd":     "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
		"larger:1M":               "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
		"has:attachment -in:sent": "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
	} {
		t.Run(q, func(t *testing.T) {
			p, err := s.parsePage(t.Context(), &request{Request: &http.Request{}, account: s.owner, query: url.Values{"q": {q}}})
			require.NoError(t, err)
			steps := plan(t, s, selectListed+p.from+"\nWHERE "+p.where()+"\nORDER BY "+p.order()+"\nLIMIT 101", p.args...)
			require.Equal(t, first, steps[0])
		})
	}
	for name, query := range map[string]string{"newest of a thread": selectThreadNewest, "thread": selectThread,
		"Message-ID": selectMessageOf} {
		t.Run(name, func(t *testing.T) {
			require.NotContains(t, plan(t, s, query, 1, "x")[0], "messages_newest")
		})
	}
}
