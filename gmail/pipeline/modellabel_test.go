package pipeline

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// The label that a model names is looked up in the transaction of its decision, which may have stored it, and which on
// a pool of one connection would otherwise wait for itself.
func TestTheLabelOfAModelIsReadInItsTransaction(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) queue.DB{
		"sqlite":   func(t *testing.T) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t *testing.T) queue.DB { return dbtest.OneConnection(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOn(t, open(t))
			p := w.pipeline(Config{})
			msg := &postroom.Message{ID: "m", AccountID: w.add(p, ada), From: postroom.Address{Email: "eve@example.com"},
				ReceivedAt: time.Now()}
			record := p.Ledger.Record(t.Context(), msg, postroom.Decision{Action: postroom.ApplyLabel, Confidence: 1,
				Source: postroom.SourceModel, Model: "m", Rationale: "it is one",
				Parameters: postroom.Parameters{"label": "Label_1"}})
			require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				label := postroom.Label{ID: "Label_1", Name: "Receipts", Type: postroom.LabelUser}
				if err := p.Mail.SaveLabel(ctx, tx, msg.AccountID, label); err != nil {
					return err
				}
				_, err := record(ctx, tx)
				return err
			}))
			decisions := w.decisions(p, msg.AccountID)
			require.Len(t, decisions, 1)
			require.Empty(t, decisions[0].Verdict.Reasons)
		})
	}
}
