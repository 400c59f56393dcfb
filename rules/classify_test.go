package rules_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
)

// mailbox is a store of messages and labels.
type mailbox struct {
	messages map[string]*postroom.Message
	labels   map[string]string // id by lower-case name
}

func (m *mailbox) Message(_ context.Context, accountID, messageID string) (*postroom.Message, error) {
	msg, ok := m.messages[messageID]
	if !ok || msg.AccountID != accountID {
		return nil, fmt.Errorf("message %s: %w", messageID, postroom.ErrNotFound)
	}
	return msg, nil
}

func (m *mailbox) LabelID(_ context.Context, _, name string) (string, bool, error) {
	id, ok := m.labels[strings.ToLower(name)]
	return id, ok, nil
}

// ledger keeps what is recorded in a table of the job's transaction.
type ledger struct {
	recorded []postroom.Decision
	refused  map[string]string // reason by rationale
	fail     error             // of the next write
}

const createLedger = `CREATE TABLE IF NOT EXISTS test_ledger (message_id TEXT PRIMARY KEY)`

func (l *ledger) Record(_ context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context,
	tx queue.Tx) (postroom.Action, error) {
	return func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		if err := l.write(ctx, tx, msg, d); err != nil {
			return postroom.Action{}, err
		}
		l.recorded = append(l.recorded, d)
		return postroom.Action{}, nil
	}
}

func (l *ledger) Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision,
	reason string) (postroom.Action, error) {
	if err := l.write(ctx, tx, msg, d); err != nil {
		return postroom.Action{}, err
	}
	l.refused[d.Rationale] = reason
	return postroom.Action{}, nil
}

func (l *ledger) write(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO test_ledger (message_id) VALUES ($1)`, msg.ID+d.Key)
	if l.fail != nil {
		err, l.fail = l.fail, nil
	}
	return err
}

// classification is a queue and how it classifies.
type classification struct {
	t       *testing.T
	db      queue.DB
	q       *queue.Queue
	cfg     rules.Config
	options []queue.HandlerOption
	ledger  *ledger
}

func newClassification(t *testing.T) *classification {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, createLedger)
		return err
	}))
	q, err := queue.New(db, &queue.Config{Retry: queue.RetryPolicy{Base: 1e6, Factor: 1, Cap: 1e6}})
	require.NoError(t, err)
	box := &mailbox{
		messages: map[string]*postroom.Message{"m1": mailFrom("amy@example.com")},
		labels:   map[string]string{"shops": "Label_7", "inbox": "INBOX"},
	}
	l := &ledger{refused: map[string]string{}}
	return &classification{t: t, db: db, q: q, ledger: l, cfg: rules.Config{
		Messages: box, Labels: box, Ledger: l,
		Rules: always(postroom.Decision{Action: postroom.None, Source: postroom.SourceNone, Rationale: "Nothing matched"}),
	}}
}

func always(d postroom.Decision) postroom.Decider {
	return postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) { return d, nil })
}

func byRule(action postroom.ActionType, p postroom.Parameters) postroom.Decider {
	return always(postroom.Decision{
		Action: action, Parameters: p, Confidence: 1, Rationale: "Matched", Source: postroom.SourceDeterministic,
		RuleID: "r1", RuleName: "shopping",
	})
}

// run classifies m1 and returns its job as it is then.
func (c *classification) run() *queue.Job {
	c.t.Helper()
	enqueued, err := c.q.Enqueue(c.t.Context(), rules.NewClassifyJob("acc", "m1"))
	require.NoError(c.t, err)
	d, err := queue.NewDispatcher(c.q, nil)
	require.NoError(c.t, err)
	require.NoError(c.t, rules.Register(d, c.cfg, c.options...))
	require.NoError(c.t, d.RunUntilIdle(c.t.Context()))
	job, err := c.q.Job(c.t.Context(), enqueued.ID)
	require.NoError(c.t, err)
	return job
}

// Mail does not become too old for the model while it waits for the model.
func TestWaitingForTheModelMakesNoMailOld(t *testing.T) {
	c := newClassification(t)
	c.cfg.FallbackAge = time.Hour
	c.cfg.Fallback = always(postroom.Decision{Action: postroom.Archive, Confidence: 1, Rationale: "dull",
		Source: postroom.SourceModel})
	enqueued, err := c.q.Enqueue(t.Context(), rules.NewClassifyJob("acc", "m1"))
	require.NoError(t, err)
	c.cfg.Messages.(*mailbox).messages["m1"].ReceivedAt = time.Now().Add(-90 * time.Minute)
	require.NoError(t, c.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE jobs SET created_at = $1",
			time.Now().Add(-80*time.Minute).UTC().Format("2006-01-02T15:04:05.000000Z"))
		return err
	}))
	require.Equal(t, enqueued.ID, c.run().ID)
	require.Equal(t, []string{"archive"}, actionsOf(c.ledger.recorded))
}

// All decisions of a message are recorded in the transaction that completes the job, each by itself.
func TestClassifyRecordsEachDecision(t *testing.T) {
	c := newClassification(t)
	list := fileRules(t, severalActions)
	list[2].Also = append(list[2].Also,
		rules.RuleAction{Type: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Shops"}})
	c.cfg.Rules = setDecider{rules.NewSet(list, nil)}
	require.Equal(t, queue.StateCompleted, c.run().State)
	require.Equal(t, []string{"mark_read", "apply_label Label_7"}, actionsOf(c.ledger.recorded))
	require.Len(t, c.ledger.refused, 2, "there are no labels A and B")
}

// A setDecider decides by a set.
type setDecider struct{ *rules.Set }

func (s setDecider) Decide(_ context.Context, msg *postroom.Message) (postroom.Decision, error) {
	return s.Set.Decide(msg, now), nil
}

func (s setDecider) DecideAll(_ context.Context, msg *postroom.Message) ([]postroom.Decision, error) {
	return s.Set.DecideAll(msg, now), nil
}

func TestClassifyRecordsTheRulesDecisionWithTheLabelsID(t *testing.T) {
	c := newClassification(t)
	parameters := postroom.Parameters{"label": "SHOPS"}
	c.cfg.Rules = byRule(postroom.Move, parameters)
	require.Equal(t, queue.StateCompleted, c.run().State)
	require.Len(t, c.ledger.recorded, 1)
	require.Equal(t, postroom.Parameters{"label": "Label_7"}, c.ledger.recorded[0].Parameters)
	require.Equal(t, postroom.Parameters{"label": "SHOPS"}, parameters, "the decider's own parameters are not written to")
}

func TestClassifyHappensOnceForEachMessage(t *testing.T) {
	c := newClassification(t)
	first := c.run()
	require.Equal(t, first.ID, c.run().ID)
	require.Len(t, c.ledger.recorded, 1)
}

func TestClassifyRefusesAnUnknownLabel(t *testing.T) {
	for name, test := range map[string]struct {
		decider postroom.Decider
		reason  string
	}{
		"of a rule": {
			byRule(postroom.ApplyLabel, postroom.Parameters{"label": "Shoes"}),
			`label "Shoes" does not exist in this mailbox: create it, or name another one in rule 'shopping'`,
		},
		"of a model": {
			always(postroom.Decision{Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Shoes"},
				Confidence: 0.9, Rationale: "Matched", Source: postroom.SourceModel}),
			`label "Shoes" does not exist in this mailbox: create it, or take it out of what the model may choose`,
		},
		"of a model, which names one of Gmail's own": {
			always(postroom.Decision{Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "inbox"},
				Confidence: 0.9, Rationale: "Matched", Source: postroom.SourceModel}),
			`label "inbox" is one of Gmail's own, and a model chooses among yours`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClassification(t)
			c.cfg.Rules = test.decider
			require.Equal(t, queue.StateCompleted, c.run().State)
			require.Empty(t, c.ledger.recorded)
			require.Equal(t, map[string]string{"Matched": test.reason}, c.ledger.refused)
		})
	}
}

