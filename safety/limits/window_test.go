package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseWindow(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "3650d": maxWindow,
	} {
		got, err := ParseWindow(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "d", "7", "0d", "-1d", "+1d", "1.5h", "7 d", "7D", "3651d", "522w", "99999999999h",
		"1h30m", "١d"} {
		_, err := ParseWindow(in)
		require.ErrorContains(t, err, "write a whole number", "%q", in)
	}
}

func FuzzParseWindow(f *testing.F) {
	f.Add("24h")
	f.Add("3650d")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseWindow(s)
		if err == nil && (d <= 0 || d > maxWindow) {
			t.Fatalf("%q became %v", s, d)
		}
	})
}
