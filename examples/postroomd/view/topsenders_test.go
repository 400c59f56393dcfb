package view

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyAllIsAHundredPercent(t *testing.T) {
	for of, want := range map[TopSender]int{{}: 0, {Messages: 3}: 0, {Messages: 3, Read: 2}: 66, {Messages: 1000, Read: 999}: 99,
		{Messages: 2, Read: 2}: 100} {
		require.Equal(t, want, of.Percent(), of)
	}
}
