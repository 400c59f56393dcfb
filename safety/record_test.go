package safety

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/safety/gate"
)

func TestConfigNamesTheBadField(t *testing.T) {
	db := dbtest.SQLite(t)
	execute := func(context.Context, queue.Tx, postroom.Action) error { return nil }
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"no database":    {Config{Execute: execute}, "safety: Config.DB is nil; it is required: give a database"},
		"nil database":   {Config{DB: (*sqlite.DB)(nil), Execute: execute}, "safety: Config.DB holds a nil *sqlite.DB"},
		"no execute":     {Config{DB: db}, "safety: Config.Execute is nil; it is required: give a function"},
		"short expiry":   {Config{DB: db, Execute: execute, ApprovalExpiry: time.Second}, "Config.ApprovalExpiry is 1s"},
		"long expiry":    {Config{DB: db, Execute: execute, ApprovalExpiry: 366 * 24 * time.Hour}, "Config.ApprovalExpiry"},
		"blank approver": {Config{DB: db, Execute: execute, Approvers: []string{"ann", " "}}, "Config.Approvers[1]"},
		"short key":      {Config{DB: db, Execute: execute, Key: make([]byte, 31)}, "safety: Config.Key has 31 bytes; give at least 32"},
		"bad policy":     {Config{DB: db, Execute: execute, Policy: gate.Policy{ConfidenceThreshold: 2}}, "Policy.ConfidenceThreshold"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewLedger(tc.cfg)
			require.ErrorContains(t, err, tc.want)
		})
	}
	_, err := NewLedger(Config{Policy: gate.Policy{ConfidenceThreshold: 2}})
	for _, field := range []string{"Config.DB", "Config.Execute", "Policy.ConfidenceThreshold"} {
		require.ErrorContains(t, err, field, "all at once")
	}
	require.ErrorContains(t, Migrate(t.Context(), nil), "safety: Migrate: db is nil")
}

// TestRecordWantsAMessage: a decision is about one.
func TestRecordWantsAMessage(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	require.ErrorContains(t, d.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := d.ledger.Record(ctx, nil, rule(postroom.Archive, ""))(ctx, tx)
		return err
	}), "the message is nil")
}

func TestRecordQueuesAndExecutes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		msg := message("Shop@Example.COM")
		dec := rule(postroom.ApplyLabel, postroom.SafeAlwaysSafe)
		dec.Parameters = postroom.Parameters{"label": "Label_7", "count": 3.0}
		dec.Explanations.SalientFeatures = []string{"receipt"}
		dec.Key = "job-9"

		a := d.record(msg, dec)
		require.Equal(t, postroom.ActionQueued, a.State)
		require.Equal(t, []string{a.ID}, d.executed)
		require.Empty(t, d.asked)

		stored := d.get(a.ID)
		require.Equal(t, a, stored)
		require.Equal(t, msg.ID, stored.MessageID)
		require.Equal(t, msg.AccountID, stored.AccountID)
		require.Equal(t, dec.Parameters, stored.Parameters)
		require.Equal(t, dbtime.Truncate(d.now), stored.CreatedAt)
		require.Zero(t, stored.ExecutedAt)
		require.Nil(t, stored.UndoHint)

		rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
		require.NoError(t, err)
		require.Equal(t, dec, rec.Decision)
		require.Equal(t, "shop@example.com", rec.Sender)
		require.Equal(t, "Hello", rec.Subject)
		require.False(t, rec.Verdict.RequiresApproval)
	})
}

func TestRecordWaitsForAPerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.record(message("a@example.com"), model(postroom.Delete, 1))
		require.Equal(t, postroom.ActionPendingApproval, a.State)
		require.Empty(t, d.executed)
		require.Equal(t, []string{a.ID}, d.asked)

		rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
		require.NoError(t, err)
		require.True(t, rec.Decision.NeedsApproval, "the stored word is the gate's, not the model's")
		require.Equal(t, []gate.Override{gate.OverrideDangerous, gate.OverrideApprovalAlways}, rec.Verdict.Overrides)
		require.Equal(t, []string{dangerous, listed}, rec.Verdict.Reasons)
	})
}

func TestRecordNoneCompletesAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.record(message("a@example.com"), postroom.Decision{
			Action: postroom.None, Rationale: "no rule matched and no model is configured", Source: postroom.SourceNone,
		})
		require.Equal(t, postroom.ActionCompleted, a.State)
		require.Equal(t, a.CreatedAt, a.ExecutedAt)
		require.False(t, a.UndoHint.Undoable())
		require.False(t, a.UndoHint.Irreversible)
		require.Empty(t, d.executed)
		require.Equal(t, a, d.get(a.ID))
	})
}

func TestRecordTwiceIsOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		msg := message("a@example.com")
		first := d.record(msg, rule(postroom.Archive, ""))

		again := d.record(msg, rule(postroom.Delete, ""))
		require.Equal(t, first, again, "the first decision stands")
		require.Len(t, d.executed, 1)
		require.Empty(t, d.asked)

		_, err := d.start(first.ID, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, d.record(msg, rule(postroom.Archive, "")).State)

		named := rule(postroom.Archive, "")
		named.Key = "another look"
		require.NotEqual(t, first.ID, d.record(msg, named).ID)

		other := *msg
		other.AccountID = "account-2"
		require.NotEqual(t, first.ID, d.record(&other, rule(postroom.Archive, "")).ID)
	})
}

func TestRecordFindsTheActionAndNotItsUndo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		msg := message("a@example.com")
		a := d.record(msg, rule(postroom.Archive, ""))
		_, err := d.start(a.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel}))
		_, err = d.startUndo(a.ID, "job-2")
		require.NoError(t, err)
		require.Equal(t, a.ID, d.record(msg, rule(postroom.Archive, "")).ID)
	})
}

// TestRecordWritesAllOrNothing: when the host cannot enqueue the job, the decision is not there either.
func TestRecordWritesAllOrNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		broken := errors.New("no queue")
		d := newDesk(t, db, func(c *Config) {
			c.Execute = func(context.Context, queue.Tx, postroom.Action) error { return broken }
			c.Ask = func(context.Context, queue.Tx, Approval) error { return broken }
		})
		for _, dec := range []postroom.Decision{rule(postroom.Archive, ""), model(postroom.Delete, 1)} {
			_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
				return d.ledger.Record(ctx, message("a@example.com"), dec)(ctx, tx)
			})
			require.ErrorIs(t, err, broken)
		}
		s, err := d.ledger.Activity().Summary(t.Context(), "")
		require.NoError(t, err)
		require.Empty(t, s.Actions)
		require.Empty(t, s.Rules)
	})
}

func TestRecordRefusesWhatBreaksTheContract(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		bad := model("erase", 7)
		_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Record(ctx, message("a@example.com"), bad)(ctx, tx)
		})
		require.ErrorIs(t, err, ErrInvalidDecision)

		noSource := model(postroom.Archive, 1)
		noSource.Source = "somebody"
		_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Record(ctx, message("a@example.com"), noSource)(ctx, tx)
		})
		require.ErrorIs(t, err, ErrInvalidDecision)
		require.ErrorContains(t, err, `"somebody"`)

		_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Record(ctx, &postroom.Message{ID: "m"}, model(postroom.Archive, 1))(ctx, tx)
		})
		require.ErrorContains(t, err, "both ids are needed")
	})
}

func TestRefuseKeepsTheDecisionAndItsReason(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for name, dec := range map[string]postroom.Decision{
			"unknown label":  {Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Nowhere"}, Confidence: 1, Rationale: "x", Source: postroom.SourceModel},
			"unknown action": {Action: "erase", Confidence: math.NaN(), Source: postroom.SourceModel},
			"dangerous":      model(postroom.Delete, 1),
		} {
			t.Run(name, func(t *testing.T) {
				msg := message("a@example.com")
				refuse := func() postroom.Action {
					a, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
						return d.ledger.Refuse(ctx, tx, msg, dec, "label \"Nowhere\" does not exist")
					})
					require.NoError(t, err)
					return a
				}
				a := refuse()
				require.Equal(t, postroom.ActionFailed, a.State)
				require.Equal(t, "label \"Nowhere\" does not exist", d.get(a.ID).Error)
				require.Equal(t, a.ID, refuse().ID)
				require.ErrorIs(t, d.fail(a.ID, "again"), ErrState)
			})
		}
		require.Empty(t, d.executed)
		require.Empty(t, d.asked)
	})
}

func TestRefuseWantsAReason(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.Refuse(ctx, tx, message("a@example.com"), model(postroom.Archive, 1), " ")
	})
	require.ErrorContains(t, err, "reason is blank")
}

// TestTextFromMailIsStorable: NUL and broken UTF-8 come with the mail and with what a model says about it.
func TestTextFromMailIsStorable(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		msg := message("a\x00b@example.com")
		msg.Subject = "nul \x00 and \xff"
		dec := model(postroom.AddNote, 1)
		dec.Rationale = "because \x00\xfe"
		dec.Parameters = postroom.Parameters{"note": "L\x00\xff"}
		a := d.record(msg, dec)
		rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
		require.NoError(t, err)
		require.Equal(t, "nul \uFFFD and \uFFFD", rec.Subject)
		require.Equal(t, "a\uFFFDb@example.com", rec.Sender)
		require.Equal(t, "because \uFFFD\uFFFD", rec.Decision.Rationale)
		require.Equal(t, "L\x00\uFFFD", rec.Decision.Parameters["note"])
	})
}
