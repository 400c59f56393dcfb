package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// childArg makes this program the child of another run of itself, which measures it as a process of its own.
const childArg = "child"

// A memoryResult is the peak of the resident memory of a process that drained n jobs.
type memoryResult struct {
	N   int
	MiB []float64
}

// An idleResult is the share of one core that a dispatcher takes that waits for jobs, in percent.
type idleResult struct {
	For     time.Duration
	Percent []float64
}

// measureMemory drains few jobs and many, each in a new process: the difference is the cost of a job.
func (b *bench) measureMemory(ctx context.Context, c *Contender) error {
	for _, n := range []int{max(1, b.size.Memory/1000), b.size.Memory} {
		result := memoryResult{N: n}
		for range b.rounds {
			mib, err := b.child(ctx, c, n, "memory", strconv.Itoa(n))
			if err != nil {
				return err
			}
			log.Printf("memory %s, %d jobs: %.1f MiB", c, n, mib)
			result.MiB = append(result.MiB, mib)
		}
		b.memory = append(b.memory, result)
	}
	return nil
}

func (b *bench) measureIdle(ctx context.Context, c *Contender) error {
	result := idleResult{For: b.size.Idle}
	for range b.rounds {
		percent, err := b.child(ctx, c, 0, "idle", b.size.Idle.String())
		if err != nil {
			return err
		}
		log.Printf("idle %s: %.3f %% of a core", c, percent)
		result.Percent = append(result.Percent, percent)
	}
	b.idle = append(b.idle, result)
	return nil
}

// child stages n due jobs in a file and has a process of its own work on it, whose answer is a number.
func (b *bench) child(ctx context.Context, c *Contender, n int, task, arg string) (answer float64, err error) {
	place, remove, err := b.engines[c.Engine].Make(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	place.Durability = Normal
	q, err := c.Open(ctx, place)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(q.Stage(ctx, Due, n), q.Close()); err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, childArg, task, place.Path, arg) //nolint:gosec // itself
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("the process of its own: %w", err)
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}

// runChild runs the task of a process that this program has started.
func runChild(ctx context.Context, task string, args []string) error {
	switch task {
	case "errand":
		var e errand
		if err := decode(args[0], &e); err != nil {
			return err
		}
		figure, err := e.run(ctx)
		if err != nil {
			return err
		}
		answer, err := encode(figure)
		return errors.Join(err, printLine(answer))
	case "machine":
		return runMachine(ctx, args[0])
	case "memory", "idle":
		if len(args) == 2 {
			return runAlone(ctx, task, args[0], args[1])
		}
	}
	return fmt.Errorf("no such task: %q of %q", task, args)
}

// runAlone prints the cost of working on a file.
func runAlone(ctx context.Context, task, path, arg string) error {
	q, err := openPostroom(ctx, Place{Path: path, Durability: Normal}, ourWorkers, openOurSQLite)
	if err != nil {
		return err
	}
	measure := childMemory
	if task == "idle" {
		measure = childIdle
	}
	answer, err := measure(ctx, q, arg)
	if err := errors.Join(err, q.Close()); err != nil {
		return err
	}
	return printLine(answer)
}

// printLine answers the process that started this one.
func printLine(answer any) error {
	_, err := fmt.Fprintln(os.Stdout, answer)
	return err
}

func childMemory(ctx context.Context, q *postroom, arg string) (float64, error) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		return 0, err
	}
	if _, err := drain(ctx, q, n, 0); err != nil {
		return 0, err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("only Linux reports the peak of the memory: %w", err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	kib, _, _ := strings.Cut(strings.TrimSpace(peak), " ")
	value, err := strconv.ParseFloat(kib, 64)
	return value / 1024, err
}

// childIdle measures a dispatcher as it is by default.
func childIdle(ctx context.Context, p *postroom, arg string) (float64, error) {
	wait, err := time.ParseDuration(arg)
	if err != nil {
		return 0, err
	}
	running, stop := context.WithTimeout(ctx, wait)
	defer stop()
	before, start := cpuTime(), time.Now()
	if err := p.runIdle(running); err != nil {
		return 0, err
	}
	return 100 * float64(cpuTime()-before) / float64(time.Since(start)), nil
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
