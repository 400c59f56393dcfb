package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	account, err := h.onlyAccount(t.Context())
	require.NoError(t, err)
	list, err := h.rules.List(t.Context())
	require.NoError(t, err)
	byHand := "# By hand.\n" + d.read()
	_, err = h.changeRules(t.Context(), account, "a test", func(_ context.Context, _ queue.Tx, text string) (*rulesfile.File, error) {
		d.write(byHand)
		return h.parseRules(text + moreRules)
	})
	require.ErrorContains(t, err, "has been edited meanwhile, and is left as it is; nothing is changed: look at it, and give the command again")
	require.ErrorAs(t, err, new(usage.Error))
	require.Equal(t, byHand, d.read())
	after, err := h.rules.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, list, after)
	_, err = h.changeRules(t.Context(), account, "a test", func(_ context.Context, _ queue.Tx, text string) (*rulesfile.File, error) {
		return h.parseRules(text + moreRules)
	})
	require.NoError(t, err)
	require.Equal(t, byHand+moreRules, d.read())
}

// The file is written before the transaction commits. One that does not commit takes that back.
func TestAChangeThatDoesNotCommitLeavesTheRulesFile(t *testing.T) {
	d := newRulesDesk(t)
	h := d.open()
	account, err := h.onlyAccount(t.Context())
	require.NoError(t, err)
	before := d.read()
	_, err = h.changeRules(t.Context(), account, "a test", func(ctx context.Context, tx queue.Tx, text string) (*rulesfile.File, error) {
		for _, statement := range []string{
			"CREATE TABLE parents (id INTEGER PRIMARY KEY)",
			"CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)",
			"INSERT INTO children (parent) VALUES (1)", // refused by the commit
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return nil, err
			}
		}
		return h.parseRules(text + moreRules)
	})
	require.ErrorContains(t, err, "FOREIGN KEY")
	require.Equal(t, before, d.read())
}

func TestPutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rules.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	for name, c := range map[string]struct {
		there, before string
		existed       bool
		want          string
		gone          bool
	}{
		"changed back":         {"new", "old", true, "old", false},
		"there was none":       {"new", "", false, "", true},
		"it was empty":         {"new", "", true, "", false},
		"edited since":         {"by hand", "old", true, "by hand", false},
		"edited, and was none": {"by hand", "", false, "by hand", false},
	} {
		write(c.there)
		require.NoError(t, putBack(path, c.before, "new", c.existed), name)
		text, err := os.ReadFile(path)
		require.Equal(t, c.gone, errors.Is(err, os.ErrNotExist), name)
		require.Equal(t, c.want, string(text), name)
	}
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, putBack(path, "old", "new", true), "a person has removed it")
	require.NoFileExists(t, path)
}
