package pipeline

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadinessIsReachedOnce(t *testing.T) {
	var r readiness
	require.Equal(t, "they are being looked for", r.missing()[0].What)
	r.fails(errors.New("no database"))
	require.Equal(t, "no database", r.missing()[0].What)
	r.fails(nil)
	r.awaits("two", " is being set up", "")
	r.awaits("one", " is being set up", "7")
	r.awaitsOnly([]string{"one", "two"})
	require.Equal(t, []Awaited{{"one", " is being set up", "7"}, {"two", " is being set up", ""}}, r.missing())
	r.awaitsOnly([]string{"two"})
	require.Equal(t, []Awaited{{"two", " is being set up", ""}}, r.missing())
	r.awaitsOnly(nil)
	require.Empty(t, r.missing())
	r.awaits("three", " is being set up", "")
	r.awaitsOnly([]string{"three"})
	r.fails(errors.New("no database"))
	require.Empty(t, r.missing(), "it goes on with what is set up")
	r.stops()
	require.Equal(t, Stopping, r.missing()[0].What)
	r.awaitsOnly(nil)
	require.Equal(t, Stopping, r.missing()[0].What)
}
