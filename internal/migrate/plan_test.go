package migrate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

// Functions and triggers have statements of their own.
func TestAFunctionIsOneStatement(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		body := "\nCREATE TRIGGER twice AFTER INSERT ON letters\nWHEN NEW.id < 10\nBEGIN\n" +
			"  INSERT INTO letters (id) VALUES (NEW.id + 10);\n  INSERT INTO letters (id) VALUES (NEW.id + 20);\nEND;\n"
		if db.Dialect() == "postgres" {
			body = "\nCREATE FUNCTION twice() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n" +
				"  INSERT INTO letters (id) VALUES (12);\n  INSERT INTO letters (id) VALUES (22);\nEND\n$$;\n\nSELECT twice();\n"
		}
		grown := files(with(first, "0002_twice.sql", "-- Twice; as many."+body+"\nINSERT INTO letters (id)\nVALUES (2);\n"))
		require.NoError(t, run(t, db, "post", grown))
		var ids []int
		require.NoError(t, db.Reader().Select(&ids, "SELECT id FROM letters ORDER BY id"))
		require.Equal(t, []int{1, 2, 12, 22}, ids)
	})
}

// Whoever runs the scripts by hand has what Up makes.
func TestPlanHasTheScriptsOfWhatIsPending(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		grown := files(with(first, "0002_size.sql", "ALTER TABLE letters ADD COLUMN size INTEGER;"))
		plan := func() []migrate.Step {
			steps, err := migrate.Plan(t.Context(), db, string(db.Dialect()), "post", grown)
			require.NoError(t, err)
			return steps
		}
		steps := plan()
		require.Len(t, steps, 2)
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			for _, step := range steps {
				require.False(t, step.Applied)
				for statement := range strings.SplitSeq(step.SQL, ";\n") {
					if strings.TrimSpace(statement) == "" {
						continue
					}
					if _, err := tx.ExecContext(ctx, statement); err != nil {
						return err
					}
				}
			}
			return nil
		}))
		require.Equal(t, []string{"post 0001_letters.sql", "post 0002_size.sql"}, versions(t, db))
		require.Equal(t, []migrate.Step{{Version: 1, Name: "0001_letters.sql", Applied: true},
			{Version: 2, Name: "0002_size.sql", Applied: true}}, plan())
		require.NoError(t, run(t, db, "post", grown))
	})
}
