package latency

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercentilesAreValuesThatOccur(t *testing.T) {
	require.Zero(t, percentile(nil, 95))
	require.Equal(t, time.Second, percentile([]time.Duration{time.Second}, 95))
	var list []time.Duration
	for i := range 100 {
		list = append(list, time.Duration(i+1)*time.Second)
	}
	require.Equal(t, 50*time.Second, percentile(list, 50))
	require.Equal(t, 95*time.Second, percentile(list, 95))
	require.Equal(t, 2*time.Second, percentile(list[:3], 50))
}
