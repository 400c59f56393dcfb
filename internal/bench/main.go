// Command bench compares the queue with the raw engine and with other queues, and writes the results as Markdown.
//
//	go run . -out ../../docs/benchmarks.md     everything: PostgreSQL and Redis servers are needed, and hours
//	go run . -quick                            the same with very few jobs: whether it works, not how fast
//	go run . -only '^sqlite/(raw|postroom)' -workload drain
//
// If it is interrupted, it writes the results so far, and fails.
//
// A contender is one file that implements [Queue]; a workload is one function from a Queue to a [Figure].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(log.Ltime)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 2 && args[0] == childArg {
		return runChild(ctx, args[1], args[2:])
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "measure one round of very few jobs, to see whether everything works")
	only := flags.String("only", "", "measure contenders whose engine/name matches this expression, as '^sqlite/(raw|postroom)'")
	workload := flags.String("workload", "", "measure workloads whose name matches this expression, as '^drain'")
	durability := flags.String("durability", "", "measure SQLite with this durability alone: NORMAL or FULL; default: both")
	rounds := flags.Int("rounds", 5, "how many times each is measured; the medians are reported")
	limit := flags.Duration("limit", 5*time.Second, "cut a measurement short after this; what was done by then counts")
	dir := flags.String("dir", os.TempDir(), "folder for the files, on the disk to be measured")
	out := flags.String("out", "", "file for the report; default: standard output")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch Durability(*durability) {
	case "", Normal, Full:
	default:
		return fmt.Errorf("-durability is %q; it must be NORMAL or FULL", *durability)
	}
	b := &bench{engines: engines(*dir, Durability(*durability)), dir: *dir, rounds: *rounds, size: fullSize()}
	b.size.Limit = *limit
	if *quick {
		b.rounds, b.size = 1, quickSize()
	}
	if b.rounds < 1 {
		return fmt.Errorf("-rounds is %d; it must be at least 1", b.rounds)
	}
	text, err := b.run(ctx, *only, *workload)
	if err != nil {
		return err
	}
	if *out != "" {
		err = writeReport(*out, text)
	} else {
		_, err = os.Stdout.WriteString(text)
	}
	return errors.Join(b.failed(*quick), err)
}

// run measures and returns the report. Failures are in b.failures, and missing in the report.
func (b *bench) run(ctx context.Context, only, workload string) (_ string, err error) {
	defer func() { err = errors.Join(err, riverSQLite.remove()) }()
	chosen, err := regexp.Compile(only)
	if err != nil {
		return "", fmt.Errorf("-only: %w", err)
	}
	wanted, err := regexp.Compile(workload)
	if err != nil {
		return "", fmt.Errorf("-workload: %w", err)
	}
	b.contenders = slices.DeleteFunc(contenders(), func(c Contender) bool { return !chosen.MatchString(c.String()) })
	b.workloads = slices.DeleteFunc(workloads(), func(w Workload) bool { return !wanted.MatchString(w.Name) })
	names := b.engineNames()
	if len(names) == 0 {
		return "", fmt.Errorf("no contender matches -only %q; there are %v", only, contenderNames())
	}
	about, err := checkEngines(ctx, b.engines, names)
	if err != nil {
		return "", err
	}
	spend := time.Second
	if b.rounds == 1 {
		spend /= 10
	}
	machine, err := describeMachine(b.dir, spend)
	if err != nil {
		return "", err
	}
	// Measurements are stopped between them: a context that can be canceled would slow them.
	for _, name := range names {
		b.compare(ctx, name)
	}
	b.measureMachines(ctx, wanted)
	b.measureGrowth(ctx, wanted)
	if ctx.Err() != nil {
		b.failf("the run was interrupted: what is missing above was not measured")
	}
	return b.report(machine, about, versions(ctx)), nil
}

// measureGrowth is for our queue alone.
func (b *bench) measureGrowth(ctx context.Context, wanted *regexp.Regexp) {
	cases := slices.DeleteFunc(claimCases(), func(c claimCase) bool { return !wanted.MatchString(c.Name) })
	limits := slices.DeleteFunc(limitCases(), func(c limitCase) bool { return !wanted.MatchString(c.Name) })
	for i := range b.contenders {
		c := &b.contenders[i]
		if c.Name != ourName {
			continue
		}
		b.measureClaims(ctx, c, cases)
		b.measureLimits(ctx, c, limits)
		b.measureLimitDrains(ctx, c, wanted)
		if c.Engine != "sqlite" {
			continue
		}
		if wanted.MatchString("memory") {
			if err := b.measureMemory(ctx, c); err != nil {
				b.failf("memory: %w", err)
			}
		}
		if wanted.MatchString("idle") {
			if err := b.measureIdle(ctx, c); err != nil {
				b.failf("idle: %w", err)
			}
		}
	}
}

func (b *bench) engineNames() []string {
	var names []string
	for _, c := range b.contenders {
		if !slices.Contains(names, c.Engine) {
			names = append(names, c.Engine)
		}
	}
	return names
}

func contenderNames() []string {
	var names []string
	for _, c := range contenders() {
		names = append(names, c.String())
	}
	return names
}
