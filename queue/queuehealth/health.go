package queuehealth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// Config configures [Handler] and [Measure]. The zero Config uses the defaults.
type Config struct {
	// Ready is called for /ready once the database has answered. Its error is the reason why the program is not ready.
	// It must return when its context is done, 2 s after the request. Default nil: the database is enough.
	Ready func(ctx context.Context) error
	// MaxAge is how old the findings of Doctor may be. Default 1 min; bounds 1 s to 1 h.
	MaxAge time.Duration
	// MeterProvider is where [Measure] reports to. Default: OpenTelemetry's global one.
	MeterProvider metric.MeterProvider
}

// How long a caller waits for the database.
const (
	readyPatience  = 2 * time.Second
	doctorPatience = 10 * time.Second
	// gaugePatience is that of a collection, for the statistics and for the findings: together less than the 10 s that
	// Prometheus waits for a scrape.
	gaugePatience = 4 * time.Second
	// maxExamination bounds a run of Doctor, which goes on when its callers have left.
	maxExamination = time.Minute
)

func (c *Config) withDefaults(q *queue.Queue) (Config, error) {
	var cfg Config
	if c != nil {
		cfg = *c
	}
	if cfg.MaxAge == 0 {
		cfg.MaxAge = time.Minute
	}
	switch {
	case q == nil:
		return cfg, errors.New("queuehealth: the Queue is nil: make one with queue.New")
	case cfg.MaxAge < time.Second || cfg.MaxAge > time.Hour:
		return cfg, fmt.Errorf("queuehealth: Config.MaxAge is %v; it must be within 1s and 1h", cfg.MaxAge)
	}
	return cfg, nil
}

// answers returns nil if the database answers and has the queue's tables.
func answers(ctx context.Context, q *queue.Queue) (struct{}, error) {
	if c, ok := driver.As[driver.TableChecker](q.DB().Driver()); ok {
		return struct{}{}, c.CheckTables(ctx)
	}
	_, err := q.Jobs(ctx, queue.Filter{Limit: 1})
	return struct{}{}, err
}
