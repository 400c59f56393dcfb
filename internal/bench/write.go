package main

import (
	"context"
	"errors"
	"fmt"
)

// What handlers write.
const (
	rowTable      = "CREATE TABLE bench_rows (job BIGINT NOT NULL, text TEXT NOT NULL)"
	rowInsert     = "INSERT INTO bench_rows (job, text) VALUES ($1, $2)"
	rowCount      = "SELECT COUNT(*) FROM bench_rows"
	rowText       = "written by a handler"
	rowInsertText = "INSERT INTO bench_rows (job, text) VALUES ($1, '" + rowText + "')" // for one parameter
)

// drainWriting drains with handlers that write a row; each job that is done must have one.
func drainWriting(ctx context.Context, q Queue, s *Size) (Figure, error) {
	rows, ok := q.(RowQueue)
	if !ok {
		return Figure{}, errors.ErrUnsupported
	}
	if err := errors.Join(rows.Exec(ctx, rowTable), q.Stage(ctx, Due, s.Write)); err != nil {
		return Figure{}, err
	}
	figure, err := drain(ctx, writing{rows}, s.Write, s.Limit)
	if err != nil {
		return Figure{}, err
	}
	left, err := q.Unfinished(ctx)
	if err != nil {
		return Figure{}, err
	}
	written, err := rows.Count(ctx, rowCount)
	if err == nil && written < s.Write-left {
		err = fmt.Errorf("%d jobs are done and %d rows were written", s.Write-left, written)
	}
	return figure, err
}

// writing is a queue with handlers that write.
type writing struct{ RowQueue }

func (w writing) Run(ctx context.Context, ran func(n int64)) error { return w.RunWriting(ctx, ran) }
