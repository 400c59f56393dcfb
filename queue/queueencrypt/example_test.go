package queueencrypt_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueencrypt"
	"github.com/postroom-go/postroom/queue/sqlite"
)

type Greeting struct{ Name string }

const Greet queue.Type[Greeting] = "greet"

// The database sees nothing of what the jobs are about.
func ExampleNewCodec() {
	ctx := context.Background()
	secret := bytes.Repeat([]byte{7}, 32) // 32 random bytes, from where the program keeps its secrets
	codec, err := queueencrypt.NewCodec(queueencrypt.Key{ID: "2026-11", Secret: secret})
	if err != nil {
		log.Fatal(err)
	}
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := queue.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	q, err := queue.New(db, &queue.Config{Codec: codec})
	if err != nil {
		log.Fatal(err)
	}
	enqueued, err := q.Enqueue(ctx, Greet.New(Greeting{Name: "Ada"}, nil))
	if err != nil {
		log.Fatal(err)
	}
	var stored string
	if err := db.Reader().GetContext(ctx, &stored, "SELECT payload_json FROM jobs WHERE id = $1",
		enqueued.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(stored[:24], strings.Contains(stored, "Ada"))
	job, err := q.Job(ctx, enqueued.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(job.Payload))
	// Output:
	// {"$codec":"aes-256-gcm", false
	// {"Name":"Ada"}
}
