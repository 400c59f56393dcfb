package mime_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

func TestDeceitfulSenders(t *testing.T) {
	for name, tc := range map[string]struct {
		from           mime.Address
		mixed, another bool
	}{
		"plain":                {from: mime.Address{Name: "Ann", Email: "ann@example.com"}},
		"nothing":              {},
		"a mixed name":         {from: mime.Address{Name: "P\u0430yPal", Email: "a@example.com"}, mixed: true},
		"a mixed domain":       {from: mime.Address{Email: "a@p\u0430ypal.example"}, mixed: true},
		"in punycode":          {from: mime.Address{Email: "a@xn--pypal-4ve.com"}, mixed: true},
		"two words":            {from: mime.Address{Name: "\u0410\u043d\u043d\u0430 Smith", Email: "a@example.com"}},
		"a long domain":        {from: mime.Address{Email: "a@" + strings.Repeat("x", 10_000)}},
		"somebody else":        {from: mime.Address{Name: "boss@work.example", Email: "x@mallory.example"}, another: true},
		"the same site":        {from: mime.Address{Name: "boss@work.example", Email: "boss@mail.work.example"}},
		"no address in a name": {from: mime.Address{Name: "Ann @ work", Email: "ann@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.mixed, tc.from.MixesScripts())
			require.Equal(t, tc.another, tc.from.NamesAnother())
		})
	}
}
