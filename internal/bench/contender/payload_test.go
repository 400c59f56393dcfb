package contender

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryPayloadHasTheSameSize(t *testing.T) {
	for _, n := range []int64{0, 7, 10, 99_999, 1 << 62} {
		p := NewPayload(n)
		require.Len(t, p.JSON(), PayloadSize)
		decoded, err := DecodePayload(p.JSON())
		require.NoError(t, err)
		require.Equal(t, p, decoded)
		require.Equal(t, n, PayloadNumber(string(p.JSON())))
	}
	require.Equal(t, int64(-1), PayloadNumber(`{"n":`))
	require.Equal(t, int64(-1), PayloadNumber(`{"other":1,"n":2}`))
}
