package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-99/500", int64(100))
	f.Add("bytes */*", int64(0))
	f.Add("", int64(-1))
	f.Fuzz(func(t *testing.T, value string, length int64) {
		c, ok := ParseContentRange(value, length)
		if !ok || c.IsQuery {
			return
		}
		require.GreaterOrEqual(t, c.First, int64(0))
		require.GreaterOrEqual(t, c.End, c.First)
		require.True(t, c.Total < 0 || c.End <= c.Total)
	})
}
