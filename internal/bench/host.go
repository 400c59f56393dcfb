package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/store"
)

// A host has the properties of the machine that affect the results.
type host struct {
	Cores  int
	System string
	Go     string
	Fsyncs float64 // appends of 4 KiB a second, each with fdatasync
	Load   string  // when the run began
}

func describeHost(dir string, spend time.Duration) (host, error) {
	fsyncs, err := fsyncRate(dir, spend)
	if err != nil {
		return host{}, fmt.Errorf("measure the disk: %w", err)
	}
	load := "unknown"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(text), " ")
	}
	return host{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Fsyncs: fsyncs, Load: load}, nil
}

func fsyncRate(dir string, spend time.Duration) (float64, error) {
	file, err := os.CreateTemp(dir, "postroom-bench-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	page := make([]byte, 4096)
	n, start := 0, time.Now()
	for ; time.Since(start) < spend; n++ {
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(start).Seconds(), file.Close()
}

// versions tells the version of each module that was linked, and the commit of ours.
func versions(ctx context.Context) map[string]string {
	result := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			result[module.Path] = module.Version
		}
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude", "*").Output()
	if err != nil {
		commit = []byte("of an unknown commit")
	}
	result[postroom.Module] = strings.TrimSpace(string(commit))
	return result
}

// checkEngines asks all before anything is measured, so that nobody waits an hour to hear that a server is missing.
func checkEngines(ctx context.Context, all map[string]store.Engine, names []string) (map[string]string, error) {
	about := map[string]string{}
	var errs []error
	for _, name := range names {
		text, err := all[name].Check(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", all[name].Title(), err))
		}
		about[name] = text
	}
	return about, errors.Join(errs...)
}
