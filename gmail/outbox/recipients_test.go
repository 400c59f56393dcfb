package outbox

import (
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
)

// What a rule or a model may name as a recipient can be sent to: the root checks it with the standard library alone,
// and here it is read and written.
func FuzzRecipientsCanBeSentTo(f *testing.F) {
	for _, text := range []string{
		"bob@example.com", "Bob <bob@example.com>", `"Bob, the boss" <b@example.com>, ann@example.com`,
		"bob@example.com (Bob)",
		"friends: bob@example.com, ann@example.com;", `"a b"@example.com`, "bob@[192.0.2.1]", "info@bücher.example", "=?utf-8?q?B=C3=B6b?= <b@example.com>",
		"bob@example.com;", "bob@example.com; ", "Support [EU] <eu@example.com>", "Foo: Bar <f@example.com>", "Foo@Bar <f@example.com>", "a@b <c@d>", "x <a> <b@c>",
		"bob", "bob@", "a@b.c\r\nBcc: x@y.z", "<@a,@b:bob@example.com>", "a@b;c@d", "Bob. B <b@x>",
	} {
		f.Add(text)
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: Kinds()})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		if kinds.Check(postroom.Forward, postroom.Parameters{"to": text}, time.Time{}) != nil {
			return
		}
		list, err := readAddresses([]string{text})
		require.NoError(t, err, "%q", text)
		require.NotEmpty(t, list)
		for _, a := range list {
			message := mime.Outgoing{From: []mime.Address{{Email: "you@example.com"}}, To: []mime.Address{a}, Text: "x"}
			if _, err := message.Build(); err != nil {
				domain := postroom.Address{Email: a.Email}.Domain()
				// whether it is the name of a domain, only package mime knows
				require.True(t, beyondASCII(domain), "%q: %+v: %v", text, a, err)
			}
		}
	})
}

func beyondASCII(s string) bool {
	for _, r := range s {
		if r > unicode.MaxASCII {
			return true
		}
	}
	return false
}
