package printer

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress shows the progress: with a bar on a terminal, otherwise with occasional lines.
type Progress struct {
	w        io.Writer
	terminal bool
}

// NewProgress makes the progress that w shows.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, terminal: IsTerminal(w)}
}

// IsTerminal reports whether what is written is shown by a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Sayf prints a line and ignores errors.
func (p *Progress) Sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.w, format+"\n", args...)
}

// A Bar is the progress of one phase.
type Bar struct {
	p     *Progress
	name  string
	total int // 0 when unknown
	bar   *progressbar.ProgressBar

	one, many string // what is counted

	count int
	said  time.Time
	told  int // the count of the last line; -1 before the first
}

const lineInterval = 2 * time.Second

// Start begins a phase of so many messages; 0 if nobody knows how many.
func (p *Progress) Start(name string, total int) *Bar {
	b := &Bar{p: p, name: name, total: total, said: time.Now(), told: -1, one: "message", many: "messages"}
	if p.terminal {
		limit := total
		if limit == 0 {
			limit = -1
		}
		b.bar = progressbar.NewOptions(limit, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(50*time.Millisecond),
			progressbar.OptionSetSpinnerChangeInterval(0)) // else a goroutine of the library reads the bar without its lock
	}
	return b
}

// Of says what the bar counts, if not messages.
func (b *Bar) Of(one, many string) *Bar {
	b.one, b.many = one, many
	return b
}

// Set shows how many messages are done.
func (b *Bar) Set(count int) {
	b.count = count
	switch {
	case b.bar != nil:
		_ = b.bar.Set(count)
	case count != max(b.told, 0) && time.Since(b.said) >= lineInterval:
		b.said = time.Now()
		b.line()
	}
}

func (b *Bar) line() {
	b.told = b.count
	if b.total > 0 {
		b.p.Sayf("%s: %d of %s", b.name, b.count, Count(b.total, b.one, b.many))
		return
	}
	b.p.Sayf("%s: %s", b.name, Count(b.count, b.one, b.many))
}

// Done ends the phase.
func (b *Bar) Done() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
	if b.count != b.told {
		b.line()
	}
}
