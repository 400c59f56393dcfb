package access_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

func table(t *testing.T, texts ...string) access.People {
	t.Helper()
	people, err := access.ParsePeople(texts)
	require.NoError(t, err)
	return people
}

func TestWhoMayDoWhat(t *testing.T) {
	people := table(t, "Ada@example.org=own", "bob@example.org=approve bob@example.org  team@example.org",
		"eve@example.org=see")
	ada, ok := people.Of("ADA@example.org")
	require.True(t, ok)
	bob, _ := people.Of("bob@example.org")
	eve, _ := people.Of("eve@example.org")
	nobody, ok := people.Of("mallory@example.org")
	require.False(t, ok)
	for _, c := range []struct {
		of        access.Person
		role      access.Role
		mailboxes []string
		may       bool
	}{
		{ada, access.Own, []string{access.Everything}, true},
		{ada, access.Own, []string{"any@example.org"}, true},
		{bob, access.Approve, []string{"TEAM@example.org"}, true},
		{bob, access.See, []string{"bob@example.org", "team@example.org"}, true},
		{bob, access.Own, []string{"bob@example.org"}, false},
		{bob, access.See, []string{"bob@example.org", "ada@example.org"}, false},
		{bob, access.See, []string{access.Everything}, false},
		{bob, access.See, []string{""}, false},
		{eve, access.See, []string{access.Everything}, true},
		{eve, access.Approve, nil, false},
		{nobody, access.See, nil, false},
		{nobody, access.Nobody, nil, false},
		{ada, access.Nobody, nil, false},
	} {
		require.Equal(t, c.may, c.of.May(c.role, c.mailboxes...), "%+v", c)
	}
	require.Equal(t, access.Person{}, access.From(t.Context()))
}

func TestFaultsOfATable(t *testing.T) {
	for _, texts := range [][]string{{"ada"}, {"ada@example.org"}, {"ada@example.org="}, {"ada@example.org=admin"},
		{"ada@example.org=own bob"}, {"=own"}, {"ada@example.org=own", "ADA@example.org=see"}, {"Ada <ada@example.org>=own"}} {
		_, err := access.ParsePeople(texts)
		require.Error(t, err, texts)
	}
	_, err := access.ParsePrefixes([]string{"localhost"})
	require.Error(t, err)
}

// who answers with the person of a request.
var who = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte(access.From(r.Context()).Name))
})

func ask(h http.Handler, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "https://mail.example.org/waiting?x=1", nil)
	r.RemoteAddr = "10.1.2.3:4567"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A header field counts from the proxy only, once, and for who is in the table.
func TestAProxySaysWhoPeopleAre(t *testing.T) {
	prefixes, err := access.ParsePrefixes([]string{"10.0.0.0/8", "::1"})
	require.NoError(t, err)
	g, err := access.New(access.Config{People: table(t, "ada@example.org=own"), URL: "https://mail.example.org",
		ProxyHeader: "x-forwarded-email", ProxyAddresses: prefixes})
	require.NoError(t, err)
	protected := g.Protect(who)
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"the proxy":   {func(r *http.Request) { r.Header.Set("X-Forwarded-Email", "ADA@example.org") }, http.StatusOK},
		"nobody":      {nil, http.StatusForbidden},
		"a stranger":  {func(r *http.Request) { r.Header.Set("X-Forwarded-Email", "eve@example.org") }, http.StatusForbidden},
		"no address":  {func(r *http.Request) { r.Header.Set("X-Forwarded-Email", "ada") }, http.StatusForbidden},
		"two at once": {func(r *http.Request) { r.Header["X-Forwarded-Email"] = []string{"ada@example.org", "ada@example.org"} }, http.StatusForbidden},
		"another machine": {func(r *http.Request) {
			r.Header.Set("X-Forwarded-Email", "ada@example.org")
			r.RemoteAddr = "192.0.2.1:9"
		}, http.StatusForbidden},
		"an IPv4 in IPv6": {func(r *http.Request) {
			r.Header.Set("X-Forwarded-Email", "ada@example.org")
			r.RemoteAddr = "[::ffff:10.0.0.1]:9"
		}, http.StatusOK},
		"an empty address": {func(r *http.Request) { r.Header.Set("X-Forwarded-Email", "ada@example.org"); r.RemoteAddr = "" }, http.StatusForbidden},
	} {
		answer := ask(protected, c.change)
		require.Equal(t, c.status, answer.Code, name)
		require.Equal(t, c.status == http.StatusOK, answer.Body.String() == "ada@example.org", name)
	}
	require.True(t, g.Knows("MAIL.example.org"))
	require.False(t, g.Knows("mail.example.org.evil.example"))
	require.False(t, (*access.Guard)(nil).Knows("mail.example.org"))
}

// Without something that says who people are there is no guard.
func TestAGuardNeedsSomebodyToAsk(t *testing.T) {
	key := []byte(strings.Repeat("k", 32))
	for name, cfg := range map[string]access.Config{
		"neither":   {URL: "https://mail.example.org", Key: key},
		"both":      {URL: "https://mail.example.org", Key: key, ProxyHeader: "X", Issuer: "https://id.example"},
		"no url":    {ProxyHeader: "X"},
		"short key": {URL: "https://mail.example.org", Issuer: "https://id.example", Key: key[:31]},
	} {
		_, err := access.New(cfg)
		require.Error(t, err, name)
	}
}

func TestWhatIsOfAllMailboxesIsForThoseWhoHaveAll(t *testing.T) {
	jobs := access.Require(access.See, access.Own, who)
	for name, c := range map[string]struct {
		p      access.Person
		method string
		status int
	}{
		"looks":      {access.Person{Role: access.See}, http.MethodGet, http.StatusOK},
		"changes":    {access.Person{Role: access.Approve}, http.MethodPost, http.StatusForbidden},
		"owns":       {access.Person{Role: access.Own}, http.MethodPost, http.StatusOK},
		"one alone":  {access.Person{Role: access.Own, Mailboxes: []string{"a@example.org"}}, http.MethodGet, http.StatusForbidden},
		"no mailbox": {access.Person{Role: access.Own, Mailboxes: []string{}}, http.MethodGet, http.StatusForbidden},
		"nobody":     {access.Person{}, http.MethodGet, http.StatusForbidden},
	} {
		answer := ask(jobs, func(r *http.Request) { *r = *r.WithContext(access.With(r.Context(), c.p)); r.Method = c.method })
		require.Equal(t, c.status, answer.Code, name)
	}
	require.Equal(t, access.LocalName, ask(access.Local(who), nil).Body.String())
}
