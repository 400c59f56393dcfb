package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHowLongTheArchiveKeepsMail(t *testing.T) {
	for text, months := range map[string]int{"": 0, "1m": 1, "18m": 18, "10y": 120, "100y": 1200} {
		a := Archive{Keep: text}
		require.Equal(t, months, a.KeepMonths(), text)
		require.Empty(t, keepFor(&a), text)
	}
	for _, text := range []string{"0y", "10", "10d", "-1y", "1.5y", "101y", "10 y", "y", "9999m"} {
		require.Contains(t, keepFor(&Archive{Keep: text}), `"10y"`, text)
	}
}
