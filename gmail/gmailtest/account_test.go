package gmailtest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// another makes a second mailbox on the server, and its client.
func another(t *testing.T, server *gmailtest.Server, email string) (*gmailtest.Account, *gmail.UsersService) {
	t.Helper()
	account, err := server.Account(t.Context(), email)
	require.NoError(t, err)
	service, err := account.Service(t.Context())
	require.NoError(t, err)
	return account, service.Users
}

func TestAccountsAreApart(t *testing.T) {
	server, users := serve(t, letters(3))
	ann, annUsers := another(t, server, "Ann@example.com")
	require.Equal(t, "Ann@example.com", ann.Email())
	// The same messages, so that their ids are the same.
	_, err := ann.Import(t.Context(), letters(2), nil)
	require.NoError(t, err)
	require.NoError(t, ann.CreateLabels(t.Context(), "Hers"))

	profile, err := annUsers.GetProfile("ann@example.com").Do()
	require.NoError(t, err)
	require.Equal(t, "Ann@example.com", profile.EmailAddress)
	require.EqualValues(t, 2, profile.MessagesTotal)
	list, err := annUsers.Messages.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Messages, 2)
	id := list.Messages[0].Id
	_, err = modify(annUsers, id, []string{"Label_1"}, []string{"INBOX"})
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "UNREAD"}, labels(t, server, id), "the owner's message of the same id")
	_, err = modify(users, id, []string{"Label_1"}, nil)
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	require.NoError(t, annUsers.Messages.Delete("me", id).Do())
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, count)

	_, err = users.GetProfile("ann@example.com").Do()
	requireAPIError(t, err, http.StatusForbidden, "forbidden")
	again, _ := another(t, server, "ann@EXAMPLE.com")
	count, err = again.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count, "the same account")
	for _, email := range []string{"", "ann", "Ann <ann@example.com>", "a@example.com, b@example.com"} {
		_, err := server.Account(t.Context(), email)
		require.ErrorContains(t, err, "is no address")
	}
}

func TestOwnersThatCannotBe(t *testing.T) {
	for email, want := range map[string]string{"you": `"you" is no address`,
		"you+tag@example.com": "comes to you@example.com"} {
		_, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: email})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "Config.Email")
	}
}

// Without OAuth.Required, a token may be anything, but for what looks like a token of Google's that this server did
// not issue.
func TestTokensThatNobodyIssued(t *testing.T) {
	server := open(t, gmailtest.Config{})
	for token, want := range map[string]int{
		"any token": 200, "gmailtest:" + server.Email(): 200, "ya29.any-token": 401, "gmailtest:nobody@example.com": 401, "": 401,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL()+"gmail/v1/users/me/profile", nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := noRedirect.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, token)
	}
}
