// Package rediscache stores the answers of models in Redis or a compatible server. It is an [llm.AnswerCache]; without
// one, answers are stored in the database. Programs share the answers of the same account, or all answers with
// ShareAnswers.
//
// An answer is one string under a key with the prefix, and expires on the server. Answers quote mail: the server needs
// a password and, outside of this machine, encryption (rediss). Anyone who can write to it can answer in place of the
// models, within the limits of package safety.
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
	// URL is the address of the server: redis://user:password@host:port/database, or rediss:// for TLS, with the
	// parameters of go-redis. Required.
	URL llm.Secret
	// Prefix begins each key. Default "postroom:answer:".
	Prefix string
	// Timeout bounds each call, including connecting. Default 1 second.
	Timeout time.Duration
}

// A Cache stores answers in Redis. It is safe for concurrent use. [New] makes one; the zero Cache is unusable.
type Cache struct {
	cfg    Config
	client *redis.Client
}

var _ llm.AnswerCache = (*Cache)(nil)

// ErrInvalidURL reports that the URL of a [Config] is missing or is not that of a Redis server. The error does not
// contain it: it may have a password.
var ErrInvalidURL = errors.New("rediscache: Config.URL is no URL of a Redis server, such as redis://127.0.0.1:6379/0")

// New makes a cache. It returns an error that names the bad field. It makes no calls. Close the cache when it is no
// longer needed.
func New(cfg Config) (*Cache, error) {
	if cfg.Timeout < 0 {
		return nil, fmt.Errorf("rediscache: Config.Timeout is %v; give one that is positive, or 0 for a second", cfg.Timeout)
	}
	options, err := redis.ParseURL(string(cfg.URL))
	if err != nil {
		return nil, ErrInvalidURL
	}
	cfg.Prefix, cfg.Timeout = cmp.Or(cfg.Prefix, "postroom:answer:"), cmp.Or(cfg.Timeout, time.Second)
	options.ContextTimeoutEnabled = true // otherwise the deadlines below are ignored
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
