package discord_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
)

func TestABadConfigurationIsRefused(t *testing.T) {
	f := newFixture(t, dbtest.SQLite(t), nil)
	for want, change := range map[string]func(*discord.Config){
		"discord: Config.DB is nil":                                func(c *discord.Config) { c.DB = nil },
		"discord: Config.Queue is nil":                             func(c *discord.Config) { c.Queue = nil },
		"discord: Config.Ledger is nil":                            func(c *discord.Config) { c.Ledger = nil },
		"discord: Config.Token is empty or has spaces":             func(c *discord.Config) { c.Token = "Bot x" },
		`discord: Config.Channel is "approvals"`:                   func(c *discord.Config) { c.Channel = "approvals" },
		`discord: Config.Channel is ""`:                            func(c *discord.Config) { c.Channel = "" },
		"discord: Config.RemindAfter is 1s":                        func(c *discord.Config) { c.RemindAfter = time.Second },
		"discord: Config.RemindAfter is -1h0m0s":                   func(c *discord.Config) { c.RemindAfter = -time.Hour },
		"discord: Config.DeferAfter is 3s":                         func(c *discord.Config) { c.DeferAfter = 3 * time.Second },
		`discord: Config.Endpoint is "ftp://x"`:                    func(c *discord.Config) { c.Endpoint = "ftp://x" },
		`discord: Config.Endpoint is "https://u:p@x"`:              func(c *discord.Config) { c.Endpoint = "https://u:p@x" },
		`discord: Config.Gateway is "https://gateway.discord.gg/"`: func(c *discord.Config) { c.Gateway = "https://gateway.discord.gg/" },
	} {
		cfg := f.cfg
		change(&cfg)
		b, err := discord.New(cfg)
		require.ErrorContains(t, err, want)
		require.Nil(t, b)
	}
	require.ErrorContains(t, discord.Register(nil, f.bot), "discord: Register: the Dispatcher is nil")
	require.ErrorContains(t, discord.Register(&queue.Dispatcher{}, nil), "discord: Register: the Bot is nil")
	require.ErrorContains(t, discord.Migrate(t.Context(), nil), "discord: Migrate: db is nil")
}

func TestTheWhitelistHasIDs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, people := range [][]discord.Person{{{UserID: "Daniel#1234"}}, {{UserID: ""}},
			{{UserID: "1"}, {UserID: "1", Name: "b"}}} {
			err := f.tryWrite(time.Now(), func(ctx context.Context, tx queue.Tx) error {
				return discord.SetWhitelist(ctx, tx, people)
			})
			require.ErrorContains(t, err, "give the id of an account, which is a number, once")
		}
		list, err := discord.Whitelist(t.Context(), f.db)
		require.NoError(t, err)
		require.Len(t, list, 2, "what is refused changes nothing")
		n, err := discord.Posted(t.Context(), f.db)
		require.NoError(t, err)
		require.Zero(t, n)
		f.asked()
		n, err = discord.Posted(t.Context(), f.db)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// Several programs on one database set the list when they start.
func TestTheWhitelistIsSetByManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		people := []discord.Person{{UserID: "1", Name: "a"}, {UserID: "2", Name: "b"}, {UserID: "3", Name: "c"}}
		var all sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			all.Go(func() {
				errs[i] = f.db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
					return discord.SetWhitelist(ctx, tx, people)
				})
			})
		}
		all.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		list, err := discord.Whitelist(t.Context(), f.db)
		require.NoError(t, err)
		require.Equal(t, people, list)
	})
}
