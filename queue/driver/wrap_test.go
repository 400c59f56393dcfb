package driver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// A bare driver has nothing optional; it is not used.
type bare struct{ driver.Driver }

type unwrapping struct{ driver.Driver }

func (w unwrapping) Unwrap() driver.Driver { return w.Driver }

type private struct {
	driver.Driver
	yes bool
}

func (p private) Private() bool { return p.yes }

type clock struct {
	driver.Driver
	now time.Time
}

func (c clock) Now() time.Time { return c.now }

func TestAsFindsWhatIsOptional(t *testing.T) {
	inner := private{yes: true}
	for name, c := range map[string]struct {
		d    driver.Driver
		want bool
	}{
		"nil":                            {nil, false},
		"a driver without":               {bare{}, false},
		"a driver with":                  {inner, true},
		"wrapped":                        {unwrapping{inner}, true},
		"wrapped twice":                  {unwrapping{unwrapping{inner}}, true},
		"wrapped without Unwrap":         {bare{inner}, false},
		"the wrapper's own comes first":  {unwrapper{unwrapping{inner}, false}, false},
		"a wrapper of nothing":           {unwrapping{nil}, false},
		"wrapped, around one that wraps": {unwrapping{bare{unwrapping{inner}}}, false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, driver.IsPrivate(c.d)) })
	}
}

// unwrapper both wraps and answers.
type unwrapper struct {
	unwrapping
	yes bool
}

func (u unwrapper) Private() bool { return u.yes }

func TestTheClockOfAWrappedDriver(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, at, driver.Now(unwrapping{clock{now: at}}))
	require.NotEqual(t, at, driver.Now(bare{clock{now: at}}), "hidden: the machine's")
}
