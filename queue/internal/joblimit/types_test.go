package joblimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
)

func typesOf(standings ...joblimit.Usage) joblimit.Types {
	types := joblimit.Types{Usages: joblimit.NewUsages(driver.TargetType, epoch)}
	for _, s := range standings {
		types.Add(s)
	}
	return types
}

func TestTypesAreAskedForWithinTheirLimits(t *testing.T) {
	perSecond := driver.Limit{Rate: 1, Per: time.Second, Burst: 1}
	asked := []driver.TypeCapacity{{Type: "a", Capacity: 5}, {Type: "b", Capacity: 1}, {Type: "c", Capacity: 3}}
	paused := joblimit.Limit{Paused: true}
	for name, test := range map[string]struct {
		standings []joblimit.Usage
		open      []driver.TypeCapacity
		next      time.Time
	}{
		"no limits": {open: asked},
		"a limit of another": {
			standings: []joblimit.Usage{{Name: "d", Limit: paused}},
			open:      asked,
		},
		"less than is asked for": {
			standings: []joblimit.Usage{{Name: "a", Running: 3,
				Limit: joblimit.Limit{Limit: driver.Limit{MaxRunning: 5}}}},
			open: []driver.TypeCapacity{{Type: "a", Capacity: 2}, asked[1], asked[2]},
		},
		"more runs than is allowed": {
			standings: []joblimit.Usage{{Name: "a", Running: 9,
				Limit: joblimit.Limit{Limit: driver.Limit{MaxRunning: 5}}}},
			open: asked[1:],
		},
		"one is paused": {
			standings: []joblimit.Usage{{Name: "b", Limit: paused}},
			open:      []driver.TypeCapacity{asked[0], asked[2]},
		},
		"all are paused": {
			standings: []joblimit.Usage{
				{Name: driver.AllTypes, Limit: paused},
				{Name: "c", Limit: joblimit.Limit{Limit: perSecond}, Arrival: epoch.Add(time.Second)},
			},
		},
		"rates keep two back": {
			standings: []joblimit.Usage{
				{Name: "b", Limit: joblimit.Limit{Limit: perSecond}, Arrival: epoch.Add(time.Second / 2)},
				{Name: "c", Limit: joblimit.Limit{Limit: perSecond}, Arrival: epoch.Add(time.Second)},
				{Name: "d", Limit: joblimit.Limit{Limit: perSecond}, Arrival: epoch.Add(time.Second / 4)},
			},
			open: asked[:1],
			next: epoch.Add(time.Second / 2),
		},
	} {
		t.Run(name, func(t *testing.T) {
			types := typesOf(test.standings...)
			require.Equal(t, test.open, types.Within(asked))
			require.Equal(t, test.next, types.Next(asked))
		})
	}
	require.Equal(t, asked, joblimit.Types{}.Within(asked))
	require.Zero(t, joblimit.Types{}.Next(asked))
}

// What has been claimed counts for when the types are looked at again.
func TestTypesThatHaveUsedTheirRateAreLookedAtAgain(t *testing.T) {
	types := typesOf(joblimit.Usage{Name: "a",
		Limit: joblimit.Limit{Limit: driver.Limit{Rate: 2, Per: time.Second, Burst: 2}}})
	asked := []driver.TypeCapacity{{Type: "a", Capacity: 5}}
	require.Equal(t, []driver.TypeCapacity{{Type: "a", Capacity: 2}}, types.Within(asked))
	types.Start("a", 1)
	require.Zero(t, types.Next(asked), "one more may start")
	types.Start("a", 1)
	require.Equal(t, epoch.Add(time.Second/2), types.Next(asked))
}
