package gmailtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// discovered is a method, or a resource with methods, of the discovery document.
type discovered struct {
	ID         string `json:"id"`
	HTTPMethod string `json:"httpMethod"`
	FlatPath   string `json:"flatPath"`
	Upload     struct {
		MaxSize string `json:"maxSize"`
	} `json:"mediaUpload"`
	Response struct {
		Ref string `json:"$ref"`
	} `json:"response"`
	Parameters map[string]struct {
		Location string `json:"location"`
	} `json:"parameters"`
	Schemas map[string]struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	} `json:"schemas"`
	Scopes    []string              `json:"scopes"`
	Methods   map[string]discovered `json:"methods"`
	Resources map[string]discovered `json:"resources"`
}

// route is the line that the table must have for the method.
func (d discovered) route() gmailtest.Route {
	r := gmailtest.Route{
		ID: gmailtest.Method(strings.TrimPrefix(d.ID, "gmail.users.")), Verb: d.HTTPMethod, Answer: d.Response.Ref,
		Path: strings.TrimPrefix(d.FlatPath, "gmail/v1/users/{userId}"),
	}
	if d.Upload.MaxSize != "" {
		r.Upload, _ = strconv.ParseInt(d.Upload.MaxSize, 10, 64)
	}
	for name, parameter := range d.Parameters {
		if parameter.Location == "query" {
			r.Query = append(r.Query, name)
		}
	}
	slices.Sort(r.Query)
	return r
}

func (d discovered) collect(routes map[gmailtest.Method]gmailtest.Route) {
	for _, method := range d.Methods {
		route := method.route()
		routes[route.ID] = route
	}
	for _, resource := range d.Resources {
		resource.collect(routes)
	}
}

// discovery returns the routes of the document that Google's client library is made from and ships with.
func discovery(t *testing.T) map[gmailtest.Method]gmailtest.Route {
	t.Helper()
	routes := map[gmailtest.Method]gmailtest.Route{}
	document := discoveryDocument(t)
	document.collect(routes)
	return routes
}

func discoveryDocument(t *testing.T) (document discovered) {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "google.golang.org/api").Output()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "gmail", "v1", "gmail-api.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &document))
	return document
}

// colorDescription is where the document lists the colours of labels.
func colorDescription(t *testing.T) string {
	t.Helper()
	return discoveryDocument(t).Schemas["LabelColor"].Properties["textColor"].Description
}

func TestRoutesAreThoseOfTheDiscoveryDocument(t *testing.T) {
	want := discovery(t)
	require.Len(t, want, 79)
	got := map[gmailtest.Method]gmailtest.Route{}
	for _, route := range gmailtest.Routes() {
		require.NotContains(t, got, route.ID)
		route.Implemented = false // the document does not say
		got[route.ID] = route
		require.Positive(t, gmailtest.Units(route.ID), route.ID)
	}
	require.Equal(t, want, got)
}

// ask makes a request that the client library does not make.
func ask(t *testing.T, server *gmailtest.Server, verb, path, body string) (status int, contentType, text string) {
	t.Helper()
	url := strings.TrimSuffix(server.URL(), "/") + path
	request, err := http.NewRequestWithContext(t.Context(), verb, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer gmailtest")
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, response.Header.Get("Content-Type"), string(answer)
}

// Every method of the API is answered as itself: by its handler, or with 501 and its name.
func TestEveryMethodAnswers(t *testing.T) {
	server := gmailtest.NewServer(t)
	for _, route := range gmailtest.Routes() {
		t.Run(string(route.ID), func(t *testing.T) {
			path := strings.NewReplacer("{", "", "}", "").Replace(route.Path)
			status, contentType, text := ask(t, server, route.Verb, "/gmail/v1/users/me"+path, "{}")
			calls := server.Calls()
			require.Equal(t, route.ID, calls[len(calls)-1].Method)
			if status != http.StatusNoContent {
				require.Equal(t, "application/json; charset=UTF-8", contentType)
			}
			if route.Implemented {
				require.Less(t, status, 500, text)
				return
			}
			require.Equal(t, http.StatusNotImplemented, status)
			require.Contains(t, text, "gmailtest does not implement gmail.users."+string(route.ID)+".")
			require.Contains(t, text, `"status": "UNIMPLEMENTED"`)
		})
	}
}

// What is no method of the API is a page with 404, and no JSON that says a message is gone.
func TestUnknownPathsAndVerbs(t *testing.T) {
	server := gmailtest.NewServer(t)
	for name, request := range map[string][2]string{
		"another API":         {"GET", "/calendar/v3/calendars"},
		"root":                {"GET", "/"},
		"unknown resource":    {"GET", "/gmail/v1/users/me/letters"},
		"too deep":            {"GET", "/gmail/v1/users/me/messages/1/2/3"},
		"trailing slash":      {"GET", "/gmail/v1/users/me/messages/"},
		"no user":             {"GET", "/gmail/v1/users//messages"},
		"wrong verb":          {"PUT", "/gmail/v1/users/me/messages/1"},
		"wrong verb of a get": {"POST", "/gmail/v1/users/me/profile"},
		"unknown custom verb": {"POST", "/gmail/v1/users/me/settings/cse/keypairs/1:burn"},
		"no upload":           {"POST", "/upload/gmail/v1/users/me/labels"},
		"markup":              {"GET", "/%3Cscript%3E"},
	} {
		t.Run(name, func(t *testing.T) {
			status, contentType, text := ask(t, server, request[0], request[1], "")
			require.Equal(t, http.StatusNotFound, status)
			require.Equal(t, "text/html; charset=UTF-8", contentType)
			require.Contains(t, text, "was not found on this server")
			require.NotContains(t, text, "<script>")
		})
	}
	require.Len(t, server.Calls(), 11)
	require.Empty(t, server.Calls()[0].Method)
}

func TestQueryParameters(t *testing.T) {
	server, _ := serve(t, letters(3))
	status, _, text := ask(t, server, "GET", "/gmail/v1/users/me/messages?max_results=1&prettyPrint=false&$alt=json", "")
	require.Equal(t, 200, status, text)
	require.Equal(t, 1, strings.Count(text, `"threadId"`), "max_results is maxResults")
	status, _, text = ask(t, server, "GET", "/gmail/v1/users/me/messages?query=x", "")
	require.Equal(t, 400, status)
	require.Contains(t, text, `Field 'query' could not be found in request message.`)
}
