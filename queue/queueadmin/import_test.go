package queueadmin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// run executes statements, which end with a semicolon at the end of a line.
func runSQL(t *testing.T, db queue.DB, text string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for statement := range strings.SplitSeq(text, ";\n") {
			if strings.TrimSpace(statement) == "" {
				continue
			}
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
}

// The table of seed 000, under another name.
const jobQueue = `
CREATE TABLE old_jobs (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 5,
  not_before TEXT,
  idempotency_key TEXT,
  last_error TEXT,
  heartbeat_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
INSERT INTO old_jobs VALUES
  ('a', 'ping', '1', 7, 'queued', 2, 5, '2030-01-31T07:00:00Z', 'key-a', 'was busy', NULL, '2025-01-01T00:00:00Z', '2025-01-02 03:04:05'),
  ('b', 'ping', '2', 0, 'running', 5, 5, NULL, NULL, NULL, NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'),
  ('c', 'ping', '3', 0, 'completed', 1, 5, NULL, 'key-c', NULL, NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'),
  ('d', 'ping', '4', 0, 'failed', 5, 5, NULL, NULL, 'broken', NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'),
  ('e', 'ping', '5', 0, 'canceled', 0, 5, NULL, 'taken', NULL, NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'),
  ('f', 'ping', 'no JSON', 0, 'queued', 0, 5, NULL, NULL, NULL, NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'),
  ('g', 'ping', '6', 0, 'queued', 0, 5, 'tomorrow', NULL, NULL, NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z');
`

func at(text string) time.Time {
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return when
}

func TestTheTableOfAJobQueueIsImported(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		queueOn(t, db)
		q, ctx := on(t, db, &queue.Config{Codec: encrypting(t, "a")}), t.Context()
		runSQL(t, db, jobQueue)
		enqueue(t, q, &queue.Options{Key: queue.Forever("taken")})
		cfg := queueadmin.ImportConfig{Mapping: queueadmin.Mappings()["job_queue"], DryRun: true}
		cfg.Mapping.Table = "old_jobs"

		want := queueadmin.ImportReport{Read: 7, KeysTaken: 1, Refused: 2, Imported: map[queue.State]int{
			queue.StateQueued: 2, queue.StateCompleted: 1, queue.StateFailed: 1,
		}}
		check := func(got queueadmin.ImportReport, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Len(t, got.Faults, 3)
			faults := strings.Join(got.Faults, "\n")
			require.Contains(t, faults, "f: its payload is not JSON")
			require.Contains(t, faults, `g: NotBefore: "tomorrow" is no time`)
			require.Contains(t, faults, `"taken"`)
			got.Faults = nil
			require.Equal(t, want, got)
		}
		check(queueadmin.Import(ctx, q, db.Reader(), cfg))
		require.Equal(t, 1, count(t, q), "a dry run writes nothing")
		cfg.DryRun, cfg.Batch = false, 2
		check(queueadmin.Import(ctx, q, db.Reader(), cfg))
		require.Equal(t, 5, count(t, q))

		a := job(t, q, "a")
		require.Equal(t, queue.StateQueued, a.State)
		require.Equal(t, "1", string(a.Payload))
		require.Equal(t, []int{7, 2, 2, 5}, []int{a.Priority, a.Attempt, a.Failures, a.MaxAttempts})
		require.Equal(t, queue.Forever("key-a"), a.Key)
		require.Equal(t, "was busy", a.LastError)
		require.Equal(t, at("2030-01-31T07:00:00Z"), a.NotBefore)
		require.Equal(t, at("2025-01-02T03:04:05Z"), a.UpdatedAt)
		b := job(t, q, "b")
		require.Equal(t, queue.StateQueued, b.State, "its worker is none of this queue")
		require.Equal(t, 4, b.Failures, "it may be tried once more")
		c := job(t, q, "c")
		require.Equal(t, queue.StateCompleted, c.State)
		require.Equal(t, at("2025-01-02T00:00:00Z"), c.FinishedAt)
		require.Equal(t, "broken", job(t, q, "d").LastError)

		again, err := q.Enqueue(ctx, ping.New(3, &queue.Options{Key: queue.Forever("key-c")}))
		require.NoError(t, err)
		require.Equal(t, queue.EnqueueResult{ID: "c", Duplicate: true}, again, "what is done is not done again")
		violations, err := queueadmin.Verify(ctx, q)
		require.NoError(t, err)
		require.Empty(t, violations)

		report, err := queueadmin.Import(ctx, q, db.Reader(), cfg)
		require.NoError(t, err)
		require.Equal(t, 4, report.Existing, "an import goes on, and changes nothing that is there")
		require.Empty(t, report.Imported)

		var ran []int
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(_ context.Context, w *queue.Work[int]) error {
			ran = append(ran, w.Payload)
			return nil
		})
		done, err := queueadmin.RunNow(ctx, q, queueadmin.Selection{JobIDs: []string{"a"}}, nil)
		require.NoError(t, err)
		require.Equal(t, 1, done.Changed)
		require.NoError(t, d.RunUntilIdle(ctx))
		require.ElementsMatch(t, []int{1, 1, 2}, ran)
	})
}

