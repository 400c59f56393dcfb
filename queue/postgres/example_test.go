package postgres_test //nolint:testableexamples // it needs a server

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The queue on a server, for as many machines as like: all else is as on SQLite.
func Example() {
	ctx := context.Background()
	db := must(postgres.Open(ctx, "postgres://mail@db.example.org/mail", nil))
	defer db.Close()
	must(0, queue.Migrate(ctx, db))
	q := must(queue.New(db, nil))
	fmt.Println(q.Counts(ctx, queue.Filter{}))
}
