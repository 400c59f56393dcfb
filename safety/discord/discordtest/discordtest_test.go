package discordtest_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ann = discordtest.User{ID: "53908232506183680", Username: "ann"}

// A redirect sends the calls of discordgo to the server under test.
type redirect struct {
	to   *url.URL
	next *http.Transport
}

func (r redirect) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host = r.to.Scheme, r.to.Host
	return r.next.RoundTrip(request)
}

// connect makes a session of discordgo at a server of its own.
func connect(t *testing.T, token string) (*discordtest.Server, *discordgo.Session) {
	t.Helper()
	server := discordtest.Start(discordtest.Config{})
	t.Cleanup(server.Close)
	s, err := discordgo.New("Bot " + token)
	require.NoError(t, err)
	to, err := url.Parse(server.URL())
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s.Client = &http.Client{Transport: redirect{to, transport}}
	s.LogLevel, s.ShouldReconnectOnError, s.ShouldRetryOnRateLimit, s.MaxRestRetries = -1, false, false, 0
	return server, s
}

func buttons(ids ...string) []discordgo.MessageComponent {
	var row discordgo.ActionsRow
	for _, id := range ids {
		row.Components = append(row.Components, discordgo.Button{Label: id, CustomID: id, Style: discordgo.PrimaryButton})
	}
	return []discordgo.MessageComponent{row}
}

// code is that of Discord's error.
func code(t *testing.T, err error) int {
	t.Helper()
	var failed *discordgo.RESTError
	require.True(t, errors.As(err, &failed), "%v", err)
	require.NotNil(t, failed.Message)
	return failed.Message.Code
}

func TestMessages(t *testing.T) {
	server, s := connect(t, "bot-token")
	channel := server.Channel()
	m, err := s.ChannelMessageSendComplex(channel, &discordgo.MessageSend{
		Content: "hello", Components: buttons("a", "b"),
		Embeds: []*discordgo.MessageEmbed{{Title: "title",
			Fields: []*discordgo.MessageEmbedField{{Name: "n", Value: "v"}}}},
		AllowedMentions: &discordgo.MessageAllowedMentions{},
	})
	require.NoError(t, err)
	kept := server.Messages()[0]
	require.Equal(t, "hello\ntitle\nn: v", kept.Text())
	require.Contains(t, string(kept.AllowedMentions), `"parse":null`)
	sent, err := discordgo.SnowflakeTimestamp(m.ID)
	require.NoError(t, err)
	require.WithinDuration(t, m.Timestamp, sent, time.Second, "the id has the time")

	read, err := s.ChannelMessage(channel, m.ID)
	require.NoError(t, err)
	require.Equal(t, m.Content, read.Content)
	row, ok := read.Components[0].(*discordgo.ActionsRow)
	require.True(t, ok)
	require.Len(t, row.Components, 2)
	require.Equal(t, server.Bot().ID, read.Author.ID)

	text := "bye"
	_, err = s.ChannelMessageEditComplex(&discordgo.MessageEdit{Channel: channel, ID: m.ID, Content: &text,
		Components: &[]discordgo.MessageComponent{}})
	require.NoError(t, err)
	kept = server.Messages()[0]
	require.Equal(t, "bye", kept.Content)
	require.Empty(t, kept.Components)
	require.Len(t, kept.Embeds, 1, "what an edit leaves out stays")
	require.Equal(t, 1, kept.Edits)

	other := server.Write(ann, "mine")
	_, err = s.ChannelMessageEdit(channel, other.ID, "yours")
	require.Equal(t, 50005, code(t, err))
	require.NoError(t, s.ChannelMessageDelete(channel, m.ID))
	require.Equal(t, 10008, code(t, s.ChannelMessageDelete(channel, m.ID)))
	_, err = s.ChannelMessageSend("1", "hello")
	require.Equal(t, 10003, code(t, err))
}

