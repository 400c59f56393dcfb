package charset

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names are compared without regard to their separators.
func TestNamesWithOtherSeparators(t *testing.T) {
	for name, usual := range map[string]string{
		"cp-850": "cp850", "CP_850": "cp850", "iso8859_15": "iso-8859-15", "iso 8859:2": "iso-8859-2",
		"windows1251":  "windows-1251",
		"windows_1252": "windows-1252", "win1251": "windows-1251", "Win 1250": "windows-1250", "latin9": "iso-8859-15",
		"8859-5": "iso-8859-5", "8859_2": "iso-8859-2", "cp874": "windows-874", "CP-874": "windows-874",
		"maccyrillic": "x-mac-cyrillic",
		"hz":          "hz-gb-2312", "iso-latin-2": "iso-8859-2", "utf8mb4": "utf-8", "cp65001": "utf-8", "utf-8;": "utf-8", "koi8_r": "koi8-r", "utf_8": "utf-8", "shift-jis": "shift_jis", "euc_kr": "euc-kr",
	} {
		got, ok := Lookup(name)
		require.True(t, ok, name)
		want, _ := Lookup(usual)
		require.Equal(t, want, got, name)
	}
	_, ok := Lookup("none-such")
	require.False(t, ok)
}

// Whatever separates the parts of a name, and if nothing does, it is the same name.
func TestAnySeparatorsInNames(t *testing.T) {
	for _, name := range []string{
		"utf-8", "utf-16", "utf-16le", "utf-16be", "utf-32", "iso-8859-1", "iso-8859-8-i", "iso-8859-16", "windows-1252",
		"windows-874", "koi8-r", "koi8-u", "euc-jp", "euc-kr", "euc-cn", "shift_jis", "iso-2022-jp", "iso-2022-jp-2",
		"iso-2022-kr", "hz-gb-2312", "gb2312", "gb_2312-80", "gb18030", "big5", "big5-hkscs", "ks_c_5601-1987", "tis-620",
		"cp850", "cp950", "mac-roman", "ibm866", "us-ascii", "x-mac-cyrillic", "latin-1",
	} {
		want, ok := Lookup(name)
		require.True(t, ok, name)
		for _, separator := range []string{"", "-", "_", " ", ":"} {
			got, ok := Lookup(strings.NewReplacer("-", separator, "_", separator).Replace(name))
			require.True(t, ok, "%s with %q", name, separator)
			require.Equal(t, want, got, "%s with %q", name, separator)
		}
	}
	for _, name := range []string{"utf-7", "utf7", "UTF_7", "unicode-1-1-utf-7", "unicode 1 1 utf 7"} {
		text, problem := Decode([]byte("Gr+APwA3w-e"), name)
		require.Equal(t, "Gr\u00fc\u00dfe", text, name)
		require.Empty(t, problem)
	}
}
