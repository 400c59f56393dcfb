package rediscache_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/llm/rediscache"
	"github.com/postroom-go/postroom/queue"
)

// The client goes on dialling a server that is away until the second after it was closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// redisEnv names the server of the tests. Without it they are skipped, except under CI, where they fail.
const redisEnv = "POSTROOM_TEST_REDIS"

func serverURL(t *testing.T) string {
	t.Helper()
	url := os.Getenv(redisEnv)
	if url == "" {
		const message = redisEnv +
			" names no Redis server, such as redis://127.0.0.1:6379/15: the cache of answers is not tested"
		if os.Getenv("CI") != "" {
			t.Fatal(message)
		}
		t.Skip(message)
	}
	return url
}

func cache(t *testing.T, cfg rediscache.Config) *rediscache.Cache {
	t.Helper()
	if cfg.Prefix == "" {
		cfg.Prefix = "test:" + rand.Text() + ":"
	}
	c, err := rediscache.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestAnswersAreKeptForATime(t *testing.T) {
	url, prefix := serverURL(t), "test:"+rand.Text()+":"
	options, err := redis.ParseURL(url)
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	c := cache(t, rediscache.Config{URL: llm.Secret(url), Prefix: prefix})
	_, ok, err := c.Answer(t.Context(), "k")
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, c.Keep(t.Context(), "k", []byte("first"), time.Minute))
	require.NoError(t, c.Keep(t.Context(), "k", []byte("a\x00b"), time.Hour))
	answer, ok, err := c.Answer(t.Context(), "k")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "a\x00b", string(answer))
	_, ok, err = cache(t, rediscache.Config{URL: llm.Secret(url)}).Answer(t.Context(), "k")
	require.NoError(t, err)
	require.False(t, ok, "another prefix is another cache")

	left, err := client.TTL(t.Context(), prefix+"k").Result()
	require.NoError(t, err)
	require.Greater(t, left, 50*time.Minute, "the server forgets it, and not before")
	require.NoError(t, client.Del(t.Context(), prefix+"k").Err())
}

func metered(t *testing.T, db queue.DB, client llm.Client, answers llm.AnswerCache) *llm.Metered {
	t.Helper()
	require.NoError(t, llm.Migrate(t.Context(), db))
	records, err := llm.NewRecords(llm.RecordsConfig{DB: db})
	require.NoError(t, err)
	m, err := llm.NewMetered(llm.MeteredConfig{Client: client, Model: "test::model", Records: records, Answers: answers,
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return m
}

func ask(t *testing.T, m *llm.Metered) string {
	t.Helper()
	resp, err := m.Complete(t.Context(), &llm.Request{AccountID: "a", Purpose: "test",
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello."}}})
	require.NoError(t, err)
	return resp.Text
}

// Two programs with databases of their own share what one of them has paid for.
func TestProgramsShareAnswers(t *testing.T) {
	c := cache(t, rediscache.Config{URL: llm.Secret(serverURL(t))})
	require.Equal(t, "Hi.", ask(t, metered(t, dbtest.SQLite(t), llmtest.NewScripted(t, llmtest.Says("Hi.")), c)))
	require.Equal(t, "Hi.", ask(t, metered(t, dbtest.SQLite(t), llmtest.NewScripted(t), c)), "nobody is asked again")
}

// A server that is away costs a little time and no call: the database keeps what it cannot.
func TestAServerThatIsAway(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	c := cache(t, rediscache.Config{URL: llm.Secret("redis://:hunter2@" + l.Addr().String())})
	_, _, err = c.Answer(t.Context(), "k")
	require.ErrorContains(t, err, "is the server there?")
	require.Error(t, c.Keep(t.Context(), "k", nil, time.Minute))
	m := metered(t, dbtest.SQLite(t), llmtest.NewScripted(t, llmtest.Says("Hi.")), c)
	require.Equal(t, "Hi.", ask(t, m))
	require.Equal(t, "Hi.", ask(t, m), "it is asked once")
}

// One that accepts and says nothing is not waited for.
func TestAServerThatIsSilent(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	c := cache(t, rediscache.Config{URL: llm.Secret("redis://" + l.Addr().String()), Timeout: 50 * time.Millisecond})
	began := time.Now()
	_, _, err = c.Answer(t.Context(), "k")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, c.Keep(t.Context(), "k", nil, time.Minute), context.DeadlineExceeded)
	require.Less(t, time.Since(began), 2*time.Second, "the client of Redis waits three seconds by itself, several times")
}

func TestBadConfigurations(t *testing.T) {
	for _, url := range []llm.Secret{"", "127.0.0.1:6379", "http://:hunter2@127.0.0.1", "redis://:hunter2@127.0.0.1/x"} {
		_, err := rediscache.New(rediscache.Config{URL: url})
		require.ErrorIs(t, err, rediscache.ErrInvalidURL, url)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := rediscache.New(rediscache.Config{URL: "redis://127.0.0.1", Timeout: -1})
	require.ErrorContains(t, err, "Config.Timeout")
}