func TestListsHavePages(t *testing.T) {
	server, s := connect(t, "bot-token")
	var ids []string
	for range 7 {
		ids = append(ids, server.Write(ann, "x").ID)
	}
	list := func(limit int, before, after string) (got []string) {
		page, err := s.ChannelMessages(server.Channel(), limit, before, after, "")
		require.NoError(t, err)
		for _, m := range page {
			got = append(got, m.ID)
		}
		return got
	}
	require.Equal(t, []string{ids[6], ids[5], ids[4]}, list(3, "", ""), "newest first")
	require.Equal(t, []string{ids[3], ids[2], ids[1]}, list(3, ids[4], ""), "those right before")
	require.Equal(t, []string{ids[2], ids[1]}, list(2, "", ids[0]), "those right after")
	require.Len(t, list(100, "", "1"), 7)
	_, err := s.ChannelMessages(server.Channel(), 101, "", "", "")
	require.Equal(t, 50035, code(t, err))
}

func TestLimitsOfMessages(t *testing.T) {
	server, s := connect(t, "bot-token")
	long := strings.Repeat("x", 2001)
	for name, m := range map[string]*discordgo.MessageSend{
		"empty":           {},
		"long":            {Content: long},
		"long title":      {Embeds: []*discordgo.MessageEmbed{{Title: long}}},
		"long in UTF-16":  {Content: strings.Repeat("😀", 1001)},
		"empty field":     {Embeds: []*discordgo.MessageEmbed{{Fields: []*discordgo.MessageEmbedField{{Name: "n"}}}}},
		"long together":   {Embeds: []*discordgo.MessageEmbed{{Description: long}, {Description: long}, {Description: long}}},
		"custom id":       {Components: buttons(strings.Repeat("x", 101))},
		"custom id twice": {Components: buttons("a", "a")},
		"six buttons":     {Components: buttons("a", "b", "c", "d", "e", "f")},
		"no row":          {Components: []discordgo.MessageComponent{discordgo.Button{Label: "a", CustomID: "a", Style: discordgo.PrimaryButton}}},
	} {
		_, err := s.ChannelMessageSendComplex(server.Channel(), m)
		want := 50035
		if name == "empty" {
			want = 50006
		}
		require.Equal(t, want, code(t, err), name)
	}
	require.Empty(t, server.Messages())
}

func TestNoncesAreEnforced(t *testing.T) {
	server, s := connect(t, "bot-token")
	endpoint := discordgo.EndpointChannelMessages(server.Channel())
	post := func(nonce string, enforce bool) {
		_, err := s.RequestWithBucketID("POST", endpoint, map[string]any{"content": "x", "nonce": nonce,
			"enforce_nonce": enforce}, endpoint)
		require.NoError(t, err)
	}
	post("one", true)
	post("one", true)
	require.Len(t, server.Messages(), 1)
	post("two", true)
	post("one", false)
	require.Len(t, server.Messages(), 3)
	server.ForgetNonces()
	post("one", true)
	require.Len(t, server.Messages(), 4)
	_, err := s.RequestWithBucketID("POST", endpoint, map[string]any{"content": "x", "nonce": strings.Repeat("x", 26)},
		endpoint)
	require.Equal(t, 50035, code(t, err))
}

func TestFaultsAndLimits(t *testing.T) {
	server, s := connect(t, "bot-token")
	server.Fault(
		discordtest.Fault{Method: "POST", Nth: 2, Status: http.StatusTooManyRequests, RetryAfter: 1500 * time.Millisecond},
		discordtest.Fault{Method: "POST", Nth: 3, Cut: discordtest.CutAfter},
		discordtest.Fault{Path: "/users", Status: http.StatusForbidden, Code: 50001, Message: "Missing Access", Times: -1},
	)
	send := func() error {
		// A limiter of its own: discordgo's would sleep for as long as the server asks.
		s.Ratelimiter = discordgo.NewRatelimiter()
		_, err := s.ChannelMessageSend(server.Channel(), "x")
		return err
	}
	require.NoError(t, send())
	var limited *discordgo.RateLimitError
	require.ErrorAs(t, send(), &limited)
	require.Equal(t, 1500*time.Millisecond, limited.RetryAfter)
	bucket := s.Ratelimiter.GetBucket(discordgo.EndpointChannelMessages(server.Channel()))
	require.Positive(t, s.Ratelimiter.GetWaitTime(bucket, 1))
	require.Error(t, send())
	require.Len(t, server.Messages(), 2, "it was done, and not told")
	_, err := s.User("@me")
	require.Equal(t, 50001, code(t, err))
	server.ClearFaults()
	require.NoError(t, send())
	_, err = s.User("@me")
	require.NoError(t, err)
	server.Fault(discordtest.Fault{Method: "POST", ResetAfter: time.Minute})
	require.NoError(t, send())
	bucket = s.Ratelimiter.GetBucket(discordgo.EndpointChannelMessages(server.Channel()))
	require.Positive(t, s.Ratelimiter.GetWaitTime(bucket, 1))
	require.Equal(t, 5, server.Count("POST", "/messages"))
	require.Equal(t, "POST /channels/"+server.Channel()+"/messages", server.Calls()[0])
}

