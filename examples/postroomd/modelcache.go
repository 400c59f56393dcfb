package main

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/rediscache"
)

// silentRedis drops what the client would print by itself: each failed call is logged where it is made.
type silentRedis struct{}

func (silentRedis) Printf(context.Context, string, ...any) {}

// openCache opens the Redis that keeps the answers of models, if one is configured. It calls nobody.
func (h *host) openCache() (err error) {
	if h.cfg.LLM.Cache == "" {
		return nil
	}
	redis.SetLogger(silentRedis{})
	if h.cache, err = rediscache.New(rediscache.Config{URL: llm.Secret(h.cfg.LLM.Cache)}); err != nil {
		return usage("llm.cache: %w", err)
	}
	return nil
}

// answers is where the answers of models are kept; nil: in the database.
func (h *host) answers() llm.AnswerCache {
	if h.cache == nil {
		return nil
	}
	return h.cache
}
