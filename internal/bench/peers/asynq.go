package peers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

func asynqContenders() []contender.Contender {
	open := func(cfg asynq.Config) contender.OpenFunc {
		return func(_ context.Context, place store.Place) (contender.Queue, error) { return openAsynq(place, cfg), nil }
	}
	return []contender.Contender{
		{Engine: "redis", Name: "asynq", Module: "github.com/hibiken/asynq", Groups: contender.Everything &^ contender.Writing, Peer: true,
			Setting: "Concurrency: 100, TaskCheckInterval: 5 ms; finished jobs are kept only where the store holds some already; jobs have no priority within a queue",
			Open:    open(asynq.Config{Concurrency: 100, TaskCheckInterval: 5 * time.Millisecond})},
		{Engine: "redis", Name: "asynq, defaults", Groups: contender.Draining | contender.Starting, Open: open(asynq.Config{}),
			Setting: "Concurrency: the number of CPUs, TaskCheckInterval: 1 s"},
	}
}

type asynqQueue struct {
	cfg    asynq.Config
	opts   []asynq.Option
	client *asynq.Client
	redis  *redis.Client
}

var _ contender.Queue = (*asynqQueue)(nil)

func asynqRedis() asynq.RedisClientOpt {
	return asynq.RedisClientOpt{Addr: store.RedisAddr, DB: store.RedisDB}
}

func openAsynq(place store.Place, cfg asynq.Config) contender.Queue {
	cfg.LogLevel = asynq.FatalLevel
	a := &asynqQueue{cfg: cfg, client: asynq.NewClient(asynqRedis()), redis: store.OpenRedis()}
	if place.Retain {
		a.opts = append(a.opts, asynq.Retention(24*time.Hour))
	}
	return a
}

func (a *asynqQueue) Enqueue(ctx context.Context, p contender.Payload) error {
	return a.enqueue(ctx, p)
}

func (a *asynqQueue) enqueue(ctx context.Context, p contender.Payload, opts ...asynq.Option) error {
	_, err := a.client.EnqueueContext(ctx, asynq.NewTask("bench", p.JSON()), append(opts, a.opts...)...)
	return err
}

func (a *asynqQueue) EnqueueMany(context.Context, int) error { return errors.ErrUnsupported }

func (a *asynqQueue) Run(ctx context.Context, ran func(n int64)) error {
	server := asynq.NewServer(asynqRedis(), a.cfg)
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		p, err := contender.DecodePayload(task.Payload())
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

func (a *asynqQueue) Stage(ctx context.Context, kind contender.Kind, n int) error {
	if kind == contender.Finished {
		return a.stageFinished(ctx, n)
	}
	var opts []asynq.Option
	if kind == contender.Scheduled {
		opts = append(opts, asynq.ProcessIn(24*time.Hour))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error { return a.enqueue(ctx, contender.NewPayload(int64(i)), opts...) })
	}
	return group.Wait()
}

// stageFinished runs one job and multiplies its stored data.
func (a *asynqQueue) stageFinished(ctx context.Context, n int) error {
	if err := a.enqueue(ctx, contender.NewPayload(1)); err != nil {
		return err
	}
	if _, err := contender.Drain(ctx, a, 1, 0); err != nil {
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
	return contender.InThousands(n-1, func(n int) error {
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
