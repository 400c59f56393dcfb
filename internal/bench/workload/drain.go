package workload

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

func drainAll(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	if err := q.Stage(ctx, contender.Due, s.Drain); err != nil {
		return figure.Figure{}, err
	}
	return drain(ctx, q, s.Drain, s.Limit)
}

func drainDue(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	if err := q.Stage(ctx, contender.Due, s.Due); err != nil {
		return figure.Figure{}, err
	}
	return drain(ctx, q, s.Due, s.Limit)
}

func drain(ctx context.Context, q contender.Queue, n int, limit time.Duration) (figure.Figure, error) {
	rate, err := contender.Drain(ctx, q, n, limit)
	return figure.Figure{Rate: rate}, err
}
