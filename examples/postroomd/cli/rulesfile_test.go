package cli

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const moreRules = "  - {name: More, condition: {type: starred}, action: archive}\n"

// What a person writes into the rules file while a command changes it stays, and the command changes nothing.
func TestRulesThatAPersonEditsMeanwhileStay(t *testing.T) {
	d := newRulesDesk(t)
	h := d.open()
	account, err := onlyAccount(t.Context(), h)
	require.NoError(t, err)
	list, err := h.Rules.List(t.Context())
	require.NoError(t, err)
	byHand := "# By hand.\n" + d.read()
	_, err = h.RuleEditor.Change(t.Context(), account, "a test", func(_ context.Context, _ queue.Tx, text string) (
		*rulesfile.File, error) {
		d.write(byHand)
		return h.RuleEditor.Parse(d.path, text+moreRules)
	})
	require.ErrorContains(t, err,
		"has been edited meanwhile, and is left as it is; nothing is changed: look at it, and give the command again")
	require.ErrorAs(t, err, new(usage.Error))
	require.Equal(t, byHand, d.read())
	after, err := h.Rules.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, list, after)
	_, err = h.RuleEditor.Change(t.Context(), account, "a test", func(_ context.Context, _ queue.Tx, text string) (
		*rulesfile.File, error) {
		return h.RuleEditor.Parse(d.path, text+moreRules)
	})
	require.NoError(t, err)
	require.Equal(t, byHand+moreRules, d.read())
}

// The file is written before the transaction commits. One that does not commit takes that back.
func TestAChangeThatDoesNotCommitLeavesTheRulesFile(t *testing.T) {
	d := newRulesDesk(t)
	h := d.open()
	account, err := onlyAccount(t.Context(), h)
	require.NoError(t, err)
	before := d.read()
	_, err = h.RuleEditor.Change(t.Context(), account, "a test", func(ctx context.Context, tx queue.Tx, text string) (
		*rulesfile.File, error) {
		for _, statement := range []string{
			"CREATE TABLE parents (id INTEGER PRIMARY KEY)",
			"CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)",
			"INSERT INTO children (parent) VALUES (1)", // Refused by the commit
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return nil, err
			}
		}
		return h.RuleEditor.Parse(d.path, text+moreRules)
	})
	require.ErrorContains(t, err, "FOREIGN KEY")
	require.Equal(t, before, d.read())
}
