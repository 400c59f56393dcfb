// Service is a web service with jobs, as it is tested and deployed:
//
//	export DATABASE=postgres://app@db/app LISTEN=127.0.0.1:8080
//	go run ./examples/service migrate   # once, before the new version starts
//	go run ./examples/service           # on each machine
//	curl -d name=Ada+Lovelace http://127.0.0.1:8080/users
//	curl http://127.0.0.1:8080/health/ready
//
// DATABASE may be the path of an SQLite file as well. On SIGTERM the service is no longer ready, lets its jobs end for as
// long as Drain, gives back those that do not, and exits with status 0. Welcome shows how a payload changes while two
// versions of a program run side by side; main_test.go shows the tests.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/queuehealth"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Welcome is the payload of a job that greets a new user. Version 1 has two names; before, there was one.
type Welcome struct {
	First string `json:"first"`
	Last  string `json:"last"`
}

// Greet is the type of job.
const Greet queue.Type[Welcome] = "user.welcome"

func (Welcome) PayloadVersion() int { return 1 }

// Upcast reads the jobs of the version before. Jobs of a later version are left to processes that know them.
func (Welcome) Upcast(_ int, old json.RawMessage) (json.RawMessage, error) {
	var before struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(old, &before); err != nil {
		return nil, err
	}
	first, last, _ := strings.Cut(before.Name, " ")
	return json.Marshal(Welcome{first, last})
}

// open opens a database of either engine.
func open(ctx context.Context, dsn string) (interface {
	queue.DB
	io.Closer
}, error) {
	if strings.HasPrefix(dsn, "postgres://") {
		return postgres.Open(ctx, dsn, nil)
	}
	return sqlite.Open(ctx, dsn, nil)
}

func migrate(ctx context.Context, db queue.DB) error {
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	return db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS users (name TEXT PRIMARY KEY)")
		return err
	})
}

// createUser stores a user and the job that greets it, both or none. A client may ask again: it does so once.
func createUser(q *queue.Queue) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.FormValue("name")
		first, last, _ := strings.Cut(name, " ")
		err := q.DB().Write(r.Context(), func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "INSERT INTO users (name) VALUES ($1) ON CONFLICT DO NOTHING", name); err != nil {
				return err
			}
			_, err := q.EnqueueTx(ctx, tx,
				Greet.New(Welcome{first, last}, &queue.Options{Key: queue.Forever("welcome:" + name)}))
			return err
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	}
}

// A greeter says what it is given, and handles Greet with that.
type greeter func(ctx context.Context, text string) error

func (say greeter) handle(ctx context.Context, w *queue.Work[Welcome]) error {
	return say(ctx, fmt.Sprintf("Dear %s %s, welcome!", w.Payload.First, w.Payload.Last))
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	db, err := open(ctx, os.Getenv("DATABASE"))
	if err == nil {
		do := serve
		if len(os.Args) > 1 && os.Args[1] == "migrate" {
			do = migrate
		}
		err = errors.Join(do(ctx, db), db.Close())
	}
	if err != nil {
		log.Fatal(err) //nolint:gocritic // there is nothing left to stop
	}
}

// serve serves and works until ctx is done, then stops in order.
func serve(ctx context.Context, db queue.DB) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q, err := queue.New(db, nil)
	if err != nil {
		return err
	}
	// From the signal on, a balancer sends its requests elsewhere.
	health, wrong := queuehealth.Handler(q, &queuehealth.Config{Ready: func(context.Context) error { return ctx.Err() }})
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Drain: 10 * time.Second})
	if err := errors.Join(wrong, err); err != nil {
		return err
	}
	queue.Handle(d, Greet, greeter(func(_ context.Context, text string) error { log.Print(text); return nil }).handle)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", os.Getenv("LISTEN"))
	if err != nil {
		return err
	}
	log.Print("listening on ", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("POST /users", createUser(q))
	mux.Handle("GET /health/", http.StripPrefix("/health", health))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { log.Print(server.Serve(listener)); cancel() }()
	return errors.Join(d.Run(ctx), server.Shutdown(context.WithoutCancel(ctx)))
}
