package queueadmin_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// Any value of a column of SQLite may be of any type.
const oddTasks = `
CREATE TABLE tasks (id, kind, status, args, urgency, tries, due, once, created);
INSERT INTO tasks (id, kind, status) VALUES ('sound', 'ping', 'new');
INSERT INTO tasks (id, kind, status, urgency, tries) VALUES
  ('high', 'ping', 'new', 'high', 0), ('half', 'ping', 'new', 1.5, 0), ('huge', 'ping', 'new', 99999999999, 0),
  ('blob', 'ping', 'new', x'ff00', 0), ('tries', 'ping', 'new', 0, 'many'), ('text', 'ping', 'new', '7', '1');
INSERT INTO tasks (id, kind, status, created) VALUES
  ('millis', 'ping', 'new', 1700000000000), ('neg', 'ping', 'new', -99999999999), ('inf', 'ping', 'new', 9e999),
  ('nan', 'ping', 'new', 'NaN'), ('seconds', 'ping', 'new', '1700000000.5');
INSERT INTO tasks (id, kind, status, due, created) VALUES ('both', 'ping', 'new', '2035-01-01', 1700000000000);
INSERT INTO tasks (id, kind, status) VALUES
  (NULL, 'ping', 'new'), ('', 'ping', 'new'), ('bad' || CAST(x'ff' AS TEXT), 'ping', 'new'), ('nul' || char(0), 'ping', 'new'),
  ('untyped', NULL, 'new');
INSERT INTO tasks (id, kind, status, once) VALUES
  ('k1', 'ping', 'new', 'once'), ('k2', 'ping', 'new', 'once'), ('k3', 'ping', 'done', 'once'), ('dup', 'ping', 'new', NULL),
  ('dup', 'ping', 'done', NULL);
`

// A library of SQLite may make times of what stands in a column that is declared to have them, and the zero time of the
// rest.
func TestTimesAreReadWhateverTheirColumnsAreDeclaredToBe(t *testing.T) {
	from := dbtest.SQLite(t)
	runSQL(t, from, `
CREATE TABLE tasks (id TEXT, kind TEXT, status TEXT, urgent BOOLEAN, due TIMESTAMP);
INSERT INTO tasks VALUES
  ('never', 'ping', 'new', 1, 'tomorrow'), ('text', 'ping', 'new', 1, '2035-01-31 07:00'), ('number', 'ping', 'new', 7, 2053839600),
  ('go', 'ping', 'new', 0, '2035-01-31 08:00:00 +0100 CET'), ('mattn', 'ping', 'new', 0, '2035-01-31 08:00:00+01:00');
`)
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		report, err := queueadmin.Import(t.Context(), q, from.Reader(), queueadmin.ImportConfig{Mapping: queueadmin.Mapping{
			Table: "tasks", ID: "id", Type: "kind", State: "status", Priority: "urgent", NotBefore: "due",
			States: map[string]queue.State{"new": queue.StateQueued},
		}})
		require.NoError(t, err)
		require.Equal(t, []string{`never: NotBefore: "tomorrow" is no time`}, report.Faults)
		for id, priority := range map[string]int{"text": 1, "number": 7, "go": 0, "mattn": 0} {
			require.Equal(t, at("2035-01-31T07:00:00Z"), job(t, q, id).NotBefore, id)
			require.Equal(t, priority, job(t, q, id).Priority, id)
		}
	})
}

// One bad row does not keep the others out, and a dry run reports what an import does.
func TestRowsThatAreNoJobsAreLeft(t *testing.T) {
	from := dbtest.SQLite(t)
	runSQL(t, from, oddTasks)
	mapping := queueadmin.Mapping{
		Table: "tasks", ID: "id", Type: "kind", State: "status", Payload: "args", Priority: "urgency", Attempts: "tries",
		NotBefore: "due", Key: "once", CreatedAt: "created",
		States: map[string]queue.State{"new": queue.StateQueued, "done": queue.StateCompleted},
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		cfg := queueadmin.ImportConfig{Mapping: mapping, DryRun: true, Batch: 1}
		would, err := queueadmin.Import(t.Context(), q, from.Reader(), cfg)
		require.NoError(t, err)
		require.Zero(t, count(t, q))
		cfg.DryRun = false
		did, err := queueadmin.Import(t.Context(), q, from.Reader(), cfg)
		require.NoError(t, err)
		require.Equal(t, did, would)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 5}, did.Imported)
		require.Equal(t, []int{23, 15, 2, 1, 1}, []int{did.Read, did.Refused, did.KeysTaken, did.Existing, did.Skipped + 1})
		faults := strings.Join(did.Faults, "\n")
		for _, want := range []string{
			`high: Priority: "high" is no whole number`, `half: Priority: "1.5" is no whole number`,
			`tries: Attempts: "many" is no whole number`, "huge: invalid job: Priority is 99999999999",
			"millis: CreatedAt: 1.7e+12 is no number of seconds", "both: CreatedAt", "neg: CreatedAt", "inf: CreatedAt", "nan: CreatedAt",
			"its id holds bytes that are no text", "its id has 0 bytes", "untyped: invalid job",
		} {
			require.Contains(t, faults, want)
		}
		violations, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, violations)
		again, err := queueadmin.Import(t.Context(), q, from.Reader(), cfg)
		require.NoError(t, err)
		require.Empty(t, again.Imported)
	})
}
