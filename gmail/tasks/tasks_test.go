package tasks_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

var noon = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)

// onBoth runs a test with a store on each engine, whose clock stands.
func onBoth(t *testing.T, test func(t *testing.T, db queue.DB, s *tasks.Store)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, tasks.Migrate(t.Context(), db))
		s, err := tasks.New(tasks.Config{DB: db, Now: func() time.Time { return noon }})
		require.NoError(t, err)
		test(t, db, s)
	})
}

func action(id string, p postroom.Parameters) postroom.Action {
	return postroom.Action{ID: id, AccountID: "ada", MessageID: "m-" + id, Type: postroom.CreateTask, Parameters: p}
}

// carryOut does what the action's job does, or that of its undo.
func carryOut(t *testing.T, db queue.DB, s *tasks.Store, a postroom.Action, undo bool) {
	t.Helper()
	k := s.Kind()
	var commit postroom.Commit
	if undo {
		var err error
		commit, err = k.Undo(t.Context(), nil, a)
		require.NoError(t, err)
	} else {
		outcome, err := k.Handler(t.Context(), nil, a)
		require.NoError(t, err)
		commit = outcome.Commit
	}
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error { return commit(ctx, tx) }))
}

func TestAnActionMakesOneTask(t *testing.T) {
	onBoth(t, func(t *testing.T, db queue.DB, s *tasks.Store) {
		due := noon.Add(48 * time.Hour)
		a := action("1", postroom.Parameters{"title": "Pay\x00 the bill", "due": due.Format(time.RFC3339),
			"notes": "by card"})
		carryOut(t, db, s, a, false)
		carryOut(t, db, s, a, false)

		list, err := s.List(t.Context(), tasks.Filter{})
		require.NoError(t, err)
		require.Len(t, list, 1)
		task := list[0]
		require.True(t, task.Open())
		require.Equal(t, due, task.Due)
		task.Title = strings.ReplaceAll(task.Title, "\uFFFD", "")
		require.Equal(t, tasks.Task{ID: "1", AccountID: "ada", MessageID: "m-1", Title: "Pay the bill", Notes: "by card",
			Due: due, CreatedAt: noon}, task)

		carryOut(t, db, s, a, true)
		_, err = s.Task(t.Context(), "1")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestATaskIsClosedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, db queue.DB, s *tasks.Store) {
		carryOut(t, db, s, action("1", postroom.Parameters{"title": "Call Ben"}), false)

		closed, err := s.Close(t.Context(), "1", "ada")
		require.NoError(t, err)
		require.True(t, closed)
		closed, err = s.Close(t.Context(), "1", "somebody else")
		require.NoError(t, err)
		require.False(t, closed)
		task, err := s.Task(t.Context(), "1")
		require.NoError(t, err)
		require.False(t, task.Open())
		require.Equal(t, "ada", task.ClosedBy)
		require.Equal(t, noon, task.ClosedAt)

		for _, want := range []bool{true, false} {
			reopened, err := s.Reopen(t.Context(), "1")
			require.NoError(t, err)
			require.Equal(t, want, reopened)
		}
		task, err = s.Task(t.Context(), "1")
		require.NoError(t, err)
		require.True(t, task.Open())
		require.Empty(t, task.ClosedBy)

		_, err = s.Close(t.Context(), "no such task", "ada")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestTasksAreListedByPages(t *testing.T) {
	onBoth(t, func(t *testing.T, db queue.DB, s *tasks.Store) {
		for i := range 7 {
			carryOut(t, db, s, action(strconv.Itoa(i), postroom.Parameters{"title": "a task"}), false)
		}
		_, err := s.Close(t.Context(), "3", "ada")
		require.NoError(t, err)

		var ids []string
		for f := (tasks.Filter{AccountID: "ada", OpenOnly: true, Limit: 2}); ; {
			page, err := s.List(t.Context(), f)
			require.NoError(t, err)
			if len(page) == 0 {
				break
			}
			for _, task := range page {
				ids = append(ids, task.ID)
			}
			f.Before = page[len(page)-1].ID
		}
		require.Equal(t, []string{"6", "5", "4", "2", "1", "0"}, ids)

		none, err := s.List(t.Context(), tasks.Filter{AccountID: "ben"})
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = s.List(t.Context(), tasks.Filter{Limit: 1001})
		require.ErrorContains(t, err, "from 1 to 1000")

		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return s.Forget(ctx, tx, "ada")
		}))
		left, err := s.List(t.Context(), tasks.Filter{})
		require.NoError(t, err)
		require.Empty(t, left)
	})
}

// Titles come from mail, by way of rules and models.
func TestATaskIsOneVTODO(t *testing.T) {
	task := tasks.Task{ID: "01a2", Title: "Pay\r\nEND:VTODO\r\nBEGIN:VEVENT, now; \\", Notes: "two\nlines\x07",
		Due: noon.Add(time.Hour), CreatedAt: noon, ClosedAt: noon.Add(time.Minute), ClosedBy: "ada"}
	text := string(task.ICS())
	calendar, err := ics.ParseCalendar(strings.NewReader(text))
	require.NoError(t, err, text)
	require.Len(t, calendar.Components, 1, text)
	todo := calendar.Todos()[0]
	get := func(name ics.ComponentProperty) string { return todo.GetProperty(name).Value }
	require.Equal(t, "Pay\nEND:VTODO\nBEGIN:VEVENT, now; \\", get(ics.ComponentPropertySummary), text)
	require.Equal(t, "two\nlines", get(ics.ComponentPropertyDescription))
	require.Equal(t, "01a2", get(ics.ComponentPropertyUniqueId))
	require.Equal(t, "20261201T130000Z", get(ics.ComponentPropertyDue))
	require.Equal(t, "COMPLETED", get(ics.ComponentPropertyStatus))
	require.Equal(t, "20261201T120100Z", get(ics.ComponentPropertyCompleted))

	task = tasks.Task{ID: "1", Title: "open", CreatedAt: noon}
	require.Contains(t, string(task.ICS()), "STATUS:NEEDS-ACTION\r\n")
	require.NotContains(t, string(task.ICS()), "DUE")
}

func TestAKindWithoutStoreDescribesOnly(t *testing.T) {
	var none *tasks.Store
	k := none.Kind()
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{k}})
	require.NoError(t, err)
	_, known := kinds.Kind(postroom.CreateTask)
	require.True(t, known)
	_, err = k.Handler(t.Context(), nil, action("1", nil))
	require.ErrorContains(t, err, "nil Store")
	_, err = k.Undo(t.Context(), nil, action("1", nil))
	require.ErrorContains(t, err, "nil Store")
}

func TestTheConfigIsChecked(t *testing.T) {
	_, err := tasks.New(tasks.Config{})
	require.ErrorContains(t, err, "Config.DB")
	require.ErrorContains(t, tasks.Migrate(t.Context(), nil), "db")
}
