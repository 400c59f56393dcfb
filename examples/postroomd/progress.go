package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows the progress: with a bar on a terminal, otherwise with occasional lines.
type progress struct {
	w        io.Writer
	terminal bool
}

func newProgress(w io.Writer) *progress {
	file, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

// sayf prints a line and ignores errors.
func (p *progress) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format+"\n", args...)
}

// A bar is the progress of one phase.
type bar struct {
	p     *progress
	name  string
	total int // 0 when unknown
	bar   *progressbar.ProgressBar

	count int
	said  time.Time
	told  int // the count of the last line; -1 before the first
}

const lineInterval = 2 * time.Second

func (p *progress) start(name string, total int) *bar {
	b := &bar{p: p, name: name, total: total, said: time.Now(), told: -1}
	if p.terminal {
		limit := total
		if limit == 0 {
			limit = -1
		}
		b.bar = progressbar.NewOptions(limit, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(50*time.Millisecond))
	}
	return b
}

func (b *bar) set(count int) {
	b.count = count
	switch {
	case b.bar != nil:
		_ = b.bar.Set(count)
	case count != max(b.told, 0) && time.Since(b.said) >= lineInterval:
		b.said = time.Now()
		b.line()
	}
}

func (b *bar) line() {
	b.told = b.count
	if b.total > 0 {
		b.p.sayf("%s: %d of %s", b.name, b.count, count(b.total, "message", "messages"))
		return
	}
	b.p.sayf("%s: %s", b.name, count(b.count, "message", "messages"))
}

func (b *bar) done() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
	if b.count != b.told {
		b.line()
	}
}
