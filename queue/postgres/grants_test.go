package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// openGranted opens the tables of another role as one that has the grants of the package documentation, and no others.
func openGranted(t *testing.T) *postgres.DB {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	grants := regexp.MustCompile(`(?m)^//\t(GRANT .*;)$`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, grants)
	dsn := dbtest.PostgresDSN(t)
	owner, err := postgres.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), owner))
	location, err := url.Parse(dsn)
	require.NoError(t, err)
	app := "app_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	names := strings.NewReplacer("public", location.Query().Get("search_path"), "app", app)
	run(t, owner, "CREATE ROLE "+app)
	t.Cleanup(func() {
		_, err := owner.Reader().ExecContext(context.Background(), "DROP OWNED BY "+app)
		require.NoError(t, err)
		_, err = owner.Reader().ExecContext(context.Background(), "DROP ROLE "+app)
		require.NoError(t, err)
		require.NoError(t, owner.Close())
	})
	for _, grant := range grants {
		run(t, owner, names.Replace(grant[1]))
	}
	db, err := postgres.Open(t.Context(), dbtest.With(t, dsn, "role", app), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestARoleNeedsTheGrantsOfTheDocumentation(t *testing.T) {
	db := openGranted(t)
	_, err := db.Reader().ExecContext(t.Context(), "CREATE TABLE forbidden (id INTEGER)")
	require.ErrorContains(t, err, "permission denied")
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	require.NoError(t, q.SetLimit(t.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 2}))
	require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "s", Cron: "@daily", Job: count.New(0, nil)}))
	jobs := make([]queue.NewJob, 60)
	for i := range jobs {
		jobs[i] = count.New(i, &queue.Options{Key: queue.WhileUnfinished(strconv.Itoa(i)), LimitKey: "k"})
	}
	enqueued, err := q.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	require.NoError(t, q.Cancel(t.Context(), enqueued[0].ID))
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	queue.Handle(d, count, func(ctx context.Context, w *queue.Work[int]) error {
		w.Logger().InfoContext(ctx, "counts")
		_, err := queue.Step(ctx, w, "step", func(context.Context) (int, error) { return w.Payload, nil })
		return err
	})
	require.NoError(t, d.RunUntilIdle(t.Context()))
	counts, err := q.Counts(t.Context(), queue.Filter{})
	require.NoError(t, err)
	require.Equal(t, len(jobs)-1, counts[queue.StateCompleted])
	require.NoError(t, q.Retry(t.Context(), enqueued[0].ID))
	_, err = q.Prune(t.Context())
	require.NoError(t, err)
	findings, err := queueadmin.Doctor(t.Context(), q)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(findings), "problem")
}
