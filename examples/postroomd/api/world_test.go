package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m, app.Migrate) }

const token = "a token that nobody can guess, it seems"

// A world is a mailbox with postroomd and its API.
type world struct {
	*testing.T
	gmail *gmailtest.Server
	app   *app.App
	api   http.Handler
	as    string // the token
	doc   document
}

func newWorld(t *testing.T, mails ...string) *world {
	t.Helper()
	return newWorldOn(t, "", mails...)
}

// newWorldOn makes a world on a PostgreSQL database; empty: on SQLite.
func newWorldOn(t *testing.T, database string, mails ...string) *world {
	t.Helper()
	return newWorldWith(t, database, func(*config.Config) {}, mails...)
}

// newWorldWith is newWorldOn with changed settings.
func newWorldWith(t *testing.T, database string, change func(*config.Config), mails ...string) *world {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), SpamAndTrash: true,
		OldMail: config.SortOldMail}
	cfg.API = config.API{Token: token, Approver: "api"}
	cfg.Paths.Database = config.Database(database)
	change(&cfg)
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	if !cfg.Paths.Database.Postgres() {
		dbtest.MigratedFile(t, env.Database())
	}
	a, err := app.New(t.Context(), app.Config{Environment: env, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	w := &world{T: t, gmail: server, app: a, as: token, doc: readDocument(t)}
	for _, raw := range mails {
		_, err := server.Deliver(t.Context(), []byte(strings.ReplaceAll(raw, "\n", "\r\n")))
		require.NoError(t, err)
	}
	w.work()
	handler, err := api.New(a)
	require.NoError(t, err)
	t.Cleanup(handler.Close)
	w.api = handler
	return w
}

// work takes in the mail, and carries out what is to be done.
func (w *world) work() {
	w.Helper()
	_, err := w.app.Worked(w.Context())
	require.NoError(w, err)
	faults, err := w.app.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
}

// try makes a call, and returns its status and answer, which must be as the description of the API says.
func (w *world) try(method, path, body string, fields ...string) (*httptest.ResponseRecorder, string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 10*time.Minute) // a stream that must not begin ends as well
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, method, "https://api.example.org/api/v1"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.as)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, r)
	w.doc.check(w.T, r, recorder)
	return recorder, recorder.Body.String()
}

// call makes a call that is answered with the status, and returns the answer.
func call[T any](w *world, method, path, body string, status int, fields ...string) (v T) {
	w.Helper()
	recorder, answer := w.try(method, path, body, fields...)
	require.Equal(w, status, recorder.Code, "%s %s: %s", method, path, answer)
	require.NoError(w, json.Unmarshal([]byte(answer), &v))
	return v
}

// serve makes a call by the token.
func (w *world) serve(r *http.Request) (status int, answer string) {
	r.Header.Set("Authorization", "Bearer "+w.as)
	recorder := httptest.NewRecorder()
	w.api.ServeHTTP(recorder, r)
	return recorder.Code, recorder.Body.String()
}

type problem = struct{ Title, Detail, Error string }

// A document is the description of the API.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Scope     string `json:"x-scope"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

func readDocument(t *testing.T) (d document) {
	t.Helper()
	text, err := api.OpenAPI()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// resolvedSchemas keeps the schemas of answers, by their text and the document's: the race detector makes reading one
// ten times as slow as the call itself.
var resolvedSchemas sync.Map

// operation returns what the document says of a request; nothing if there is no such call.
func (d document) operation(r *http.Request) (operation, bool) {
	mux, found := http.NewServeMux(), operation{}
	for path, methods := range d.Paths {
		for method, o := range methods {
			mux.HandleFunc(strings.ToUpper(method)+" "+path, func(http.ResponseWriter, *http.Request) { found = o })
		}
	}
	handler, pattern := mux.Handler(r)
	if pattern == "" || !strings.Contains(pattern, " /api/") {
		return found, false
	}
	handler.ServeHTTP(httptest.NewRecorder(), r)
	return found, true
}

// check compares an answer with the document.
func (d document) check(t *testing.T, r *http.Request, answer *httptest.ResponseRecorder) {
	t.Helper()
	o, known := d.operation(r)
	if answer.Code != http.StatusOK {
		require.Equal(t, "application/problem+json", answer.Header().Get("Content-Type"))
		d.validate(t, json.RawMessage(`{"$ref": "#/components/schemas/ErrorBody"}`), answer.Body.Bytes())
		return
	}
	require.True(t, known, "%s %s is not described", r.Method, r.URL.Path)
	if content, ok := o.Responses["200"].Content["application/json"]; ok {
		require.Equal(t, "application/json", answer.Header().Get("Content-Type"))
		d.validate(t, content.Schema, answer.Body.Bytes())
	}
}

func (d document) validate(t *testing.T, schema json.RawMessage, answer []byte) {
	t.Helper()
	whole, err := json.Marshal(map[string]any{"$defs": d.Components.Schemas, "allOf": []json.RawMessage{schema}})
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(answer, &value))
	require.NoError(t, resolve(t, string(whole)).Validate(value), "%s", answer)
}

func resolve(t *testing.T, schema string) *jsonschema.Resolved {
	t.Helper()
	if known, ok := resolvedSchemas.Load(schema); ok {
		return known.(*jsonschema.Resolved)
	}
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(schema, "#/components/schemas/", "#/$defs/")), &s))
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	resolvedSchemas.Store(schema, resolved)
	return resolved
}

// mail makes a message.
func mail(from, subject string) string {
	return "From: " + from + "\nTo: " + sample.Owner + "\nSubject: " + subject + "\nMessage-ID: <" + subject +
		"@example.com>\n\nAt five?\n"
}