func TestClassifyWithoutAModelRecordsNone(t *testing.T) {
	c := newClassification(t)
	require.Equal(t, queue.StateCompleted, c.run().State)
	require.Equal(t, postroom.None, c.ledger.recorded[0].Action)
	require.Equal(t, "Nothing matched, and no model is configured", c.ledger.recorded[0].Rationale)
}

func TestClassifyAsksTheFallbackWhereNoRuleMatches(t *testing.T) {
	c := newClassification(t)
	c.cfg.Fallback = always(postroom.Decision{Action: postroom.Archive, Confidence: 0.8, Rationale: "dull",
		Source: postroom.SourceModel})
	c.run()
	require.Equal(t, postroom.Archive, c.ledger.recorded[0].Action)

	c = newClassification(t)
	c.cfg.Rules = byRule(postroom.None, nil)
	c.cfg.Fallback = postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
		return postroom.Decision{}, errors.New("a rule that says none has decided")
	})
	require.Equal(t, queue.StateCompleted, c.run().State)
	require.Equal(t, postroom.SourceDeterministic, c.ledger.recorded[0].Source)
}

func TestClassifyDoesNotAskTheFallbackAgainWhenRecordingFails(t *testing.T) {
	c := newClassification(t)
	asked := 0
	c.cfg.Fallback = postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
		asked++
		return postroom.Decision{
			Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "shops"}, Confidence: 0.8,
			Rationale: fmt.Sprintf("answer %d", asked), Source: postroom.SourceModel, Model: "test::m",
		}, nil
	})
	c.ledger.fail = errors.New("disk full")
	job := c.run()
	require.Equal(t, queue.StateCompleted, job.State)
	require.Equal(t, 1, job.Failures)
	require.Equal(t, 1, asked)
	require.Len(t, c.ledger.recorded, 1)
	require.Equal(t, "answer 1", c.ledger.recorded[0].Rationale)
	require.Equal(t, "test::m", c.ledger.recorded[0].Model)
}

