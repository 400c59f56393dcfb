package provider

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestLinesOfAStreamEndInLF(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\r\rdata: b\r\r":         "data: a\n\ndata: b\n\n",
		"data: a\r\n\r\ndata: b\r\n\r\n": "data: a\n\ndata: b\n\n",
		"data: a\n\n":                    "data: a\n\n",
		"a\r\r\n\n":                      "a\n\n\n",
		"":                               "",
	} {
		for name, reader := range map[string]io.Reader{
			"at once": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in)),
			"with the end": iotest.DataErrReader(strings.NewReader(in)),
		} {
			got, err := io.ReadAll(&lineEnds{body: io.NopCloser(reader)})
			require.NoError(t, err)
			require.Equal(t, want, string(got), "%q %s", in, name)
		}
	}
	_, err := io.ReadAll(&lineEnds{body: io.NopCloser(iotest.ErrReader(errors.New("cut")))})
	require.ErrorContains(t, err, "cut")
}
