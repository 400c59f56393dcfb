// Command bench compares the queue with the raw engine and with other queues, and writes the results as Markdown.
//
//	go run . -out ../../docs/benchmarks.md     everything: PostgreSQL and Redis servers are needed, and hours
//	go run . -quick                            the same with very few jobs: whether it works, not how fast
//	go run . -only '^sqlite/(raw|postroom)' -workload drain
//
// If it is interrupted, it writes the results so far, and fails.
//
// A contender is one file that implements [contender.Queue]; a workload is one function from a Queue to a
// [figure.Figure].
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

	"github.com/postroom-go/postroom/internal/bench/child"
	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/machine"
	"github.com/postroom-go/postroom/internal/bench/peers"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/raw"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/internal/bench/workload"
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
	if len(args) > 2 && args[0] == child.Arg {
		return runChild(ctx, args[1], args[2:])
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	quick := flags.Bool("quick", false, "measure one round of very few jobs, to see whether everything works")
	only := flags.String("only", "",
		"measure contenders whose engine/name matches this expression, as '^sqlite/(raw|postroom)'")
	work := flags.String("workload", "", "measure workloads whose name matches this expression, as '^drain'")
	durability := flags.String("durability", "",
		"measure SQLite with this durability alone: NORMAL or FULL; default: both")
	rounds := flags.Int("rounds", 5, "how many times each is measured; the medians are reported")
	limit := flags.Duration("limit", 5*time.Second, "cut a measurement short after this; what was done by then counts")
	dir := flags.String("dir", os.TempDir(), "folder for the files, on the disk to be measured")
	out := flags.String("out", "", "file for the report; default: standard output")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch store.Durability(*durability) {
	case "", store.Normal, store.Full:
	default:
		return fmt.Errorf("-durability is %q; it must be NORMAL or FULL", *durability)
	}
	b := &bench{engines: store.Engines(*dir, store.Durability(*durability)), dir: *dir, rounds: *rounds, size: fullSize()}
	b.size.Limit, b.size.Postroom.Limit = *limit, *limit
	if *quick {
		b.rounds, b.size = 1, quickSize()
	}
	if b.rounds < 1 {
		return fmt.Errorf("-rounds is %d; it must be at least 1", b.rounds)
	}
	text, err := b.run(ctx, *only, *work)
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
func (b *bench) run(ctx context.Context, only, work string) (_ string, err error) {
	defer func() { err = errors.Join(err, removePrograms()) }()
	chosen, err := regexp.Compile(only)
	if err != nil {
		return "", fmt.Errorf("-only: %w", err)
	}
	wanted, err := regexp.Compile(work)
	if err != nil {
		return "", fmt.Errorf("-workload: %w", err)
	}
	b.contenders = slices.DeleteFunc(contenders(), func(c contender.Contender) bool {
		return !chosen.MatchString(c.String())
	})
	b.workloads = slices.DeleteFunc(workload.All(), func(w workload.Workload) bool { return !wanted.MatchString(w.Name) })
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
	on, err := describeHost(b.dir, spend)
	if err != nil {
		return "", err
	}
	// Measurements are stopped between them: a context that can be canceled would slow them.
	for _, name := range names {
		b.compare(ctx, name)
	}
	machines := machine.Bench{Engines: b.engines, Contenders: b.contenders, Dir: b.dir, Rounds: b.rounds,
		Size: b.size.Machines, Failf: b.failf}
	b.machines = machines.Measure(ctx, wanted)
	b.measureOurs(ctx, wanted)
	if ctx.Err() != nil {
		b.failf("the run was interrupted: what is missing above was not measured")
	}
	return b.report(on, about, versions(ctx)), nil
}

// measureOurs is for our queue alone.
func (b *bench) measureOurs(ctx context.Context, wanted *regexp.Regexp) {
	for _, c := range b.contenders {
		if c.Name == postroom.Name {
			ours := postroom.Bench{Name: c.Engine, Engine: b.engines[c.Engine], Rounds: b.rounds, Size: b.size.Postroom,
				Failf: b.failf}
			ours.Measure(ctx, wanted, &b.ours)
		}
	}
}

func contenders() []contender.Contender {
	return slices.Concat(raw.All(), postroom.All(), peers.All())
}

// removePrograms deletes the programs that were built for contenders elsewhere.
func removePrograms() error {
	var errs []error
	for _, c := range contenders() {
		if c.Elsewhere != nil {
			errs = append(errs, c.Elsewhere.Remove())
		}
	}
	return errors.Join(errs...)
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
