package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What looks held at two looks is asked for only when claims have ended that had begun at the first.
func TestHeldJobsAreAskedForAfterAWhile(t *testing.T) {
	var h heldJobs
	lasting, passing := heldJob{"1", "a", "700"}, heldJob{"2", "a", "701"}
	now := time.Now()
	require.Empty(t, h.seen([]string{"a", "b"}, []heldJob{lasting, passing}, now))
	require.Empty(t, h.seen([]string{"a", "b"}, []heldJob{lasting, passing}, now.Add(heldLong-1)))
	passing.holder = "702"
	require.Equal(t, []heldJob{lasting}, h.seen([]string{"a", "b"}, []heldJob{lasting, passing}, now.Add(heldLong)))
	require.Empty(t, h.seen([]string{"c"}, nil, now.Add(heldLong)), "of other types nothing is known")
	require.Equal(t, []heldJob{lasting}, h.seen([]string{"a", "b"}, []heldJob{lasting}, now.Add(heldLong)))
	require.Empty(t, h.seen([]string{"a", "b"}, nil, now.Add(heldLong)))
	require.Empty(t, h.seen([]string{"a", "b"}, []heldJob{lasting}, now.Add(heldLong)), "it has been free meanwhile")
}
