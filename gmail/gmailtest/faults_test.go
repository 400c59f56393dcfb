package gmailtest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

func TestFaultScript(t *testing.T) {
	server, users := serve(t, letters(1))
	server.Fault(
		gmailtest.Fault{Method: gmailtest.GetProfile, Nth: 2, Times: 2, Status: 503},
		gmailtest.Fault{Method: gmailtest.GetProfile, Nth: 5, Times: -1, Status: 403, Reason: "userRateLimitExceeded",
			Message: "User Rate Limit Exceeded"},
	)
	var got []int
	for range 6 {
		_, err := users.GetProfile("me").Do()
		if err == nil {
			got = append(got, 200)
			continue
		}
		var api *googleapi.Error
		require.ErrorAs(t, err, &api)
		got = append(got, api.Code)
	}
	require.Equal(t, []int{200, 503, 503, 200, 403, 403}, got)
	_, err := users.GetProfile("me").Do()
	requireAPIError(t, err, 403, "userRateLimitExceeded")
	_, err = users.Labels.List("me").Do()
	require.NoError(t, err, "another method")
	server.ClearFaults()
	_, err = users.GetProfile("me").Do()
	require.NoError(t, err)
}

// The time to try again is in the text as well as in the header field, by the server's clock, unless the script has
// words of its own.
func TestFaultNamesTheTimeInItsText(t *testing.T) {
	server := open(t, gmailtest.Config{Now: gmailtest.NewClock(noon).Now})
	users := client(t, server)
	again := noon.Add(90 * time.Second).UTC().Format("2006-01-02T15:04:05.000Z")
	for want, fault := range map[string]gmailtest.Fault{
		"User-rate limit exceeded.  Retry after " + again: {Status: 429},
		"Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service 'gmail.googleapis.com'.  Retry after " + again: {
			Status: 403, Reason: "rateLimitExceeded",
		},
		"Service Unavailable.  Retry after " + again: {Status: 503},
		"Slow down": {Status: 429, Message: "Slow down"},
	} {
		fault.RetryAfter = 90 * time.Second
		server.Fault(fault)
		_, err := users.GetProfile("me").Do()
		api, ok := errors.AsType[*googleapi.Error](err)
		require.True(t, ok)
		require.Equal(t, want, api.Message)
		require.Equal(t, "90", api.Header.Get("Retry-After"))
	}
}

func TestFaultAnswers(t *testing.T) {
	server, users := serve(t, letters(1))
	server.Fault(gmailtest.Fault{Status: 429, RetryAfter: 1500 * time.Millisecond})
	_, err := users.GetProfile("me").Do()
	api := requireAPIError(t, err, 429, "rateLimitExceeded")
	require.Equal(t, "2", api.Header.Get("Retry-After"))

	server.Fault(gmailtest.Fault{Path: "/labels", Status: 502, Body: "<html>Bad Gateway"})
	_, err = users.GetProfile("me").Do()
	require.NoError(t, err, "another path")
	_, err = users.Labels.List("me").Do()
	require.ErrorAs(t, err, &api)
	require.Equal(t, 502, api.Code)
	require.Equal(t, "<html>Bad Gateway", api.Body)
	require.Zero(t, server.Calls()[2].Units, "a call that failed costs nothing")
}

func TestAnAnswerThatIsLost(t *testing.T) {
	server, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	message := &gmail.Message{Raw: encoded("To: a@example.com\nMessage-ID: <sent@example.com>\n\n")}

	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutBefore})
	_, err := users.Messages.Send("me", message).Do()
	require.Error(t, err)
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count, "nothing was done")

	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
	_, err = users.Messages.Send("me", message).Do()
	require.Error(t, err)
	require.NotErrorAs(t, err, new(*googleapi.Error))
	find(t, users, "sent@example.com")

	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Cut: gmailtest.CutAfter})
	_, err = modify(users, id, []string{"STARRED"}, nil)
	require.Error(t, err)
	require.Contains(t, labels(t, server, id), "STARRED")
	calls := server.Calls()
	require.True(t, calls[len(calls)-1].Cut)
}

// profileLater asks for the profile in the background.
func profileLater(ctx context.Context, users *gmail.UsersService) <-chan error {
	answered := make(chan error, 1)
	go func() {
		_, err := users.GetProfile("me").Context(ctx).Do()
		answered <- err
	}()
	return answered
}

func TestAGateHoldsACall(t *testing.T) {
	server, users := serve(t, letters(1))
	gate := gmailtest.NewGate()
	server.Fault(gmailtest.Fault{Method: gmailtest.GetProfile, Gate: gate})
	answered := profileLater(t.Context(), users)
	<-gate.Arrived()
	_, err := users.Labels.List("me").Do()
	require.NoError(t, err, "others pass")
	require.Empty(t, answered)
	gate.Open()
	require.NoError(t, <-answered)
}

func TestACallerGivesUpAtTheGate(t *testing.T) {
	server, users := serve(t, letters(1))
	gate := gmailtest.NewGate()
	server.Fault(gmailtest.Fault{Gate: gate})
	ctx, cancel := context.WithCancel(t.Context())
	answered := profileLater(ctx, users)
	<-gate.Arrived()
	cancel()
	require.ErrorIs(t, <-answered, context.Canceled)
}

