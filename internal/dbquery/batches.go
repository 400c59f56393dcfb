package dbquery

import (
	"context"
	"slices"
)

// deleteBatch is how many rows one transaction deletes: large deletes hold the writer of SQLite.
const deleteBatch = 500

// A Writer runs write transactions that are a T.
type Writer[T Tx] interface {
	Write(ctx context.Context, fn func(ctx context.Context, tx T) error) error
}

// DeleteInBatches runs a DELETE in transactions of some hundred rows until there is nothing left to delete, and
// returns how many rows it deleted. The statement's last parameter is the largest number of rows to delete.
func DeleteInBatches[T Tx](ctx context.Context, db Writer[T], statement string, args ...any) (deleted int, err error) {
	args = append(slices.Clip(args), deleteBatch)
	for {
		var n int64
		err := db.Write(ctx, func(ctx context.Context, tx T) (err error) {
			n, err = Exec(ctx, tx, statement, args...)
			return err
		})
		if err != nil {
			return deleted, err
		}
		deleted += int(n)
		if n < deleteBatch {
			return deleted, nil
		}
	}
}