func TestAWrongTokenIsRefused(t *testing.T) {
	server, s := connect(t, "wrong")
	_, err := s.ChannelMessageSend(server.Channel(), "x")
	require.ErrorContains(t, err, "401")
	require.ErrorContains(t, s.Open(), "4004")
}

// A button is pressed, heard over the gateway, answered once, and the answer is edited.
func TestInteractions(t *testing.T) {
	server, s := connect(t, "bot-token")
	m, err := s.ChannelMessageSendComplex(server.Channel(),
		&discordgo.MessageSend{Content: "x", Components: buttons("go")})
	require.NoError(t, err)
	heard := make(chan *discordgo.Interaction, 10)
	s.AddHandler(func(_ *discordgo.Session, i *discordgo.InteractionCreate) { heard <- i.Interaction })
	require.NoError(t, s.Open())
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.Equal(t, 1, server.Connected())

	_, err = server.Press(discordtest.Press{MessageID: "1", Label: "go"})
	require.ErrorContains(t, err, `there is no message "1"`)
	_, err = server.Press(discordtest.Press{MessageID: m.ID, Label: "stop"})
	require.ErrorContains(t, err, `has no button "stop"`)

	in, err := server.Press(discordtest.Press{MessageID: m.ID, Label: "go", User: ann})
	require.NoError(t, err)
	i := <-heard
	require.Equal(t, ann.ID, i.Member.User.ID)
	require.Equal(t, m.ID, i.Message.ID)
	require.Equal(t, "go", i.MessageComponentData().CustomID)
	_, err = s.InteractionResponse(i)
	require.Equal(t, 10008, code(t, err), "there is no answer yet")
	later := &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
		Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral},
	}
	require.NoError(t, s.InteractionRespond(i, later))
	require.True(t, in.Deferred())
	require.Equal(t, 40060, code(t, s.InteractionRespond(i, later)))
	text := "done"
	_, err = s.InteractionResponseEdit(i, &discordgo.WebhookEdit{Content: &text})
	require.NoError(t, err)
	said, err := in.Answer(t.Context())
	require.NoError(t, err)
	require.Equal(t, "done", said)

	in, err = server.Press(discordtest.Press{MessageID: m.ID, Label: "go", User: ann, Direct: true})
	require.NoError(t, err)
	i = <-heard
	require.Nil(t, i.Member)
	require.Equal(t, ann.ID, i.User.ID)
	require.NoError(t, s.InteractionRespond(i, &discordgo.InteractionResponse{
		Type: discordgo.InteractionResponseUpdateMessage, Data: &discordgo.InteractionResponseData{Content: "pressed",
			Components: []discordgo.MessageComponent{}},
	}))
	require.Equal(t, "pressed", server.Messages()[0].Content)
	in.Redeliver()
	require.Equal(t, i.ID, (<-heard).ID)
	_, err = server.Press(discordtest.Press{MessageID: m.ID, Label: "go"})
	require.Error(t, err, "the button is gone")
	in, err = server.Press(discordtest.Press{MessageID: m.ID, CustomID: "forged", User: ann})
	require.NoError(t, err)
	in.Expire()
	require.Equal(t, 10062, code(t, s.InteractionRespond(<-heard, later)))
}
