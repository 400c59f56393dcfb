package gmailtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
)

// Google's JSON takes the names of its protocol buffers as well, and numbers of 64 bits with and without quotes, as
// its own examples in Python write them.
func TestSpellingsOfJSON(t *testing.T) {
	server, users := serve(t, nil)
	status, _, text := ask(t, server, "PUT", "/gmail/v1/users/me/settings/vacation",
		`{"enable_auto_reply": true, "response_subject": "Away", "startTime": 1767225600000, "endTime": "1767312000000"}`)
	require.Equal(t, 200, status, text)
	vacation, err := users.Settings.GetVacation("me").Do()
	require.NoError(t, err)
	require.True(t, vacation.EnableAutoReply)
	require.Equal(t, "Away", vacation.ResponseSubject)
	require.Equal(t, []int64{1767225600000, 1767312000000}, []int64{vacation.StartTime, vacation.EndTime})

	status, _, text = ask(t, server, "POST", "/gmail/v1/users/me/labels",
		`{"name": "A", "color": {"text_color": "#000000", "background_color": "#ffffff"}}`)
	require.Equal(t, 200, status, text)
	require.Contains(t, text, `"backgroundColor": "#ffffff"`)

	status, _, text = ask(t, server, "PATCH", "/gmail/v1/users/me/settings/sendAs/you@example.com",
		`{"display_name": "You"}`)
	require.Equal(t, 200, status, text)
	require.Contains(t, text, `"displayName": "You"`)
}

// A field that nobody knows is a mistake of the program, and Google says so.
func TestFieldsOfJSONThatAreNone(t *testing.T) {
	server, users := serve(t, letters(1))
	path := "/messages/" + find(t, users, "0@example.com") + "/modify"
	for _, test := range []struct{ verb, path, body, want string }{
		{"POST", path, `{"addLabelId": ["STARRED"], "removeLabelIds": ["UNREAD"]}`, `Unknown name \"addLabelId\": Cannot find field.`},
		{"POST", path, `{"removeLabelIds": ["UNREAD"]} {}`, "there is more after the object"},
		{"POST", path, `{"removeLabelIds": "UNREAD"}`, "cannot unmarshal string"},
		{"POST", path, `{"removeLabelIds": ["UNREAD"]`, "Invalid JSON payload received."},
		{"POST", "/drafts", `{"raw": "aGk"}`, `Unknown name \"raw\": Cannot find field.`},
		{"POST", "/drafts", `{"message": {"row": "aGk"}}`, `Unknown name \"row\" at 'message': Cannot find field.`},
		{"POST", "/messages", `{"payload": {"parts": [{}, {"nome": ""}]}}`, `Unknown name \"nome\" at 'payload.parts[1]': Cannot find field.`},
		{"PATCH", "/settings/sendAs/you@example.com", `{"name": "You"}`, `Unknown name \"name\": Cannot find field.`},
	} {
		status, _, text := ask(t, server, test.verb, "/gmail/v1/users/me"+test.path, test.body)
		require.Equal(t, 400, status, "%s: %s", test.body, text)
		require.Contains(t, text, test.want)
	}
	message, err := users.Messages.Get("me", find(t, users, "0@example.com")).Do()
	require.NoError(t, err)
	require.Contains(t, message.LabelIds, "UNREAD", "nothing was done")
}

// The token may stand in the query, as the discovery document has it, and the name of its scheme in any case (RFC
// 9110, section 11.1).
func TestWhereTokensStand(t *testing.T) {
	server, _ := serve(t, nil)
	for _, test := range []struct {
		query, header string
		status        int
	}{
		{"?access_token=any", "", 200},
		{"?oauth_token=any", "", 200},
		{"", "bearer any", 200},
		{"?access_token=any", "Basic eW91Og==", 401},
		{"?access_token=", "", 401},
		{"", "Bearer ", 401},
		{"", "any", 401},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"gmail/v1/users/me/profile"+
			test.query, nil)
		require.NoError(t, err)
		if test.header != "" {
			request.Header.Set("Authorization", test.header)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, test.status, response.StatusCode, "%q %q", test.query, test.header)
	}
}

// What Google's library for Go sends is read as it is, also what only answers have.
func TestARequestWithAllFields(t *testing.T) {
	_, users := serve(t, nil)
	inserted, err := users.Messages.Insert("me", &gmail.Message{
		Raw: encoded("Subject: Hi\n\n"), HistoryId: 5, InternalDate: 7, SizeEstimate: 9, Snippet: "Hi",
		LabelIds: []string{"INBOX"},
		Payload: &gmail.MessagePart{Parts: []*gmail.MessagePart{{Headers: []*gmail.MessagePartHeader{{Name: "A",
			Value: strings.Repeat("b", 9)}}}}},
	}).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX"}, inserted.LabelIds)
}
