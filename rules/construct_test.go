package rules_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// What is missing is an error when the handler is registered, not a panic when the first message comes.
func TestRegisterNamesWhatIsMissing(t *testing.T) {
	c := newClassification(t)
	d, err := queue.NewDispatcher(c.q, nil)
	require.NoError(t, err)
	tests := []struct {
		name  string
		spoil func(*rules.Config)
		want  string
	}{
		{"no messages", func(c *rules.Config) { c.Messages = nil }, "rules: Config.Messages is nil; it is required: give the store of messages"},
		{"no labels", func(c *rules.Config) { c.Labels = nil }, "rules: Config.Labels is nil; it is required: give the store of labels"},
		{"no ledger", func(c *rules.Config) { c.Ledger = nil }, "rules: Config.Ledger is nil; it is required: give the ledger"},
		{"no rules", func(c *rules.Config) { c.Rules = nil }, "rules: Config.Rules is nil; it is required: give what decides"},
		{"rules that are a nil engine", func(c *rules.Config) { c.Rules = (*rules.Engine)(nil) }, "rules: Config.Rules holds a nil *rules.Engine"},
		{"a fallback that is a nil function", func(c *rules.Config) { c.Fallback = postroom.DeciderFunc(nil) }, "rules: Config.Fallback holds a nil postroom.DeciderFunc"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := c.cfg
			tt.spoil(&cfg)
			require.ErrorContains(t, rules.Register(d, cfg), tt.want)
		})
	}
	err = rules.Register(d, rules.Config{})
	for _, field := range []string{"Messages", "Labels", "Ledger", "Rules"} {
		require.ErrorContains(t, err, "rules: Config."+field, "all at once")
	}
	require.ErrorContains(t, rules.Register(nil, c.cfg), "rules: Register: the Dispatcher is nil")
	require.NoError(t, rules.Register(d, c.cfg), "nothing was registered before")
	require.NoError(t, d.RunUntilIdle(t.Context()))
}

func TestRegisterPassesOptionsOn(t *testing.T) {
	c := newClassification(t)
	c.cfg.Rules = postroom.DeciderFunc(func(ctx context.Context, _ *postroom.Message) (postroom.Decision, error) {
		_, bounded := ctx.Deadline()
		require.True(t, bounded)
		return postroom.Decision{Action: postroom.None, Source: postroom.SourceNone, Rationale: "Nothing matched"}, nil
	})
	c.options = []queue.HandlerOption{queue.WithTimeout(1e12)}
	require.Equal(t, queue.StateCompleted, c.run().State)
}

func TestEngineNamesWhatIsMissing(t *testing.T) {
	_, err := rules.NewEngine(rules.EngineConfig{})
	require.EqualError(t, err,
		"rules: EngineConfig.Store is nil; it is required: give a store of rules, such as a *rulestore.Store")
}

// An engine without a logger of its own is heard all the same.
func TestEngineLogsToTheDefaultLogger(t *testing.T) {
	var log bytes.Buffer
	previous := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(previous) })

	db := dbtest.SQLite(t)
	require.NoError(t, rulestore.Migrate(t.Context(), db))
	s, err := rulestore.New(rulestore.Config{DB: db})
	require.NoError(t, err)
	broken := storetest.Create(t, db, s, rules.NewRule("broken", rulestest.FromDomain("example.com"), postroom.Star, nil))
	require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE deterministic_rules SET conditions = '[1]' WHERE id = $1`, broken.ID)
		return err
	}))
	decide(t, newEngine(t, s), mailFrom("amy@example.com"))
	require.Contains(t, log.String(), broken.ID)
}
