package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

func (m *teatime) exec(statement string) {
	m.Helper()
	h := m.open()
	require.NoError(m, h.db.Write(m.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}))
}

// TestRulesThatSomethingElseHasWritten are found, listed, and replaced by the file at the next start.
func TestRulesThatSomethingElseHasWritten(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	require.Contains(t, m.postroomd("rules", "confirm").stdout, "all rules are as they were written")
	m.exec(`UPDATE deterministic_rules SET safe_mode = 'dangerous_override'`)
	listed := m.postroomd("rules", "confirm")
	require.Equal(t, 0, listed.status, listed.stderr)
	require.Contains(t, listed.stdout, "was altered in the database\n")
	require.Contains(t, listed.stdout, "safe_mode: dangerous_override")
	require.Regexp(t, `(?m)^rules +1 altered in the database, so that a person is asked; 'postroomd rules confirm' lists them$`, m.postroomd("status").stdout)
	require.Contains(t, m.postroomd("status", "--json").stdout, `"altered": {`)
	verified := m.postroomd("audit", "verify")
	require.Equal(t, exitFailed, verified.status)
	require.Contains(t, verified.stdout, "it was altered in the database")
	r := m.postroomd("rules", "confirm", "nobody")
	require.Equal(t, exitUsage, r.status)
	require.Equal(t, "postroomd: none of the rules has the id nobody, and nothing is confirmed; 'postroomd rules confirm' lists those that wait for it\n", r.stderr)
	r = m.postroomd("decisions", "show", "zz")
	require.Equal(t, "postroomd: there is no decision zz, and no action has that id; 'postroomd decisions list' lists the decisions\n", r.stderr)

	runOnce(t, m.where...)
	require.Equal(t, 0, m.postroomd("audit", "verify").status, "the file is what counts")
	require.NotContains(t, m.postroomd("status").stdout, "altered")
	require.NotContains(t, m.postroomd("status", "--json").stdout, "altered")
	m.exec(`UPDATE deterministic_rules SET safe_mode = 'always_safe'`)
	id, _, _ := strings.Cut(m.postroomd("rules", "confirm").stdout, " ")
	require.Contains(t, m.postroomd("rules", "confirm", id).stdout, "1 rule is confirmed")
	require.Equal(t, 0, m.postroomd("audit", "verify").status)
}

// TestAnAlteredVersionIsNotRestored: neither its rules nor its file become the rules.
func TestAnAlteredVersionIsNotRestored(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	m.exec(`UPDATE rule_versions SET source = replace(source, 'delete', 'trash')`)
	r := m.postroomd("rules", "restore", "1")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "version 1 of the rules was altered in the database, and nothing is changed")
}
