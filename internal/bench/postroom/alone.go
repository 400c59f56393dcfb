package postroom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/postroom-go/postroom/internal/bench/child"
	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

// The tasks of a process that works on a file alone.
const (
	MemoryTask = "memory"
	IdleTask   = "idle"
)

// A MemoryResult is the peak of the resident memory of a process that drained n jobs.
type MemoryResult struct {
	N   int
	MiB []float64
}

// An IdleResult is the share of one core that a dispatcher takes that waits for jobs, in percent.
type IdleResult struct {
	For     time.Duration
	Percent []float64
}

// measureMemory drains few jobs and many, each in a new process: the difference is the cost of a job.
func (b *Bench) measureMemory(ctx context.Context) error {
	for _, n := range []int{max(1, b.Size.Memory/1000), b.Size.Memory} {
		result := MemoryResult{N: n}
		for range b.Rounds {
			mib, err := b.alone(ctx, n, MemoryTask, strconv.Itoa(n))
			if err != nil {
				return err
			}
			log.Printf("memory %s, %d jobs: %.1f MiB", b, n, mib)
			result.MiB = append(result.MiB, mib)
		}
		b.results.Memory = append(b.results.Memory, result)
	}
	return nil
}

func (b *Bench) measureIdle(ctx context.Context) error {
	result := IdleResult{For: b.Size.Idle}
	for range b.Rounds {
		percent, err := b.alone(ctx, 0, IdleTask, b.Size.Idle.String())
		if err != nil {
			return err
		}
		log.Printf("idle %s: %.3f %% of a core", b, percent)
		result.Percent = append(result.Percent, percent)
	}
	b.results.Idle = append(b.results.Idle, result)
	return nil
}

// alone stages n due jobs in a file and has a process of its own work on it, whose answer is a number.
func (b *Bench) alone(ctx context.Context, n int, task, arg string) (answer float64, err error) {
	place, remove, err := b.Engine.Make(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	place.Durability = store.Normal
	q, err := open(ctx, b.Name, place, tunedWorkers)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(q.Stage(ctx, contender.Due, n), q.Close()); err != nil {
		return 0, err
	}
	cmd, err := child.Command(ctx, task, place.Path, arg)
	if err != nil {
		return 0, err
	}
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("the process of its own: %w", err)
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}

// RunAlone answers the parent with the cost of working on a file.
func RunAlone(ctx context.Context, task, path, arg string) error {
	q, err := open(ctx, "sqlite", store.Place{Path: path, Durability: store.Normal}, tunedWorkers)
	if err != nil {
		return err
	}
	measure := childMemory
	if task == IdleTask {
		measure = childIdle
	}
	answer, err := measure(ctx, q, arg)
	if err := errors.Join(err, q.Close()); err != nil {
		return err
	}
	return child.Answer(answer)
}

func childMemory(ctx context.Context, q *postroom, arg string) (float64, error) {
	n, err := strconv.Atoi(arg)
	if err != nil {
		return 0, err
	}
	if _, err := contender.Drain(ctx, q, n, 0); err != nil {
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
