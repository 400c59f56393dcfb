package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
)

// drainWriting drains with handlers that write a row; each job that is done must have one.
func drainWriting(ctx context.Context, q contender.Queue, s *Size) (figure.Figure, error) {
	rows, ok := q.(contender.RowQueue)
	if !ok {
		return figure.Figure{}, errors.ErrUnsupported
	}
	if err := errors.Join(rows.Exec(ctx, contender.RowTable), q.Stage(ctx, contender.Due, s.Write)); err != nil {
		return figure.Figure{}, err
	}
	measured, err := drain(ctx, writing{rows}, s.Write, s.Limit)
	if err != nil {
		return figure.Figure{}, err
	}
	left, err := q.Unfinished(ctx)
	if err != nil {
		return figure.Figure{}, err
	}
	written, err := rows.Count(ctx, contender.RowCount)
	if err == nil && written < s.Write-left {
		err = fmt.Errorf("%d jobs are done and %d rows were written", s.Write-left, written)
	}
	return measured, err
}

// writing is a queue with handlers that write.
type writing struct{ contender.RowQueue }

func (w writing) Run(ctx context.Context, ran func(n int64)) error { return w.RunWriting(ctx, ran) }
