package child

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// A Program is this program, built with other versions of its modules.
type Program struct {
	Modfile, Tag string

	once sync.Once
	dir  string
	err  error
}

// path builds the program when it is first asked for.
func (p *Program) path() (string, error) {
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "postroom-bench-"); p.err != nil {
			return
		}
		build := exec.Command("go", "build", "-modfile", p.Modfile, "-tags", p.Tag, "-o", filepath.Join(p.dir, p.Tag), ".") //nolint:gosec,noctx // ours
		if out, err := build.CombinedOutput(); err != nil {
			p.err = fmt.Errorf(
				"build with %s: %w; run this in its own folder, as go run . does, and go mod tidy -modfile=%[1]s after changes of go.mod\n%[3]s", p.Modfile, err, out)
		}
	})
	return filepath.Join(p.dir, p.Tag), p.err
}

// Remove deletes what was built.
func (p *Program) Remove() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}

// Version is that of a module that the program links.
func (p *Program) Version(module string) string {
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

// Ask gives a child of the program a task, and decodes its answer.
func (p *Program) Ask(ctx context.Context, task string, order, answer any) error {
	path, err := p.path()
	if err != nil {
		return err
	}
	text, err := Encode(order)
	if err != nil {
		return err
	}
	var stderr bytes.Buffer
	cmd := command(ctx, path, task, text)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the process of its own: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	return Decode(string(bytes.TrimSpace(out)), answer)
}
