package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// The database that is measured on Redis. It is emptied after each measurement, so that it must be empty before.
const (
	RedisAddr = "127.0.0.1:6379"
	RedisDB   = 15
)

type redisEngine struct{}

func (redisEngine) Title() string              { return "Redis" }
func (redisEngine) Durabilities() []Durability { return []Durability{Full} }

// OpenRedis opens that database.
func OpenRedis() *redis.Client { return redis.NewClient(&redis.Options{Addr: RedisAddr, DB: RedisDB}) }

func (redisEngine) Check(ctx context.Context) (string, error) {
	client := OpenRedis()
	defer client.Close()
	info, err := client.InfoMap(ctx, "server").Result()
	if err != nil {
		return "",
			fmt.Errorf("a Redis server must answer at %s: %w; start one, or leave Redis out with -only '^(sqlite|postgres)/'",
				RedisAddr, err)
	}
	if n, err := client.DBSize(ctx).Result(); err != nil || n > 0 {
		return "",
			errors.Join(err,
				fmt.Errorf("database %d of the Redis server at %s holds %d keys, and would be emptied; empty it yourself",
					RedisDB, RedisAddr, n))
	}
	appendonly := client.ConfigGet(ctx, "append*").Val()
	about := "Redis " + info["Server"]["redis_version"] + ", appendonly " + appendonly["appendonly"]
	if appendonly["appendonly"] == "yes" {
		about += " (appendfsync " + appendonly["appendfsync"] + ")"
	}
	return about, nil
}

func (redisEngine) Make(context.Context) (Place, func() error, error) {
	remove := func() error {
		client := OpenRedis()
		return errors.Join(client.FlushDB(context.Background()).Err(), client.Close())
	}
	return Place{}, remove, nil
}

func (redisEngine) Settle(context.Context, Place) error { return nil }