func TestCloseEndsCallsUnderWay(t *testing.T) {
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{})
	require.NoError(t, err)
	gate := gmailtest.NewGate()
	server.Fault(gmailtest.Fault{Gate: gate})
	answered := profileLater(t.Context(), client(t, server))
	<-gate.Arrived()
	require.NoError(t, server.Close())
	require.Error(t, <-answered)
}

func TestQuota(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		want   int
		text   string
	}{
		"429": {0, 429, "User-rate limit exceeded.  Retry after 2000-01-01T00:01:00.000Z"},
		"403": {403, 403, "of service 'gmail.googleapis.com'.  Retry after 2000-01-01T00:01:00.000Z"},
	} {
		t.Run(name, func(t *testing.T) {
			clock := gmailtest.NewClock(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
			server, err := gmailtest.Open(t.Context(), gmailtest.Config{
				Quota: gmailtest.Quota{PerMinute: 12, Status: test.status},
				Now:   clock.Now,
			})
			require.NoError(t, err)
			defer func() { require.NoError(t, server.Close()) }()
			users := client(t, server)
			for range 2 {
				_, err := users.Messages.List("me").Do() // 5 units
				require.NoError(t, err)
			}
			_, err = users.Messages.List("me").Do()
			api := requireAPIError(t, err, test.want, "rateLimitExceeded")
			require.Contains(t, api.Message, test.text)
			require.Equal(t, "60", api.Header.Get("Retry-After"))
			_, err = users.History.List("me").StartHistoryId(1000).Do() // 2 units
			require.NoError(t, err, "a refused call costs nothing")
			clock.Move(time.Minute)
			_, err = users.Messages.List("me").Do()
			require.NoError(t, err)
			require.Equal(t, 17, server.Units())
			require.Equal(t, map[gmailtest.Method]int{gmailtest.MessagesList: 4, gmailtest.HistoryList: 1}, server.Counts())
		})
	}
}

func TestConfigIsChecked(t *testing.T) {
	for field, cfg := range map[string]gmailtest.Config{
		"Quota.PerMinute": {Quota: gmailtest.Quota{PerMinute: -1}},
		"Quota.Status":    {Quota: gmailtest.Quota{PerMinute: 1, Status: 500}},
	} {
		_, err := gmailtest.Open(t.Context(), cfg)
		require.ErrorContains(t, err, field)
	}
}

// A call whose body nobody has read yet is held like any other: until its caller gives up, or the server is closed.
func TestAHeldCallEnds(t *testing.T) {
	message := &gmail.Message{Raw: encoded("To: a@example.com\n\n" + strings.Repeat("x", 100_000))}
	for name, end := range map[string]func(server *gmailtest.Server, giveUp func()){
		"the caller gives up":  func(_ *gmailtest.Server, giveUp func()) { giveUp() },
		"the server is closed": func(server *gmailtest.Server, _ func()) { assert.NoError(t, server.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			server, err := gmailtest.Open(t.Context(), gmailtest.Config{})
			require.NoError(t, err)
			users := client(t, server)
			gate := gmailtest.NewGate()
			server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Gate: gate},
				gmailtest.Fault{Method: gmailtest.OAuthToken, Delay: time.Hour})
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			ended := make(chan error, 2)
			go func() {
				_, err := users.Messages.Send("me", message).Context(ctx).Do()
				ended <- err
			}()
			go func() {
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.OAuthEndpoint().TokenURL,
					strings.NewReader("grant_type=refresh_token"))
				if err == nil {
					_, err = noRedirect.Do(request) //nolint:bodyclose // there is no answer
				}
				ended <- err
			}()
			<-gate.Arrived()
			end(server, giveUp)
			require.Error(t, <-ended)
			giveUp()
			require.Error(t, <-ended)
			require.NoError(t, server.Close(), "it does not wait for the gate")
		})
	}
}

// The calls of OAuth are noted and truncated as others are.
func TestFaultsOfOAuth(t *testing.T) {
	clock := gmailtest.NewClock(noon)
	server := open(t, gmailtest.Config{Now: clock.Now})
	server.Fault(gmailtest.Fault{Truncate: true})
	post := func() error {
		response, err := noRedirect.PostForm(server.OAuthEndpoint().TokenURL,
			url.Values{"client_id": {"app"}, "grant_type": {"x"}})
		require.NoError(t, err)
		defer response.Body.Close()
		_, err = io.ReadAll(response.Body)
		return err
	}
	require.ErrorIs(t, post(), io.ErrUnexpectedEOF)
	require.NoError(t, post())
	want := gmailtest.Call{Method: gmailtest.OAuthToken, At: noon, Verb: "POST", Path: "/token",
		Body: "client_id=app&grant_type=x", Status: 400}
	calls := server.Calls()
	require.Equal(t, want, calls[1])
	want.Cut = true
	require.Equal(t, want, calls[0])
}
