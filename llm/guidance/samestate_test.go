package guidance_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// An overtakenLog is a log before which somebody else changes guidance, once, when that has been read.
type overtakenLog struct {
	*safety.Ledger
	change func()
}

func (l *overtakenLog) CheckRules(ctx context.Context, tx queue.Tx, kind postroom.RuleKind, stored []postroom.RuleState) ([]postroom.RuleFault, error) {
	if change := l.change; change != nil {
		l.change = nil
		change()
	}
	return l.Ledger.CheckRules(ctx, tx, kind, stored)
}

// TestAChangeMeanwhileIsNoFault: guidance and what the log says about it are read from one state of the database.
func TestAChangeMeanwhileIsNoFault(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d, ledger := newSignedDesk(t, db)
		require.NoError(t, ledger.AdoptRules(t.Context()))
		write := func(fn func(ctx context.Context, tx queue.Tx) error) { require.NoError(t, db.Write(t.Context(), fn)) }
		var direction guidance.Direction
		write(func(ctx context.Context, tx queue.Tx) (err error) {
			direction, err = d.CreateDirection(ctx, tx, guidance.Direction{Text: "Never delete anything.", Enabled: true})
			return err
		})
		log := &overtakenLog{Ledger: ledger}
		log.change = func() {
			write(func(ctx context.Context, tx queue.Tx) error {
				_, err := d.PatchDirection(ctx, tx, direction.ID, guidance.DirectionPatch{Text: new("Delete nothing.")})
				return err
			})
		}
		store, err := guidance.New(guidance.Config{DB: db, Log: log})
		require.NoError(t, err)
		guidance, err := store.Guidance(t.Context(), &postroom.Message{})
		require.NoError(t, err)
		require.Nil(t, log.change, "it was changed in between")
		require.Empty(t, guidance.Altered)
		require.Equal(t, []string{"Delete nothing."}, guidance.Directions)
	})
}