// The table of seed 001, under another name, in a schema of PostgreSQL's types where there are some.
func universal(db queue.DB) string {
	text := `
CREATE TABLE old_jobs (
  id UUID PRIMARY KEY,
  user_id UUID NOT NULL,
  job_type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  input JSONB NOT NULL DEFAULT '{}',
  output JSONB,
  error TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  retry_count INTEGER NOT NULL DEFAULT 0,
  max_retries INTEGER NOT NULL DEFAULT 3,
  scheduled_for TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ,
  claimed_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ,
  completed_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL
);
INSERT INTO old_jobs VALUES
  ('00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-0000000000aa', 'ping', 'claimed', '1', NULL, 'was busy', 3, 1, 3,
   '2025-01-01T00:00:00Z', '2035-01-01T00:00:00Z', '2025-01-02T00:00:00Z', NULL, NULL, '2025-01-01T00:00:00Z', '2025-01-02T00:00:00Z'),
  ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-0000000000aa', 'ping', 'complete', '2', '{"ok": true}', NULL, 0, 0, 3,
   '2025-01-01T00:00:00Z', NULL, '2025-01-02T00:00:00Z', '2025-01-02T00:00:01Z', '2025-01-02T00:00:02Z', '2025-01-01T00:00:00Z', '2025-01-03T00:00:00Z');
`
	if db.Dialect() == driver.SQLite {
		text = strings.NewReplacer("UUID", "TEXT", "JSONB", "TEXT", "TIMESTAMPTZ", "TEXT").Replace(text)
	}
	return text
}

func TestTheTableOfAUniversalJobQueueIsImported(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		runSQL(t, db, universal(db))
		cfg := queueadmin.ImportConfig{Mapping: queueadmin.Mappings()["universal_job_queue"]}
		cfg.Mapping.Table = "old_jobs"
		report, err := queueadmin.Import(ctx, q, db.Reader(), cfg)
		require.NoError(t, err)
		require.Empty(t, report.Faults)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1, queue.StateCompleted: 1}, report.Imported)
		first := job(t, q, "00000000-0000-4000-8000-000000000001")
		require.Equal(t, "00000000-0000-4000-8000-0000000000aa", first.UserID)
		require.Equal(t, []int{3, 1, 1, 4}, []int{first.Priority, first.Attempt, first.Failures, first.MaxAttempts})
		require.Equal(t, at("2035-01-01T00:00:00Z"), first.ExpiresAt)
		second := job(t, q, "00000000-0000-4000-8000-000000000002")
		require.JSONEq(t, `{"ok": true}`, string(second.Result))
		require.Equal(t, []time.Time{at("2025-01-02T00:00:01Z"), at("2025-01-02T00:00:02Z")},
			[]time.Time{second.StartedAt, second.FinishedAt})
		violations, err := queueadmin.Verify(ctx, q)
		require.NoError(t, err)
		require.Empty(t, violations)
	})
}

func TestUnknownStatesAreRefusedWithTheirCounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, ctx := queueOn(t, db), t.Context()
		runSQL(t, db, `
CREATE TABLE things (name TEXT, kind TEXT, how TEXT, due BIGINT);
INSERT INTO things VALUES ('1', 'ping', 'new', 1900000000), ('2', 'ping', 'odd', NULL), ('3', 'ping', 'odd', NULL), ('4', 'ping', 'gone', NULL);
`)
		cfg := queueadmin.ImportConfig{Mapping: queueadmin.Mapping{Table: "things", ID: "name", Type: "kind", State: "how",
			NotBefore: "due", States: map[string]queue.State{"new": queue.StateQueued, "gone": queueadmin.StateSkip}}}
		_, err := queueadmin.Import(ctx, q, db.Reader(), cfg)
		require.ErrorIs(t, err, queueadmin.ErrUnknownStates)
		require.ErrorContains(t, err, `"odd" (2)`)
		require.Zero(t, count(t, q))
		cfg.Mapping.States["odd"] = queue.StateCanceled
		report, err := queueadmin.Import(ctx, q, db.Reader(), cfg)
		require.NoError(t, err)
		require.Equal(t, 1, report.Skipped)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1, queue.StateCanceled: 2}, report.Imported)
		require.Equal(t, time.Unix(1900000000, 0).UTC(), job(t, q, "1").NotBefore)
		require.Equal(t, "null", string(job(t, q, "1").Payload))

		for want, change := range map[string]func(m *queueadmin.Mapping){
			"must be the name of a table": func(m *queueadmin.Mapping) { m.Table = "a; DROP TABLE jobs" },
			"Mapping.Type is":             func(m *queueadmin.Mapping) { m.Type = "" },
			`has "running" for "new"`: func(m *queueadmin.Mapping) {
				m.States = map[string]queue.State{"new": "running"}
			},
			"Mapping.KeyScope is \"period\"": func(m *queueadmin.Mapping) { m.KeyScope = driver.KeyPeriod },
			"read table nothing":             func(m *queueadmin.Mapping) { m.Table = "nothing" },
		} {
			bad := cfg
			change(&bad.Mapping)
			_, err := queueadmin.Import(ctx, q, db.Reader(), bad)
			require.ErrorContains(t, err, want)
			require.Equal(t, want != "read table nothing", errors.Is(err, queueadmin.ErrInvalidMapping), want)
		}
	})
}
