package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/internal/bench/child"
	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

// Task is that of a process that stands for a machine.
const Task = "machine"

// An order is what such a process is to do.
type order struct {
	Contender string
	Place     store.Place
	Workers   int // 0: the contender's setting
	Work      time.Duration
}

// A fleet is processes that work on one store.
type fleet struct{ members []*member }

// A member is one process. It answers each line that it is sent with a number: "start", "count" and "stop".
type member struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startFleet returns when all processes are ready to start.
func startFleet(ctx context.Context, who *contender.Contender, c Case, s *Size, place store.Place) (*fleet, error) {
	o := order{Contender: who.String(), Place: place, Work: c.Work}
	if c.Work > 0 {
		o.Workers = s.Workers
	}
	text, err := child.Encode(o)
	if err != nil {
		return nil, err
	}
	f := &fleet{}
	for range c.Machines {
		m, err := startMember(ctx, text)
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.members = append(f.members, m)
	}
	if _, err := f.ask("ready"); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func startMember(ctx context.Context, order string) (*member, error) {
	cmd, err := child.Command(ctx, Task, order)
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &member{cmd: cmd, in: in, out: bufio.NewReader(out)}, cmd.Start()
}

// measure returns how many jobs a second ran after the warm-up, and how many ran at all.
func (f *fleet) measure(s *Size, jobs int) (rate float64, ran int, err error) {
	start := time.Now()
	if _, err := f.ask("start"); err != nil {
		return 0, 0, err
	}
	time.Sleep(s.WarmUp)
	first, err := f.ask("count")
	if err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if first >= jobs*99/100 { // few jobs, done in the warm-up
		begin, first = start, 0
	}
	last := first
	took := time.Since(begin)
	// Where the jobs do not last, the time until nearly all have run counts; where none has run yet, the measurement
	// lasts until some have.
	for (took < s.Measure || last == first && took < contender.StartTimeout) && last < jobs*99/100 {
		time.Sleep(min(50*time.Millisecond, s.Measure/4))
		if last, err = f.ask("count"); err != nil {
			return 0, 0, err
		}
		took = time.Since(begin)
	}
	if ran, err = f.ask("stop"); err != nil {
		return 0, 0, err
	}
	if last <= first {
		return 0, 0, fmt.Errorf("no job ran in %v, and %d in %v before", took, first, s.WarmUp)
	}
	return float64(last-first) / took.Seconds(), ran, nil
}

// ask sends all members a line and adds up their answers.
func (f *fleet) ask(line string) (int, error) {
	var (
		wg     sync.WaitGroup
		total  atomic.Int64
		errs   = make([]error, len(f.members))
		answer = func(m *member) error {
			if _, err := io.WriteString(m.in, line+"\n"); err != nil {
				return err
			}
			text, err := m.out.ReadString('\n')
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(strings.TrimSpace(text))
			total.Add(int64(n))
			return err
		}
	)
	for i, m := range f.members {
		wg.Go(func() {
			if err := answer(m); err != nil {
				errs[i] = fmt.Errorf("machine %d, %s: %w", i+1, line, err)
			}
		})
	}
	wg.Wait()
	return int(total.Load()), errors.Join(errs...)
}

// close waits for the processes, which end when there is nothing more to read.
func (f *fleet) close() error {
	var errs []error
	for _, m := range f.members {
		errs = append(errs, m.in.Close())
	}
	for _, m := range f.members {
		errs = append(errs, m.cmd.Wait())
	}
	return errors.Join(errs...)
}

// Run runs the task of such a process for one of the contenders.
func Run(ctx context.Context, text string, all []contender.Contender) error {
	var o order
	if err := child.Decode(text, &o); err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(c contender.Contender) bool {
		return c.String() == o.Contender && c.OpenMachine != nil
	})
	if i < 0 {
		return fmt.Errorf("this program has no machines of %s", o.Contender)
	}
	q, err := all[i].OpenMachine(ctx, o.Place, o.Workers)
	if err != nil {
		return err
	}
	return errors.Join(obey(ctx, q, o.Work), q.Close())
}

// obey answers line after line, until there are no more.
func obey(ctx context.Context, q contender.Queue, work time.Duration) error {
	var ran atomic.Int64
	running, stop := context.WithCancel(ctx)
	defer stop()
	stopped := make(chan error, 1)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "start":
			go func() {
				stopped <- q.Run(running, func(int64) {
					if work > 0 {
						time.Sleep(work)
					}
					ran.Add(1)
				})
			}()
		case "stop":
			stop()
			// One that has not begun when it is stopped may say so.
			if err := <-stopped; err != nil && !errors.Is(err, context.Canceled) {
				return err
			}
		}
		if err := child.Answer(ran.Load()); err != nil {
			return err
		}
	}
	return lines.Err()
}
