package charset

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeepsASCII(t *testing.T) {
	for name, want := range map[string]bool{
		"utf-8": true, "iso-8859-1": true, "windows-1252": true, "koi8-r": true, "shift_jis": true, "euc-jp": true,
		"euc-kr": true, "gb18030": true, "big5": true,
		"iso-2022-kr": false, "csiso2022kr": false, "iso-2022-jp": false, "hz-gb-2312": false, "utf-16": false,
		"utf-32": false, "ibm037": false,
	} {
		c, ok := Lookup(name)
		require.True(t, ok, name)
		require.Equal(t, want, c.KeepsASCII(), name)
	}
	require.False(t, Charset{isUTF7: true}.KeepsASCII())
}
