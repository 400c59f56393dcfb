// Package machine measures dispatchers in processes of their own, which stand for machines, on one store.
package machine

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/internal/bench/proxy"
	"github.com/postroom-go/postroom/internal/bench/store"
)

// A Size is how many machines work together, and for how long they are measured.
type Size struct {
	Counts []int // with jobs that take Work, by Workers at once on each
	NoOp   []int // with jobs that do nothing
	// Processes are as many on one SQLite file.
	Processes []int
	Work      time.Duration
	Workers   int
	Delays    []time.Duration // that a round trip to the server takes longer
	// Connections is how many each machine's pool has.
	Connections int
	WarmUp      time.Duration
	Measure     time.Duration
	Rounds      int // at most
	// Most is the assumed maximum of jobs per second on one server, and bounds the staged jobs.
	Most int
}

// FullSize is for results.
func FullSize() Size {
	return Size{
		Counts: []int{1, 4, 16, 24, 32, 64}, NoOp: []int{1, 16}, Processes: []int{1, 4}, Work: 5 * time.Millisecond, Workers: 10,
		Delays: []time.Duration{0, time.Millisecond, 5 * time.Millisecond}, Connections: 5,
		WarmUp: time.Second, Measure: 3 * time.Second, Rounds: 3, Most: 60_000,
	}
}

// QuickSize is to see whether everything works.
func QuickSize() Size {
	return Size{
		Counts: []int{1, 2}, NoOp: []int{2}, Processes: []int{2}, Work: time.Millisecond, Workers: 2,
		Delays: []time.Duration{time.Millisecond}, Connections: 4,
		WarmUp: 20 * time.Millisecond, Measure: 100 * time.Millisecond, Rounds: 1, Most: 10_000,
	}
}

// A Case is a number of machines at one distance from the server, or of processes on one file.
type Case struct {
	Machines int
	Work     time.Duration
	Delay    time.Duration
}

// jobs is how many are staged, so that they last for the measurement.
func (c Case) jobs(s *Size) int {
	rate := s.Most
	if c.Work > 0 {
		rate = min(rate, c.Possible(s)*11/10)
	}
	return max(100, int(float64(rate)*(s.WarmUp+s.Measure).Seconds()))
}

// Possible is how many jobs a second the workers of all machines could do.
func (c Case) Possible(s *Size) int {
	return int(float64(c.Machines*s.Workers) / c.Work.Seconds())
}

func (c Case) name() string {
	return fmt.Sprintf("machines-%d-%s-%s", c.Machines, c.Work, c.Delay)
}

// A Result is jobs a second, by rounds, of each contender, by its String.
type Result struct {
	Engine string
	Case   Case
	Trip   time.Duration // of a SELECT 1, measured
	By     map[string][]float64
}

// A Bench measures contenders as machines.
type Bench struct {
	Engines    map[string]store.Engine
	Contenders []contender.Contender // of which those that can be opened as machines are measured
	Dir        string                // for a server of our own
	Rounds     int
	Size       Size
	Failf      func(format string, args ...any)
}

// Measure measures the cases that wanted matches, with the contenders in turn.
func (b *Bench) Measure(ctx context.Context, wanted *regexp.Regexp) []Result {
	var results []Result
	for _, name := range []string{"sqlite", "postgres"} {
		cases := b.cases(name, wanted)
		var some []*contender.Contender
		for i := range b.Contenders {
			if c := &b.Contenders[i]; c.Engine == name && c.OpenMachine != nil {
				some = append(some, c)
			}
		}
		if len(cases) == 0 || len(some) == 0 {
			continue
		}
		engine, stop, err := b.engine(ctx, name)
		if err != nil {
			b.Failf("machines: %w", err)
			continue
		}
		for _, c := range cases {
			results = append(results,
				b.measureCase(ctx, engine, some, Result{Engine: name, Case: c, By: map[string][]float64{}}))
		}
		if err := stop(); err != nil {
			b.Failf("machines: %w", err)
		}
	}
	return results
}

func (b *Bench) measureCase(ctx context.Context, engine store.Engine, some []*contender.Contender,
	result Result) Result {
	for round := range min(b.Rounds, b.Size.Rounds) {
		for _, c := range some {
			if ctx.Err() != nil {
				return result
			}
			rate, trip, err := b.round(ctx, engine, c, result.Case)
			if err != nil {
				b.Failf("%s, %s: %w", result.Case.name(), c, err)
				continue
			}
			log.Printf("%s %s round %d: %.4g/s, a round trip takes %v", result.Case.name(), c, round+1, rate, trip)
			result.By[c.String()] = append(result.By[c.String()], rate)
			result.Trip = trip
		}
	}
	return result
}

