package when

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTimesOfDigests(t *testing.T) {
	times := map[string]string{"07:00": "0 7 * * *", "Mon 18:30": "30 18 * * MON", "sun 00:05": "5 0 * * SUN"}
	for text, cron := range times {
		at, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, cron, at.Cron())
	}
	for _, text := range []string{"", "7:00", "24:00", "Mon", "Monday 07:00", "07:00 Mon", "daily"} {
		_, err := Parse(text)
		require.Error(t, err, text)
	}
}
