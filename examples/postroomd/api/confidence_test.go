package api_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
)

// Actions and undos are selected by how sure the decision was.
func TestActionsAreSelectedByConfidence(t *testing.T) {
	eachModel(t, func(t *testing.T, w *world) {
		list := func(query string) (kinds []string) {
			for _, a := range call[view.Actions](w, "GET", "/actions?"+query, "", http.StatusOK).List {
				kinds = append(kinds, a.Did)
			}
			return kinds
		}
		all := list("source=llm")
		require.Len(t, all, 2)
		sure, unsure := list("min_confidence=0.9"), list("max_confidence=0.89")
		require.Len(t, sure, 1)
		require.Len(t, unsure, 1)
		require.ElementsMatch(t, all, append(sure, unsure...))
		require.Empty(t, list("min_confidence=0.6&max_confidence=0.8"))
		for _, wrong := range []string{"min_confidence=1.1", "max_confidence=sure", "min_confidence=0.9&max_confidence=0.1",
			"min_confidence=NaN"} {
			require.Contains(t, call[problem](w, "GET", "/actions?"+wrong, "", http.StatusUnprocessableEntity).Detail,
				"confidence", url.QueryEscape(wrong))
		}
		preview := call[struct{ Undone int }](w, "POST", "/undo/preview", `{"min_confidence": "0.9"}`, http.StatusOK)
		require.Equal(t, 1, preview.Undone)
		preview = call[struct{ Undone int }](w, "POST", "/undo/preview", `{"max_confidence": "0.89"}`, http.StatusOK)
		require.Zero(t, preview.Undone)
	})
}