// cases returns the cases by distance, except on SQLite, where there is none.
func (b *Bench) cases(engine string, wanted *regexp.Regexp) []Case {
	s := &b.Size
	counts, noOp, delays := s.Counts, s.NoOp, s.Delays
	if engine == "sqlite" {
		counts, noOp, delays = s.Processes, s.Processes, []time.Duration{0}
	}
	var cases []Case
	add := func(c Case) {
		if wanted.MatchString(c.name()) {
			cases = append(cases, c)
		}
	}
	for _, delay := range delays {
		for _, n := range counts {
			add(Case{n, s.Work, delay})
		}
		for _, n := range noOp {
			add(Case{n, 0, delay})
		}
	}
	return cases
}

// engine is that of the other workloads, or a server of our own where that has too few connections.
func (b *Bench) engine(ctx context.Context, name string) (store.Engine, func() error, error) {
	engine := b.Engines[name]
	server, ok := engine.(interface {
		WithConnections(ctx context.Context, dir string, n int) (store.Engine, func() error, error)
	})
	if !ok {
		return engine, func() error { return nil }, nil
	}
	most := slices.Max(append(slices.Clone(b.Size.Counts), b.Size.NoOp...))
	// Each has a connection to listen on besides.
	return server.WithConnections(ctx, b.Dir, most*(b.Size.Connections+1)+20)
}

// round stages jobs, starts the machines and counts the jobs that they run after their warm-up.
func (b *Bench) round(ctx context.Context, engine store.Engine, who *contender.Contender, c Case) (rate float64,
	trip time.Duration, err error) {
	place, remove, err := engine.Make(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	place.Durability = engine.Durabilities()[0]
	s := &b.Size
	q, err := who.Open(ctx, place)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	jobs := c.jobs(s)
	if err := errors.Join(q.Stage(ctx, contender.Due, jobs), engine.Settle(ctx, place)); err != nil {
		return 0, 0, err
	}
	far, closeProxy := place, func() error { return nil }
	if place.DSN != "" {
		if far, trip, closeProxy, err = behindProxy(ctx, place, c.Delay); err != nil {
			return 0, 0, err
		}
	}
	defer func() { err = errors.Join(err, closeProxy()) }()
	far.Connections = s.Connections
	f, err := startFleet(ctx, who, c, s, far)
	if err != nil {
		return 0, 0, err
	}
	rate, ran, err := f.measure(s, jobs)
	if err = errors.Join(err, f.close()); err != nil {
		return 0, 0, err
	}
	left, err := q.Unfinished(ctx)
	if err == nil && jobs-left > ran {
		err = fmt.Errorf("%d jobs are done, and %d handlers ran", jobs-left, ran)
	}
	return rate, trip, err
}

// behindProxy is a place whose round trips take longer, and how long they take.
func behindProxy(ctx context.Context, place store.Place, delay time.Duration) (_ store.Place, trip time.Duration,
	closeProxy func() error, err error) {
	cfg, err := pgx.ParseConfig(place.DSN)
	if err != nil {
		return place, 0, nil, err
	}
	target := fmt.Sprintf("%s:%d", cfg.Host, cfg.Port)
	if cfg.Host[0] == '/' {
		target = fmt.Sprintf("%s/.s.PGSQL.%d", cfg.Host, cfg.Port)
	}
	p, err := proxy.Start(ctx, target, delay)
	if err != nil {
		return place, 0, nil, err
	}
	user := url.User(cfg.User)
	if cfg.Password != "" {
		user = url.UserPassword(cfg.User, cfg.Password)
	}
	dsn := url.URL{Scheme: "postgres", User: user, Host: p.Address(), Path: "/" + cfg.Database,
		RawQuery: "sslmode=disable"}
	place.DSN = dsn.String()
	if trip, err = roundTrip(ctx, place); err != nil {
		return place, 0, nil, errors.Join(err, p.Close())
	}
	return place, trip, p.Close, nil
}

// roundTrip is the median time of SELECT 1.
func roundTrip(ctx context.Context, place store.Place) (time.Duration, error) {
	conn, err := pgx.Connect(ctx, place.DSN)
	if err != nil {
		return 0, err
	}
	times := make([]float64, 21)
	for i := range times {
		start := time.Now()
		if _, err := conn.Exec(ctx, "SELECT 1"); err != nil {
			return 0, errors.Join(err, conn.Close(ctx))
		}
		times[i] = float64(time.Since(start))
	}
	return time.Duration(figure.Median(times)), conn.Close(ctx)
}
