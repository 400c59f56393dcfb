package child

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/bench/figure"
)

func TestFiguresTravelBetweenProcesses(t *testing.T) {
	measured := figure.Figure{Rate: 12.5, Latencies: map[string]figure.Percentiles{"start": {1, 2, 3, 0}}}
	text, err := Encode(measured)
	require.NoError(t, err)
	var arrived figure.Figure
	require.NoError(t, Decode(text, &arrived))
	require.Equal(t, measured, arrived)
	require.Error(t, Decode("no base64", &arrived))
}
