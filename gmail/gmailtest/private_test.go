package gmailtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// answered returns the status of a request of another program.
func answered(t *testing.T, method, url, host, token string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	require.NoError(t, err)
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	return answer.StatusCode
}

// Another user of the machine knows the port, the address and this package; what is missing is the token.
func TestATokenKeepsOthersOut(t *testing.T) {
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Token: "secret"})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	_, err = server.Deliver(t.Context(), []byte("From: ann@example.com\r\nSubject: Tea?\r\n\r\nAt five.\r\n"))
	require.NoError(t, err)
	list := server.URL() + "gmail/v1/users/me/messages"
	for token, want := range map[string]int{
		"secret": http.StatusOK, "secre": http.StatusUnauthorized, "demo": http.StatusUnauthorized,
		"ya29.x": http.StatusUnauthorized, "gmailtest:" + server.Email(): http.StatusUnauthorized, "": http.StatusUnauthorized,
	} {
		require.Equal(t, want, answered(t, http.MethodGet, list, "", token), token)
	}
	require.Equal(t, http.StatusUnauthorized, answered(t, http.MethodGet, list+"?access_token=demo", "", ""))
	for _, path := range []string{
		"o/oauth2/v2/auth", "o/oauth2/auth", "token", "revoke", "oauth2/v3/userinfo", "gmailtest/calls",
		"gmailtest/accounts",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			got := answered(t, method, server.URL()+path, "", "secret")
			require.GreaterOrEqual(t, got, http.StatusBadRequest, path)
		}
	}
	service, err := server.Service(t.Context())
	require.NoError(t, err)
	_, err = service.Users.GetProfile("me").Do()
	require.NoError(t, err, "its own client has the token")
}

func TestATokenGoesWithNoSignIn(t *testing.T) {
	for _, cfg := range []gmailtest.Config{
		{Token: "secret", Control: true},
		{Token: "secret", OAuth: gmailtest.OAuth{Required: true}},
	} {
		_, err := gmailtest.Open(t.Context(), cfg)
		require.ErrorContains(t, err, "Config.Token")
	}
}

// A page whose name server answers with 127.0.0.1 has the same origin as the server.
func TestAPageIsRefusedByItsName(t *testing.T) {
	server := gmailtest.NewServer(t)
	at := strings.TrimSuffix(strings.TrimPrefix(server.URL(), "http://"), "/")
	for host, want := range map[string]int{
		at: http.StatusOK, "localhost": http.StatusOK, "[::1]:80": http.StatusOK,
		"evil.example":              http.StatusMisdirectedRequest,
		"127.0.0.1.evil.example:80": http.StatusMisdirectedRequest,
	} {
		for _, path := range []string{"gmail/v1/users/me/profile", "discovery/v1/apis/gmail/v1/rest", "o/oauth2/v2/auth"} {
			got := answered(t, http.MethodGet, server.URL()+path, host, "any")
			require.Equal(t, want == http.StatusMisdirectedRequest, got == http.StatusMisdirectedRequest, host+" "+path)
		}
	}
	everywhere, err := gmailtest.Open(t.Context(), gmailtest.Config{Listen: "0.0.0.0:0"})
	require.NoError(t, err)
	defer func() { require.NoError(t, everywhere.Close()) }()
	require.Equal(t, http.StatusOK,
		answered(t, http.MethodGet, everywhere.URL()+"gmail/v1/users/me/profile", "gmail.test", "any"))
}
