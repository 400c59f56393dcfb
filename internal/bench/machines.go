package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// A MachineSize is how many machines work together, and for how long they are measured.
type MachineSize struct {
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

func fullMachines() MachineSize {
	return MachineSize{
		Counts: []int{1, 4, 16, 64}, NoOp: []int{1, 16}, Processes: []int{1, 4}, Work: 5 * time.Millisecond, Workers: 10,
		Delays: []time.Duration{0, time.Millisecond, 5 * time.Millisecond}, Connections: 5,
		WarmUp: time.Second, Measure: 3 * time.Second, Rounds: 3, Most: 60_000,
	}
}

func quickMachines() MachineSize {
	return MachineSize{
		Counts: []int{1, 2}, NoOp: []int{2}, Processes: []int{2}, Work: time.Millisecond, Workers: 2, Delays: []time.Duration{time.Millisecond}, Connections: 4,
		WarmUp: 20 * time.Millisecond, Measure: 100 * time.Millisecond, Rounds: 1, Most: 10_000,
	}
}

// A machineCase is a number of machines at one distance from the server, or of processes on one file.
type machineCase struct {
	Machines int
	Work     time.Duration
	Delay    time.Duration
}

// jobs is how many are staged, so that they last for the measurement.
func (c machineCase) jobs(s *MachineSize) int {
	rate := s.Most
	if c.Work > 0 {
		rate = min(rate, c.possible(s)*11/10)
	}
	return max(100, int(float64(rate)*(s.WarmUp+s.Measure).Seconds()))
}

// possible is how many jobs a second the workers of all machines could do.
func (c machineCase) possible(s *MachineSize) int {
	return int(float64(c.Machines*s.Workers) / c.Work.Seconds())
}

func (c machineCase) name() string {
	return fmt.Sprintf("machines-%d-%s-%s", c.Machines, c.Work, c.Delay)
}

// A machineResult is jobs a second, by rounds, of each contender, by its String.
type machineResult struct {
	Engine string
	Case   machineCase
	Trip   time.Duration // of a SELECT 1, measured
	By     map[string][]float64
}

// measureMachines is for the contenders that can be opened as machines, in turn.
func (b *bench) measureMachines(ctx context.Context, wanted *regexp.Regexp) {
	for _, name := range []string{"sqlite", "postgres"} {
		cases := b.machineCases(name, wanted)
		var some []*Contender
		for i := range b.contenders {
			if c := &b.contenders[i]; c.Engine == name && c.OpenMachine != nil {
				some = append(some, c)
			}
		}
		if len(cases) == 0 || len(some) == 0 {
			continue
		}
		engine, stop, err := b.engineForMachines(ctx, name)
		if err != nil {
			b.failf("machines: %w", err)
			continue
		}
		for _, c := range cases {
			b.machines = append(b.machines, b.measureMachineCase(ctx, engine, some, machineResult{Engine: name, Case: c, By: map[string][]float64{}}))
		}
		if err := stop(); err != nil {
			b.failf("machines: %w", err)
		}
	}
}

func (b *bench) measureMachineCase(ctx context.Context, engine Engine, some []*Contender, result machineResult) machineResult {
	for round := range min(b.rounds, b.size.Machines.Rounds) {
		for _, contender := range some {
			if ctx.Err() != nil {
				return result
			}
			rate, trip, err := b.machineRound(ctx, engine, contender, result.Case)
			if err != nil {
				b.failf("%s, %s: %w", result.Case.name(), contender, err)
				continue
			}
			log.Printf("%s %s round %d: %.4g/s, a round trip takes %v", result.Case.name(), contender, round+1, rate, trip)
			result.By[contender.String()] = append(result.By[contender.String()], rate)
			result.Trip = trip
		}
	}
	return result
}

// machineCases returns the cases by distance, except on SQLite, where there is none.
func (b *bench) machineCases(engine string, wanted *regexp.Regexp) []machineCase {
	s := &b.size.Machines
	counts, noOp, delays := s.Counts, s.NoOp, s.Delays
	if engine == "sqlite" {
		counts, noOp, delays = s.Processes, s.Processes, []time.Duration{0}
	}
	var cases []machineCase
	add := func(c machineCase) {
		if wanted.MatchString(c.name()) {
			cases = append(cases, c)
		}
	}
	for _, delay := range delays {
		for _, n := range counts {
			add(machineCase{n, s.Work, delay})
		}
		for _, n := range noOp {
			add(machineCase{n, 0, delay})
		}
	}
	return cases
}

// engineForMachines is SQLite, or a server for many machines.
func (b *bench) engineForMachines(ctx context.Context, name string) (Engine, func() error, error) {
	if name == "postgres" {
		return b.serverForMachines(ctx)
	}
	return b.engines[name], func() error { return nil }, nil
}

// serverForMachines is the server of the other workloads, or one of our own where that has too few connections.
func (b *bench) serverForMachines(ctx context.Context) (postgresEngine, func() error, error) {
	engine, ok := b.engines["postgres"].(postgresEngine)
	if !ok {
		return engine, nil, errors.New("there is no PostgreSQL")
	}
	most := 0
	for _, n := range append(b.size.Machines.Counts, b.size.Machines.NoOp...) {
		most = max(most, n)
	}
	// Each has a connection to listen on besides.
	needed := most*(b.size.Machines.Connections+1) + 20
	var allowed string
	err := engine.do(ctx, engine.dsn, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SHOW max_connections").Scan(&allowed)
	})
	if err != nil {
		return engine, nil, err
	}
	if n, err := strconv.Atoi(allowed); err != nil || n >= needed {
		return engine, func() error { return nil }, err
	}
	c, err := startCluster(ctx, b.dir, needed)
	if err != nil {
		return engine, nil, fmt.Errorf("%d machines need a server with max_connections of %d, and the one that %s names has %s; start one of our own: %w",
			most, needed, postgresEnv, allowed, err)
	}
	return postgresEngine{dsn: c.dsn()}, func() error { return c.stop(ctx) }, nil
}

