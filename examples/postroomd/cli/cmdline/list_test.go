package cmdline

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestAListIsTakenWholeOrNotAtAll(t *testing.T) {
	for text, want := range map[string][]string{
		"a": {"a"}, "a,b": {"a", "b"}, `"a,b",c`: {"a,b", "c"}, "\"a\nb\",c": {"a\nb", "c"}, "": {},
		"a\nb": nil, "a\n": nil, "\na": nil, "a\r": nil, "a\r\nb": nil, "a,b\nc": nil, "a\n\"b": nil, "\n": nil, `a"b`: nil,
		"\"a\nb\"\nc": nil,
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		var values []string
		var pairs map[string]string
		flags.StringSliceVar(&values, "type", nil, "")
		flags.StringToStringVar(&pairs, "pair", nil, "")
		WholeLists(flags, "type", "pair")
		require.NotContains(t, flags.FlagUsages(), "default")
		err := flags.Parse([]string{"--type", text})
		if want == nil {
			require.Error(t, err, "%q", text)
			require.Empty(t, values)
			continue
		}
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, values)
		require.Equal(t, want, flags.Lookup("type").Value.(pflag.SliceValue).GetSlice())
		require.NoError(t, flags.Parse([]string{"--pair", "a=1,b=2", "--type", "more"}))
		require.Equal(t, map[string]string{"a": "1", "b": "2"}, pairs)
		require.Equal(t, append(want, "more"), values)
		require.ErrorContains(t, flags.Parse([]string{"--pair", "c=1\nd=2"}), "it has several lines")
	}
}
