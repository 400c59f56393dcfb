// Package rediscache keeps the answers of models in Redis, or a server that speaks its protocol. It is an [llm.AnswerCache]; without one
// answers are kept in the database. Programs share what the same account has asked, and all of it with ShareAnswers.
//
// An answer is one string under a key with the prefix, which the server forgets when its time is over. What is kept quotes mail: the
// server needs a password and, beyond this machine, encryption (rediss). Who can write to it answers in the place of models, as far as
// package safety lets a model go.
package rediscache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postroom-go/postroom/llm"
)

// Config configures a [Cache]. It is copied and checked once, by [New].
type Config struct {
	// URL is that of the server: redis://user:password@host:port/database, or rediss:// for TLS, with the parameters of go-redis.
	// Required.
	URL llm.Secret
	// Prefix begins each key. Default "postroom:answer:".
	Prefix string
	// Timeout bounds each call, connecting included. Default 1 second.
	Timeout time.Duration
}

// A Cache keeps answers in Redis. It is safe for concurrent use. [New] makes one; the zero Cache is unusable.
type Cache struct {
	cfg    Config
	client *redis.Client
}

var _ llm.AnswerCache = (*Cache)(nil)

// ErrInvalidURL reports that the URL of a [Config] is missing or is none of a Redis server. The error does not show it: it may hold a
// password.
var ErrInvalidURL = errors.New("rediscache: Config.URL is no URL of a Redis server, such as redis://127.0.0.1:6379/0")

// New makes a cache; a bad field is an error that names it. It calls nobody. Close the cache when it is no longer needed.
func New(cfg Config) (*Cache, error) {
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("rediscache: Config.Timeout is %v; give one that is positive, or 0 for a second", cfg.Timeout)
	}
	options, err := redis.ParseURL(string(cfg.URL))
	if err != nil {
		return nil, ErrInvalidURL
	}
	cfg.Prefix, cfg.Timeout = cmp.Or(cfg.Prefix, "postroom:answer:"), cmp.Or(cfg.Timeout, time.Second)
	options.ContextTimeoutEnabled = true // else the deadlines below are not kept
	options.DialTimeout = min(cmp.Or(options.DialTimeout, cfg.Timeout), cfg.Timeout)
	return &Cache{cfg, redis.NewClient(options)}, nil
}

// Close ends the connections.
func (c *Cache) Close() error { return c.client.Close() }

// Answer implements [llm.AnswerCache].
func (c *Cache) Answer(ctx context.Context, key string) (answer []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	answer, err = c.client.Get(ctx, c.cfg.Prefix+key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	return answer, err == nil, failed("read an answer", err)
}

// Keep implements [llm.AnswerCache].
func (c *Cache) Keep(ctx context.Context, key string, answer []byte, d time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return failed("keep an answer", c.client.Set(ctx, c.cfg.Prefix+key, answer, d).Err())
}

func failed(what string, err error) error {
	var away net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &away):
		return fmt.Errorf("rediscache: %s: %w; is the server there?", what, err)
	}
	return fmt.Errorf("rediscache: %s: %w", what, err)
}
