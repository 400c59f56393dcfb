package discord_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// A press that comes while the connection is down is heard when the session is taken up.
func TestAConnectionThatIsLostIsTakenUp(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*discordtest.Server){
		"closed":               func(s *discordtest.Server) { s.Disconnect(discordtest.CloseUnknownError) },
		"cut":                  func(s *discordtest.Server) { s.Disconnect(0) },
		"asked to come again":  func(s *discordtest.Server) { s.RequestReconnect() },
		"heartbeats not heard": func(s *discordtest.Server) { s.IgnoreHeartbeats(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, dbtest.SQLite(t), nil)
			if name == "heartbeats not heard" {
				f.serve(discordtest.Config{HeartbeatInterval: 5 * time.Millisecond})
			}
			f.run()
			a, m := f.asked()
			disturb(f.server)
			if name != "heartbeats not heard" && name != "asked to come again" {
				in, err := f.server.Press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
				require.NoError(t, err)
				said, err := in.Answer(t.Context())
				require.NoError(t, err)
				require.Contains(t, said, "Approved.")
			}
			f.await(func() bool { return f.server.Gateway().Resumes >= 1 && f.server.Connected() == 1 })
			f.server.IgnoreHeartbeats(false)
			require.Equal(t, 1, f.server.Gateway().Identifies)
			if len(f.done()) == 0 {
				require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "Approved.")
			}
			require.Equal(t, []string{a.ID}, f.done())
		})
	}
}

func TestASessionThatIsGoneIsBegunAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, dbtest.SQLite(t), nil)
	f.run()
	f.server.InvalidateSessions()
	f.server.Disconnect(discordtest.CloseUnknownError)
	// A heartbeat of the old socket that fails late closes the new one too; then it is begun once more.
	f.await(func() bool { return f.server.Gateway().Identifies >= 2 && f.server.Connected() == 1 })
	a, m := f.asked()
	require.Contains(t, f.pressAgain(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "Approved.")
	require.Equal(t, []string{a.ID}, f.done())
}

func TestAWrongTokenIsSaid(t *testing.T) {
	t.Parallel()
	f := newFixture(t, dbtest.SQLite(t), func(c *discord.Config) { c.Token = "wrong" })
	err := f.bot.Run(t.Context())
	require.ErrorContains(t, err,
		"discord: the gateway refuses the bot: websocket: close 4004: Authentication failed.; see to its token")

	// It may have been mended meanwhile.
	f.cfg.Token = f.server.Token()
	f.bot, err = discord.New(f.cfg)
	require.NoError(t, err)
	f.run()
	require.ErrorIs(t, f.bot.Run(t.Context()), discord.ErrRunning)
}

// Run ends with its context, wherever it is.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	for name, gateway := range map[string]string{"nobody answers": "ws://127.0.0.1:1/", "before it begins": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, dbtest.SQLite(t), func(c *discord.Config) { c.Gateway = gateway })
			ctx, stop := context.WithCancel(t.Context())
			if name == "before it begins" {
				gate := make(chan struct{})
				defer close(gate)
				f.server.Fault(discordtest.Fault{Path: "/gateway", Gate: gate})
				go func() {
					_ = f.server.Await(t.Context(), func() bool { return f.server.Count("GET", "/gateway") > 0 })
					stop()
				}()
			} else {
				stop()
			}
			require.NoError(t, f.bot.Run(ctx))
			stop()
		})
	}
}

func TestTheGatewayCanBeConfigured(t *testing.T) {
	t.Parallel()
	other := discordtest.Start(discordtest.Config{})
	f := newFixture(t, dbtest.SQLite(t), func(c *discord.Config) { c.Gateway = other.GatewayURL() })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.bot.Run(ctx) }()
	require.NoError(t, other.Await(t.Context(), func() bool { return other.Connected() == 1 }))
	stop()
	require.NoError(t, <-ended)
	other.Close()
	require.Zero(t, f.server.Count("GET", "/gateway"))
}