func TestClassifyMakesAPersonLookAtADecisionThatBreaksItsContract(t *testing.T) {
	for name, broken := range map[string]postroom.Decision{
		"the zero decision":     {},
		"an unknown action":     {Action: "explode", Confidence: 1, Rationale: "boom"},
		"a label without label": {Action: postroom.Move, Confidence: 1, Rationale: "boom"},
		"too confident":         {Action: postroom.Archive, Confidence: 100, Rationale: "boom"},
		"no reason":             {Action: postroom.Archive, Confidence: 1},
		"no number":             {Action: postroom.Archive, Confidence: math.NaN(), Rationale: "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClassification(t)
			c.cfg.Fallback = always(broken)
			require.Equal(t, queue.StateCompleted, c.run().State)
			require.Len(t, c.ledger.recorded, 1)
			d := c.ledger.recorded[0]
			require.NoError(t, d.Validate(nil, time.Now()))
			require.Equal(t, postroom.None, d.Action)
			require.True(t, d.NeedsApproval)
			require.Equal(t, postroom.SourceModel, d.Source)
			require.Contains(t, d.Rationale, strings.Split(broken.Validate(nil, time.Now()).Error(), "\n")[0])
		})
	}
}

func TestClassifyIsCanceledForAMessageThatIsNotThere(t *testing.T) {
	c := newClassification(t)
	clear(c.cfg.Messages.(*mailbox).messages)
	job := c.run()
	require.Equal(t, queue.StateCanceled, job.State)
	require.Equal(t, 1, job.Attempt)
	require.Contains(t, job.LastError,
		"classify message m1 of account acc: it is no longer stored, as after its mailbox was removed")
}

func TestClassifyTriesAgainWhenADeciderIsDown(t *testing.T) {
	c := newClassification(t)
	asked := 0
	c.cfg.Rules = postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
		if asked++; asked < 3 {
			return postroom.Decision{}, errors.New("database is away")
		}
		return postroom.Decision{Action: postroom.Archive, Confidence: 1, Rationale: "r",
			Source: postroom.SourceDeterministic}, nil
	})
	job := c.run()
	require.Equal(t, queue.StateCompleted, job.State)
	require.Equal(t, 2, job.Failures)
	require.Len(t, c.ledger.recorded, 1)
}

// What a rule says that cannot be done any more fails with the reason: nobody is asked, the other decisions stand,
// and the rule stays.
func TestWhatHasPassedIsAFailedDecision(t *testing.T) {
	c := newClassification(t)
	c.cfg.Rules = byRule(postroom.Snooze, postroom.Parameters{"until": "2020-01-01T00:00:00Z"})
	require.Equal(t, queue.StateCompleted, c.run().State)
	require.Empty(t, c.ledger.recorded)
	require.Equal(t, map[string]string{
		"Matched": "action snooze: 2020-01-01T00:00:00Z is not in the future: rule 'shopping' says so; correct its parameters, or disable it",
	}, c.ledger.refused)

	c = newClassification(t)
	c.cfg.Fallback = always(postroom.Decision{Action: postroom.Snooze,
		Parameters: postroom.Parameters{"until": "2020-01-01T00:00:00Z"}, Rationale: "Later"})
	require.Equal(t, queue.StateCompleted, c.run().State)
	require.Empty(t, c.ledger.refused)
	require.Len(t, c.ledger.recorded, 1)
	require.True(t, c.ledger.recorded[0].NeedsApproval, "what a model got wrong a person looks at")
}

// What the host does about a decision of the fallback stands and falls with its record.
func TestHostHearsOfTheFallbackInTheTransaction(t *testing.T) {
	c := newClassification(t)
	c.cfg.Fallback = always(postroom.Decision{Action: postroom.Archive, Confidence: 1, Rationale: "Read",
		Reply: postroom.ReplyNeeded})
	var heard []postroom.ReplyNeed
	fault := errors.New("not now")
	c.cfg.OnFallback = func(_ context.Context, _ queue.Tx, msg *postroom.Message, d postroom.Decision) error {
		heard = append(heard, d.Reply)
		require.Equal(t, "m1", msg.ID)
		if len(heard) == 1 {
			return fault
		}
		return nil
	}
	c.run()
	require.Equal(t, []postroom.ReplyNeed{postroom.ReplyNeeded, postroom.ReplyNeeded}, heard)
	var rows int
	require.NoError(t, c.db.Reader().QueryRowContext(t.Context(), `SELECT COUNT(*) FROM test_ledger`).Scan(&rows))
	require.Equal(t, 1, rows)
}

func TestHostHearsNothingOfARule(t *testing.T) {
	c := newClassification(t)
	c.cfg.Rules = byRule(postroom.Archive, nil)
	c.cfg.OnFallback = func(context.Context, queue.Tx, *postroom.Message, postroom.Decision) error {
		return errors.New("heard")
	}
	c.run()
	require.Len(t, c.ledger.recorded, 1)
}
