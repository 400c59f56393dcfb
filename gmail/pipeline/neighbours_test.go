package pipeline

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// A part that is left out of the kinds, or is on another database, is refused when it is made: actions would fail for
// good, or nothing would happen.
func TestPartsOfOthersAreRefused(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{})
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{{Type: "print", Summary: "print it",
		Handler: func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
			return postroom.Outcome{}, nil
		}}}})
	require.NoError(t, err)
	d, err := queue.NewDispatcher(p.Queue, nil)
	require.NoError(t, err)
	other := newWorldOn(t, dbtest.SQLite(t)).pipeline(Config{})
	execute := func(context.Context, queue.Tx, postroom.Action) error { return nil }
	undoing := p.undoing
	undoing.Kinds = kinds
	elsewhere := p.undoing
	elsewhere.Ledger = other.Ledger
	for want, is := range map[string]func() error{
		"safety: Config.Kinds is another than that of Config.Rules": func() error {
			_, err := safety.NewLedger(safety.Config{DB: p.DB, Kinds: kinds, Rules: p.Rules, Execute: execute})
			return err
		},
		"rules: Config.Kinds is another than that of Config.Ledger": func() error {
			return rules.Register(d, rules.Config{Messages: p.Mail, Labels: p.Mail, Ledger: p.Ledger, Rules: p.Engine,
				Kinds: kinds})
		},
		"gmail: Config.Kinds is another than that of Config.Ledger": func() error {
			return gmail.Register(d, gmail.Config{Store: p.Mail, Clients: p.Clients, Ledger: p.Ledger, Kinds: kinds})
		},
		"gmail: Config.Store: the database is another than that of Config.Ledger": func() error {
			return gmail.Register(d, gmail.Config{Store: p.Mail, Clients: p.Clients, Ledger: other.Ledger})
		},
		"undo: Config.Kinds is another than that of Config.Ledger": func() error {
			_, err := undo.NewUndoer(undoing)
			return err
		},
		"undo: Config.Queue: the database is another than that of Config.Ledger": func() error {
			_, err := undo.NewUndoer(elsewhere)
			return err
		},
	} {
		require.ErrorContains(t, is(), want+"; give both the same")
	}
}
