package app

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/rediscache"
)

// silentRedis drops the client's own output: each failed call is logged by its caller.
type silentRedis struct{}

func (silentRedis) Printf(context.Context, string, ...any) {}

// openCache opens the Redis cache of answers, if one is configured. It makes no calls.
func (m *Models) openCache() (err error) {
	if m.env.Config.LLM.Cache == "" {
		return nil
	}
	redis.SetLogger(silentRedis{})
	if m.cache, err = rediscache.New(rediscache.Config{URL: llm.Secret(m.env.Config.LLM.Cache)}); err != nil {
		return usage.Errorf("llm.cache: %w", err)
	}
	return nil
}

// answers returns the cache of answers; nil means the database.
func (m *Models) answers() llm.AnswerCache {
	if m.cache == nil {
		return nil
	}
	return m.cache
}
