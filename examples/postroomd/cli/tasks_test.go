package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
)

// A rule makes a task of a message; a person lists it, takes it to a calendar, closes it, and takes the action back.
func TestARuleMakesATask(t *testing.T) {
	m := newTeatime(t, "{action: create_task, parameters: {title: Bring cake, notes: for two, due: '2026-12-01T15:00:00Z'}}",
		"", letterNamed(1))
	runOnce(t, m.where...)
	list := func(flags ...string) []view.Task {
		r := m.postroomd(append([]string{"tasks", "list", "--json"}, flags...)...)
		require.Equal(t, 0, r.status, r.stderr)
		var v view.Tasks
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v.List
	}
	tasks := list()
	require.Len(t, tasks, 1)
	require.Equal(t, "Bring cake", tasks[0].Title)
	require.NotEmpty(t, tasks[0].Mailbox)
	id := tasks[0].ID[len(tasks[0].ID)-6:]

	r := m.postroomd("tasks", "show", id, "--ics")
	require.Contains(t, r.stdout, "SUMMARY:Bring cake\r\n")
	require.Contains(t, r.stdout, "DUE:20261201T150000Z\r\n")
	require.Contains(t, m.postroomd("tasks", "show", id).stdout, "for two")

	require.Equal(t, "closed\n", m.postroomd("tasks", "close", id).stdout)
	require.Equal(t, "it is closed already\n", m.postroomd("tasks", "close", id).stdout)
	require.Empty(t, list())
	require.Regexp(t, `(?m)Bring cake +closed$`, m.postroomd("tasks", "list", "--all").stdout)
	require.Equal(t, "reopened\n", m.postroomd("tasks", "reopen", id).stdout)
	require.Contains(t, m.postroomd("actions").stdout, "create_task")

	r = m.postroomd("undo", tasks[0].ID)
	require.Equal(t, 0, r.status, r.stderr)
	runOnce(t, m.where...)
	require.Empty(t, list("--all"))
	r = m.postroomd("tasks", "close", id)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "'postroomd tasks list --all' lists them")
}
