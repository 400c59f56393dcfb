// Prometheus is a service with a queue whose metrics Prometheus scrapes and whose health a supervisor checks:
//
//	go run . -database jobs.db -listen 127.0.0.1:9464
//	curl http://127.0.0.1:9464/metrics
//	curl http://127.0.0.1:9464/health/ready
//
// The dashboard for Grafana is deploy/grafana/queue.json.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuehealth"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Tick is the job of the service.
const Tick queue.Type[string] = "tick"

func main() {
	database := flag.String("database", "jobs.db", "the SQLite file of the queue")
	listen := flag.String("listen", "127.0.0.1:9464", "the address of /metrics and /health/")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", *listen)
	if err == nil {
		err = run(ctx, *database, listener)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run works and serves until ctx is done.
func run(ctx context.Context, database string, listener net.Listener) error {
	db, err := sqlite.Open(ctx, database, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	q, err := queue.New(db, &queue.Config{MeterProvider: meters})
	if err != nil {
		return err
	}
	if _, err := queuehealth.Measure(q, &queuehealth.Config{MeterProvider: meters}); err != nil {
		return err
	}
	health, err := queuehealth.Handler(q, nil)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.Handle("GET /health/", http.StripPrefix("/health", health))
	return work(ctx, q, &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}, listener)
}

// work runs jobs, and serves meanwhile.
func work(ctx context.Context, q *queue.Queue, server *http.Server, listener net.Listener) error {
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		return err
	}
	queue.Handle(d, Tick, func(_ context.Context, w *queue.Work[string]) error {
		_, err := fmt.Println("tick", w.Payload)
		return err
	})
	err = q.SetSchedule(ctx, queue.Schedule{Name: "tick", Cron: "@every 5s", Job: Tick.New("tock", nil)})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	err = d.Run(ctx)
	shutdown, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(shutdown))
	if cause := <-served; !errors.Is(cause, http.ErrServerClosed) {
		err = errors.Join(err, cause)
	}
	return err
}
