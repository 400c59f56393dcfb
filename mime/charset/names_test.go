package charset

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Names are compared without regard to their separators.
func TestNamesWithOtherSeparators(t *testing.T) {
	for name, usual := range map[string]string{
		"cp-850": "cp850", "CP_850": "cp850", "iso8859_15": "iso-8859-15", "iso 8859:2": "iso-8859-2", "windows1251": "windows-1251",
		"windows_1252": "windows-1252", "koi8_r": "koi8-r", "utf_8": "utf-8", "shift-jis": "shift_jis", "euc_kr": "euc-kr",
	} {
		got, ok := Lookup(name)
		require.True(t, ok, name)
		want, _ := Lookup(usual)
		require.Equal(t, want, got, name)
	}
	_, ok := Lookup("none-such")
	require.False(t, ok)
}