// machineRound stages jobs, starts the machines and counts the jobs that they run after their warm-up.
func (b *bench) machineRound(ctx context.Context, engine Engine, contender *Contender, c machineCase) (rate float64, trip time.Duration, err error) {
	place, remove, err := engine.Make(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	place.Durability = engine.Durabilities()[0]
	s := &b.size.Machines
	q, err := contender.Open(ctx, place)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	jobs := c.jobs(s)
	if err := errors.Join(q.Stage(ctx, Due, jobs), engine.Settle(ctx, place)); err != nil {
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
	f, err := startFleet(ctx, contender, c, s, far)
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
func behindProxy(ctx context.Context, place Place, delay time.Duration) (_ Place, trip time.Duration, closeProxy func() error, err error) {
	cfg, err := pgx.ParseConfig(place.DSN)
	if err != nil {
		return place, 0, nil, err
	}
	target := fmt.Sprintf("%s:%d", cfg.Host, cfg.Port)
	if cfg.Host[0] == '/' {
		target = fmt.Sprintf("%s/.s.PGSQL.%d", cfg.Host, cfg.Port)
	}
	p, err := startProxy(ctx, target, delay)
	if err != nil {
		return place, 0, nil, err
	}
	user := url.User(cfg.User)
	if cfg.Password != "" {
		user = url.UserPassword(cfg.User, cfg.Password)
	}
	dsn := url.URL{Scheme: "postgres", User: user, Host: p.address(), Path: "/" + cfg.Database, RawQuery: "sslmode=disable"}
	place.DSN = dsn.String()
	if trip, err = roundTrip(ctx, place); err != nil {
		return place, 0, nil, errors.Join(err, p.close())
	}
	return place, trip, p.close, nil
}

// roundTrip is the median time of SELECT 1.
func roundTrip(ctx context.Context, place Place) (time.Duration, error) {
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
	return time.Duration(median(times)), conn.Close(ctx)
}
