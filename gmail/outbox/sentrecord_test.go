package outbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpellingsOfAMailbox(t *testing.T) {
	for _, same := range [][]string{
		{"Ada.Lovelace@gmail.com", "adalovelace@googlemail.com", " adalovelace+x@GMAIL.com "},
		{"x@bücher.example", "X@BÜCHER.example", "x@xn--bcher-kva.example"},
	} {
		for _, email := range same {
			require.Equal(t, hashOfMailbox(same[0]), hashOfMailbox(email), email)
		}
	}
	require.NotEqual(t, hashOfMailbox("a.b@example.com"), hashOfMailbox("ab@example.com"))
}
