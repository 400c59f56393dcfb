package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func TestNotesAreListed(t *testing.T) {
	vault := t.TempDir()
	w := newWorldWith(t, "", func(c *config.Config) {
		c.Notes.Folder, c.Notes.Path = config.Path(vault), "{{subject}}"
	}, mail("ann@example.com", "tea"))
	w.decide(`{"name": "Tea", "condition": {"type": "subject_contains", "value": "tea"}, "action": "add_note",
		"parameters": {"note": "Green tea"}}`, "subject:tea")
	list := call[view.Notes](w, "GET", "/notes", "", http.StatusOK).List
	require.Len(t, list, 1)
	require.Len(t, call[view.Notes](w, "GET", "/notes?message="+list[0].MessageID, "", http.StatusOK).List, 1)
	require.Equal(t, "tea.md", list[0].Path)
	require.Equal(t, "Green tea", call[view.Note](w, "GET", "/notes/"+list[0].ID, "", http.StatusOK).Text)
	require.Empty(t, call[view.Notes](w, "GET", "/notes?message=none", "", http.StatusOK).List)
	call[problem](w, "GET", "/notes/none", "", http.StatusNotFound)
}
