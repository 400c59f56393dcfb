package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A setClock can be set, unlike the monotonic one in it, and its machine can sleep.
type setClock struct {
	shown  time.Time
	passed time.Duration
	up     time.Duration
	mute   bool // nobody knows how long the machine is up
}

func (s *setClock) pass(d time.Duration) {
	s.shown, s.passed, s.up = s.shown.Add(d), s.passed+d, s.up+d
}

func (s *setClock) sleep(d time.Duration) { s.shown, s.up = s.shown.Add(d), s.up+d }

func (s *setClock) set(by time.Duration) { s.shown = s.shown.Add(by) }

func (s *setClock) machine() machine {
	return machine{
		now:    func() (time.Time, time.Duration) { return s.shown, s.passed },
		uptime: func() (time.Duration, bool) { return s.up, !s.mute },
	}
}

func TestSteadyClock(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(s *setClock, read func())
		want time.Duration // the machine's clock is ahead of what is read
	}{
		"time passes":     {do: func(s *setClock, _ func()) { s.pass(48 * time.Hour) }},
		"it is corrected": {do: func(s *setClock, _ func()) { s.set(-leapLimit + 1) }},
		"it is corrected often": {do: func(s *setClock,
			read func()) {
			times(20, func() { s.set(time.Minute); read(); s.pass(time.Second) })
		}},
		"a day ahead":  {do: func(s *setClock, _ func()) { s.set(24 * time.Hour) }, want: 24 * time.Hour},
		"a day behind": {do: func(s *setClock, _ func()) { s.set(-24 * time.Hour) }, want: -24 * time.Hour},
		"a year ahead": {do: func(s *setClock, _ func()) { s.set(365 * 24 * time.Hour) },
			want: 365 * 24 * time.Hour},
		"ahead and time passes": {do: func(s *setClock, read func()) { s.set(time.Hour); read(); s.pass(leapHold - 1) },
			want: time.Hour},
		"ahead and it stays so": {do: func(s *setClock, read func()) { s.set(time.Hour); read(); s.pass(leapHold) }},
		"ahead and put right": {do: func(s *setClock,
			read func()) {
			s.set(time.Hour)
			read()
			s.pass(time.Minute)
			s.set(-time.Hour)
		}},
		"ahead, and then further": {do: func(s *setClock, read func()) {
			s.set(time.Hour)
			read()
			s.pass(leapHold - 1)
			s.set(time.Hour)
			read()
			s.pass(1)
		}, want: 2 * time.Hour},
		"ahead twice": {do: func(s *setClock, read func()) {
			s.set(time.Hour)
			read()
			s.set(-time.Hour)
			read()
			s.pass(leapHold)
			s.set(time.Hour)
			read()
			s.pass(1)
		}, want: time.Hour},
		"the machine sleeps": {do: func(s *setClock, _ func()) { s.sleep(8 * time.Hour) }},
		"it sleeps and is set while it did": {do: func(s *setClock,
			_ func()) {
			s.sleep(8 * time.Hour)
			s.set(24 * time.Hour)
		}, want: 32 * time.Hour},
		"nobody knows that it sleeps": {do: func(s *setClock, _ func()) { s.mute = true; s.sleep(8 * time.Hour) },
			want: 8 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := &setClock{shown: time.Now().Round(0)}
			steady := newSteadyClock(s.machine())
			c.do(s, func() { steady.now() })
			for range 2 {
				require.Equal(t, c.want, s.shown.Sub(steady.now()))
			}
		})
	}
}

func times(n int, do func()) {
	for range n {
		do()
	}
}

func TestUptimeGoesOn(t *testing.T) {
	first, ok := uptime()
	if !ok {
		t.Skip("this system does not say how long it is up")
	}
	again, _ := uptime()
	require.Positive(t, first)
	require.GreaterOrEqual(t, again, first)
}
