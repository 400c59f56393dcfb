package queuehealth

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

const scope = "github.com/postroom-go/postroom/queue/queuehealth"

// Attribute keys.
const (
	keyType     = attribute.Key("postroom.job.type")
	keyStanding = attribute.Key("postroom.job.standing")
	keyWorker   = attribute.Key("postroom.worker.state")
	keySeverity = attribute.Key("postroom.finding.severity")
	keyFlow     = attribute.Key("postroom.flow.state")
)

// gauges are the instruments of [Measure].
type gauges struct {
	up, jobs, flows, workers, findings, stopped metric.Int64ObservableGauge
	oldest                                      metric.Float64ObservableGauge
	stats                                       *probe[*measured]
	doctor                                      *probe[[]queueadmin.Finding]
	sequences                                   *probe[int]
}

// A measured is what a collection reads.
type measured struct {
	*queueadmin.Stats

	running, canceling int // flows
}

// Measure reports the gauges of the package's description whenever the meter provider collects, until the registration
// is unregistered. Each collection reads statistics, as queueadmin.ReadStats does. cfg may be nil.
func Measure(q *queue.Queue, cfg *Config) (metric.Registration, error) {
	c, err := cfg.withDefaults(q)
	if err != nil {
		return nil, err
	}
	if c.MeterProvider == nil {
		c.MeterProvider = otel.GetMeterProvider()
	}
	m := c.MeterProvider.Meter(scope)
	g := &gauges{doctor: doctorOf(q, c.MaxAge), stats: &probe[*measured]{ask: readStats, q: q, limit: gaugePatience},
		sequences: &probe[int]{ask: countStopped, q: q, limit: maxExamination, maxAge: c.MaxAge}}
	var errs [7]error
	g.up, errs[0] = m.Int64ObservableGauge("postroom.queue.up",
		metric.WithDescription("1 if the database has answered, else 0"))
	g.jobs, errs[1] = m.Int64ObservableGauge("postroom.queue.jobs", metric.WithUnit("{job}"),
		metric.WithDescription("Stored jobs that have not completed, by type and standing"))
	g.oldest, errs[2] = m.Float64ObservableGauge("postroom.queue.oldest_due.age", metric.WithUnit("s"),
		metric.WithDescription("For how long the oldest job has been due without running"))
	g.workers, errs[3] = m.Int64ObservableGauge("postroom.queue.workers", metric.WithUnit("{worker}"),
		metric.WithDescription("Workers, alive or dead"))
	g.findings, errs[4] = m.Int64ObservableGauge("postroom.queue.findings", metric.WithUnit("{finding}"),
		metric.WithDescription("Findings of Doctor, by severity"))
	g.stopped, errs[5] = m.Int64ObservableGauge("postroom.queue.sequences.stopped", metric.WithUnit("{sequence}"),
		metric.WithDescription("Sequences that a failed job stops"))
	g.flows, errs[6] = m.Int64ObservableGauge("postroom.queue.flows", metric.WithUnit("{flow}"),
		metric.WithDescription("Flows that have not ended, by state"))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return m.RegisterCallback(g.observe, g.up, g.jobs, g.oldest, g.flows, g.workers, g.findings, g.stopped)
}

// maxStopped bounds the count of stopped sequences.
const maxStopped = 1000

func countStopped(ctx context.Context, q *queue.Queue) (int, error) {
	store, ok := driver.As[driver.SequenceStore](q.DB().Driver())
	if !ok {
		return 0, nil
	}
	stopped, err := store.Stopped(ctx, maxStopped)
	return len(stopped), err
}

func readStats(ctx context.Context, q *queue.Queue) (*measured, error) {
	stats, err := queueadmin.ReadStats(ctx, q, nil)
	if err != nil {
		return nil, err
	}
	read := &measured{Stats: stats}
	read.running, read.canceling, err = queueadmin.OpenFlows(ctx, q)
	return read, err
}

// observe reads the database. An error of it is reported by the gauge up alone.
func (g *gauges) observe(ctx context.Context, o metric.Observer) error {
	stats, _, err := g.stats.look(ctx, gaugePatience)
	if err != nil {
		o.ObserveInt64(g.up, 0)
		return nil //nolint:nilerr // the gauge says so
	}
	o.ObserveInt64(g.up, 1)
	for i := range stats.Types {
		g.observeType(o, &stats.Types[i], stats.At)
	}
	observeBy(o, g.flows, keyFlow, "running", stats.running)
	observeBy(o, g.flows, keyFlow, "canceling", stats.canceling)
	alive, dead := 0, 0
	for _, w := range stats.Workers {
		if w.Beat < 0 {
			dead++
		} else {
			alive++
		}
	}
	observeBy(o, g.workers, keyWorker, "alive", alive)
	observeBy(o, g.workers, keyWorker, "dead", dead)
	g.examine(ctx, o)
	return nil
}

// examine reports what is found out once in a while. An error would keep a reader from exporting the rest. Both
// together are given the time of one.
func (g *gauges) examine(ctx context.Context, o metric.Observer) {
	ctx, cancel := context.WithTimeout(ctx, gaugePatience)
	defer cancel()
	if stopped, _, err := g.sequences.look(ctx, gaugePatience); err == nil {
		o.ObserveInt64(g.stopped, int64(stopped))
	}
	findings, _, err := g.doctor.look(ctx, gaugePatience)
	if err != nil {
		return
	}
	counts := make(map[queueadmin.Severity]int)
	for _, f := range findings {
		counts[f.Severity]++
	}
	for _, s := range []queueadmin.Severity{queueadmin.SeverityWarning, queueadmin.SeverityProblem} {
		observeBy(o, g.findings, keySeverity, string(s), counts[s])
	}
}

func (g *gauges) observeType(o metric.Observer, t *queueadmin.TypeStats, now time.Time) {
	name := keyType.String(t.Type)
	for _, s := range []struct {
		standing string
		jobs     int
	}{
		{"ready", t.Ready}, {"scheduled", t.Scheduled}, {"limited", t.Limited}, {"moving", t.Moving},
		{"waiting", t.Waiting}, {"running", t.Running}, {"failed", t.Failed},
	} {
		o.ObserveInt64(g.jobs, int64(s.jobs), metric.WithAttributes(name, keyStanding.String(s.standing)))
	}
	age := 0.0
	if !t.OldestDue.IsZero() {
		age = max(0, now.Sub(t.OldestDue).Seconds())
	}
	o.ObserveFloat64(g.oldest, age, metric.WithAttributes(name))
}

func observeBy(o metric.Observer, g metric.Int64Observable, key attribute.Key, value string, n int) {
	o.ObserveInt64(g, int64(n), metric.WithAttributes(key.String(value)))
}
