package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
)

// A program is this one, built with other versions of its modules.
type program struct {
	Modfile, Tag string

	once sync.Once
	dir  string
	err  error
}

// An errand is the task of such a program in one call.
type errand struct {
	Contender, Workload string
	Place               Place
	Size                *Size
	Stage               bool // fill the store, and measure nothing
}

// path builds the program when it is first asked for.
func (p *program) path() (string, error) {
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "postroom-bench-"); p.err != nil {
			return
		}
		build := exec.Command("go", "build", "-modfile", p.Modfile, "-tags", p.Tag, "-o", filepath.Join(p.dir, p.Tag), ".") //nolint:gosec,noctx // ours
		if out, err := build.CombinedOutput(); err != nil {
			p.err = fmt.Errorf("build with %s: %w; run this in its own folder, as go run . does, and go mod tidy -modfile=%[1]s after changes of go.mod\n%[3]s", p.Modfile, err, out)
		}
	})
	return filepath.Join(p.dir, p.Tag), p.err
}

func (p *program) remove() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}

// version is that of a module that the program links.
func (p *program) version(module string) string {
	path, err := p.path()
	if err != nil {
		return "unknown"
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return "unknown"
}

func (p *program) stage(ctx context.Context, e errand) error {
	e.Stage = true
	_, err := p.round(ctx, e)
	return err
}

// round measures in a process of its own. The store is open only in that process.
func (p *program) round(ctx context.Context, e errand) (figure Figure, err error) {
	path, err := p.path()
	if err != nil {
		return Figure{}, err
	}
	order, err := encode(e)
	if err != nil {
		return Figure{}, err
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, childArg, "errand", order) //nolint:gosec // itself
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return Figure{}, fmt.Errorf("the process of its own: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return figure, decode(string(bytes.TrimSpace(out)), &figure)
}

// run runs the errand in that process.
func (e *errand) run(ctx context.Context) (figure Figure, err error) {
	all := contenders()
	c := slices.IndexFunc(all, func(c Contender) bool { return c.String() == e.Contender && c.Open != nil })
	w := slices.IndexFunc(workloads(), func(w Workload) bool { return w.Name == e.Workload })
	if c < 0 || w < 0 {
		return Figure{}, fmt.Errorf("this program has no %s with %s", e.Contender, e.Workload)
	}
	q, err := all[c].Open(ctx, e.Place)
	if err != nil {
		return Figure{}, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	workload := workloads()[w]
	if !e.Stage {
		return workload.Measure(ctx, q, e.Size)
	}
	if workload.Staged == nil {
		return Figure{}, nil
	}
	kind, n := workload.Staged(e.Size)
	return Figure{}, q.Stage(ctx, kind, n)
}
