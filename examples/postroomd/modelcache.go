package main

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
func (h *host) openCache() (err error) {
	if h.env.Config.LLM.Cache == "" {
		return nil
	}
	redis.SetLogger(silentRedis{})
	if h.cache, err = rediscache.New(rediscache.Config{URL: llm.Secret(h.env.Config.LLM.Cache)}); err != nil {
		return usage.Errorf("llm.cache: %w", err)
	}
	return nil
}

// answers returns the cache of answers; nil means the database.
func (h *host) answers() llm.AnswerCache {
	if h.cache == nil {
		return nil
	}
	return h.cache
}
