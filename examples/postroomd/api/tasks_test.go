package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
)

const taskOfTea = `{"name": "Tea", "condition": {"type": "subject_contains", "value": "tea"}, "action": "create_task",
	"parameters": {"title": "Buy tea"}}`

func TestTasksAreListedAndClosed(t *testing.T) {
	each(t, func(w *world) {
		w.decide(taskOfTea, "subject:tea")
		list := call[view.Tasks](w, "GET", "/tasks", "", http.StatusOK).List
		require.Len(t, list, 1)
		require.Equal(t, "Buy tea", list[0].Title)
		closed := call[view.Task](w, "POST", "/tasks/"+list[0].ID+"/close", "", http.StatusOK)
		require.False(t, closed.Open())
		require.NotEmpty(t, closed.ClosedBy)
		require.Empty(t, call[view.Tasks](w, "GET", "/tasks", "", http.StatusOK).List)
		require.Len(t, call[view.Tasks](w, "GET", "/tasks?all=true", "", http.StatusOK).List, 1)
		require.True(t, call[view.Task](w, "POST", "/tasks/"+list[0].ID+"/reopen", "", http.StatusOK).Open())
		call[problem](w, "POST", "/tasks/none/close", "", http.StatusNotFound)
	})
}
