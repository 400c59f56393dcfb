package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

func asynqContenders() []Contender {
	open := func(cfg asynq.Config) func(context.Context, Place) (Queue, error) {
		return func(_ context.Context, place Place) (Queue, error) { return openAsynq(place, cfg), nil }
	}
	return []Contender{
		{Engine: "redis", Name: "asynq", Module: "github.com/hibiken/asynq", Groups: Everything &^ Writing, Peer: true,
			Setting: "Concurrency: 100, TaskCheckInterval: 5 ms; finished jobs are kept only where the store holds some already; jobs have no priority within a queue",
			Open:    open(asynq.Config{Concurrency: 100, TaskCheckInterval: 5 * time.Millisecond})},
		{Engine: "redis", Name: "asynq, defaults", Groups: Draining | Starting, Open: open(asynq.Config{}),
			Setting: "Concurrency: the number of CPUs, TaskCheckInterval: 1 s"},
	}
}

type asynqQueue struct {
	cfg    asynq.Config
	opts   []asynq.Option
	client *asynq.Client
	redis  *redis.Client
}

var _ Queue = (*asynqQueue)(nil)

func asynqRedis() asynq.RedisClientOpt { return asynq.RedisClientOpt{Addr: redisAddr, DB: redisDB} }

func openAsynq(place Place, cfg asynq.Config) Queue {
	cfg.LogLevel = asynq.FatalLevel
	a := &asynqQueue{cfg: cfg, client: asynq.NewClient(asynqRedis()), redis: openRedis()}
	if place.Retain {
		a.opts = append(a.opts, asynq.Retention(24*time.Hour))
	}
	return a
}

func (a *asynqQueue) Enqueue(ctx context.Context, p Payload) error { return a.enqueue(ctx, p) }

func (a *asynqQueue) enqueue(ctx context.Context, p Payload, opts ...asynq.Option) error {
	_, err := a.client.EnqueueContext(ctx, asynq.NewTask("bench", p.JSON()), append(opts, a.opts...)...)
	return err
}

func (a *asynqQueue) EnqueueMany(context.Context, int) error { return errors.ErrUnsupported }

func (a *asynqQueue) Run(ctx context.Context, ran func(n int64)) error {
	server := asynq.NewServer(asynqRedis(), a.cfg)
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		p, err := decodePayload(task.Payload())
		ran(p.N)
		return err
	}))
	if err != nil {
		return err
	}
	<-ctx.Done()
	server.Shutdown()
	return nil
}

func (a *asynqQueue) Stage(ctx context.Context, kind Kind, n int) error {
	switch kind {
	case Due:
	case Finished:
		return a.stageFinished(ctx, n)
	case Scheduled:
		_, err := together(16, n, 0, func(i int) error { return a.enqueue(ctx, newPayload(int64(i)), asynq.ProcessIn(24*time.Hour)) })
		return err
	}
	_, err := together(16, n, 0, func(i int) error { return a.enqueue(ctx, newPayload(int64(i))) })
	return err
}

// stageFinished runs one job and multiplies its stored data.
func (a *asynqQueue) stageFinished(ctx context.Context, n int) error {
	if err := a.enqueue(ctx, newPayload(1)); err != nil {
		return err
	}
	if _, err := drain(ctx, a, 1, 0); err != nil {
		return err
	}
	const completed, prefix = "asynq:{default}:completed", "asynq:{default}:t:"
	kept, err := a.redis.ZRangeWithScores(ctx, completed, 0, 0).Result()
	if err != nil || len(kept) != 1 {
		return errors.Join(err, fmt.Errorf("asynq keeps %d finished jobs, and not 1", len(kept)))
	}
	fields, err := a.redis.HGetAll(ctx, prefix+fmt.Sprint(kept[0].Member)).Result()
	if err != nil {
		return err
	}
	var next atomic.Int64
	return inThousands(n-1, func(n int) error {
		_, err := a.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for range n {
				id := fmt.Sprintf("00000000-0000-7000-8000-%012x", next.Add(1))
				p.HSet(ctx, prefix+id, fields)
				p.ZAdd(ctx, completed, redis.Z{Score: kept[0].Score, Member: id})
			}
			return nil
		})
		return err
	})
}

func (a *asynqQueue) Unfinished(ctx context.Context) (int, error) {
	total := int64(0)
	for _, list := range []string{"pending", "active"} {
		n, err := a.redis.LLen(ctx, "asynq:{default}:"+list).Result()
		if err != nil {
			return 0, err
		}
		total += n
	}
	for _, set := range []string{"scheduled", "retry", "archived"} {
		n, err := a.redis.ZCard(ctx, "asynq:{default}:"+set).Result()
		if err != nil {
			return 0, err
		}
		total += n
	}
	return int(total), nil
}

func (a *asynqQueue) Close() error { return errors.Join(a.client.Close(), a.redis.Close()) }
