package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/mime"
)

// Apple Mail sends files inline. A picture of the text is none.
func TestFilesThatAreSentInlineAreKept(t *testing.T) {
	parsed, err := mime.ParseBytes([]byte(strings.ReplaceAll(`From: ben@example.com
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/html

<p>The plan <img src="cid:logo"></p>
--x
Content-Type: application/pdf; name=plan.pdf
Content-Disposition: inline; filename=plan.pdf

%PDF
--x
Content-Type: image/png; name=logo.png
Content-Disposition: inline; filename=logo.png
Content-ID: <logo>

png
--x
Content-Type: application/pdf
Content-Disposition: attachment

%PDF 2
--x--
`, "\n", "\r\n")), nil)
	require.NoError(t, err)
	require.Equal(t, []notes.File{{Name: "plan.pdf", Content: []byte("%PDF")}, {Content: []byte("%PDF 2")}},
		filesOf(parsed))
}
