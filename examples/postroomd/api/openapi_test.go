package api_test

import (
	"flag"
	"net/http"
	"os"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

var update = flag.Bool("update", false, "write the golden file anew")

// The description in docs is what 'postroomd openapi' prints; -update writes it.
func TestTheDescriptionInDocs(t *testing.T) {
	const path = "../../../docs/openapi.json"
	text, err := api.OpenAPI()
	require.NoError(t, err)
	text = append(text, '\n')
	if *update {
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	there, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(there), string(text), "run with -update when the change is meant")
}

// Each schema has a plain name of its own, also those whose type is named otherwise.
func TestSchemasHavePlainNames(t *testing.T) {
	d := readDocument(t)
	for of, name := range api.SchemaNames {
		require.Contains(t, d.Components.Schemas, name, "the name of %v, which no call speaks of", of)
	}
	ours := func(*http.Request, webapi.None) (struct{ A webapi.Rule }, error) { panic("it is only described") }
	_, err := webapi.OpenAPI("Test", "1", "", []webapi.Route{webapi.Handle(webapi.Route{Method: "GET", Path: "/x",
		Summary: "x"}, ours)}, map[reflect.Type]string{reflect.TypeFor[webapi.Rule](): "ErrorBody"})
	require.ErrorContains(t, err, "webapi.ErrorBody and webapi.Rule are both ErrorBody: give one of them another name")
}

const starTea = `{"name": "Star", "condition": {"type": "subject_contains", "value": "tea"}, "action": "star"}`

func TestIfMatch(t *testing.T) {
	w := newWorld(t)
	for path, body := range map[string]string{"/rules": starTea, "/instructions": `{"name": "Star", "text": "Star it."}`} {
		recorder, answer := w.try("POST", path, body)
		require.Equal(t, http.StatusOK, recorder.Code, answer)
		made := recorder.Header().Get("ETag")
		require.NotEmpty(t, made, path)
		list := call[[]struct{ ID string }](w, "GET", path, "", http.StatusOK)
		one := path + "/" + list[0].ID
		call[problem](w, "PATCH", one, `{"priority": 7}`, http.StatusPreconditionFailed, "If-Match", `"99"`)
		call[problem](w, "PATCH", one, `{"priority": 7}`, http.StatusBadRequest, "If-Match", "W/"+made)
		call[problem](w, "DELETE", one, "", http.StatusPreconditionFailed, "If-Match", `"99"`)
		call[any](w, "PATCH", one, `{"priority": 7}`, http.StatusOK, "If-Match", made)
		call[problem](w, "PATCH", one, `{"priority": 8}`, http.StatusPreconditionFailed, "If-Match", made)
		recorder, _ = w.try("GET", one, "")
		call[webapi.Removed](w, "DELETE", one, "", http.StatusOK, "If-Match", recorder.Header().Get("ETag"))
	}
	require.Empty(t, call[[]webapi.Rule](w, "GET", "/rules", "", http.StatusOK))
	require.Empty(t, call[[]view.Instruction](w, "GET", "/instructions", "", http.StatusOK))
}

// An error is a problem of RFC 9457; the field error is that of before.
func TestErrorsAreProblems(t *testing.T) {
	w := newWorld(t)
	p := call[problem](w, "GET", "/rules/none", "", http.StatusNotFound)
	require.Equal(t, "Not Found", p.Title)
	require.Equal(t, p.Error, p.Detail)
	require.Contains(t, call[problem](w, "GET", "/rules?acount_id=x", "", http.StatusBadRequest).Detail,
		`there is no parameter "acount_id"`)
	require.Contains(t, call[problem](w, "GET", "/approvals?limit=x", "", http.StatusBadRequest).Detail, "whole number")
	w.as = "wrong"
	call[problem](w, "GET", "/rules", "", http.StatusUnauthorized)
}
