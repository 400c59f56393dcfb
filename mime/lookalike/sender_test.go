package lookalike_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/lookalike"
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
		"a wide at sign":       {from: mime.Address{Name: "boss\uff20corp", Email: "x@mallory.example"}, another: true},
		"a small at sign":      {from: mime.Address{Name: "boss\ufe6bwork\uff0eexample", Email: "x@mallory.example"}, another: true},
		"a short host":         {from: mime.Address{Name: "boss@corp", Email: "x@mallory.example"}, another: true},
		"a short name of ours": {from: mime.Address{Name: "help@shop", Email: "help@mail.shop.example"}},
		"hidden letters":       {from: mime.Address{Name: "boss\u200b@work.ex\u00adample", Email: "x@mallory.example"}, another: true},
		"no address in a name": {from: mime.Address{Name: "Ann @ work", Email: "ann@example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.mixed, lookalike.MixesScripts(tc.from))
			require.Equal(t, tc.another, lookalike.NamesAnother(tc.from))
		})
	}
}

func TestImitations(t *testing.T) {
	for address, imitates := range map[mime.Address]bool{
		{Email: "a@paypa1.com"}:                               true,
		{Email: "a@mail.PAYPA1.com"}:                          true,
		{Email: "a@rnicrosoft.com"}:                           true,
		{Email: "a@paypa1-security.example"}:                  true,
		{Email: "a@g\u043e\u043egle.com"}:                     true,
		{Email: "a@\u0430\u0440\u0440\u04cf\u0435.com"}:       true,
		{Email: "a@xn--80ak6aa92e.com"}:                       true,
		{Email: "a@\u0441\u0430\u0445\u0430\u0440.com"}:       true,
		{Email: "a@\u0441\u0430\u0445\u0430\u0440.ru"}:        false,
		{Email: "a@\u043f\u0440\u0438\u0432\u0435\u0442.com"}: false,
		{Email: "a@googIe.com"}:                               true,
		{Email: "a@mail.PaypaI.com"}:                          true,
		{Name: "GoogIe", Email: "a@b.example"}:                true,
		{Email: "a@\u0262oogle.com"}:                          true,
		{Email: "a@goo\u0261le.com"}:                          true,
		{Email: "a@pa\u028fpa\u029f.com"}:                     true,
		{Email: "a@GOOGIE.COM"}:                               false,
		{Email: "a@googie.com"}:                               false,
		{Name: "LinkedIn", Email: "a@linkedin.com"}:           false,
		{Email: "a@paypal.com"}:                               false,
		{Email: "a@paypal.co.uk"}:                             false,
		{Email: "a@appie.example"}:                            false,
		{Email: "a@apples.example"}:                           false,
		{Email: "a@paypa1"}:                                   true,
		{Email: ""}:                                           false,
		{Name: "\U0001d40f\U0001d41a\U0001d432\U0001d40f\U0001d41a\U0001d425", Email: "a@b.example"}: true,
		{Name: "PayPal", Email: "a@b.example"}:                                                       false,
		{Name: "G00gle Team", Email: "a@b.example"}:                                                  true,
	} {
		require.Equal(t, imitates, lookalike.Imitates(address), "%v", address)
	}
}

func TestLatinText(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"Hello 101":                            "hello 101",
		"\uff28\u0435llo":                      "hello",
		"\U0001d407ell\u00f6":                  "hello",
		"he\u200bll\u00ado\U000e0020":          "hello",
		"\u041f\u0440\u0438\u0432\u0435\u0442": "\u043fp\u0438\u0432e\u0442",
	} {
		require.Equal(t, want, lookalike.LatinText(text))
	}
	require.Equal(t, lookalike.Skeleton("paypal"), lookalike.Skeleton("P\u0430ypaI"))
	require.Equal(t, "\u0430\u0431.example", lookalike.UnicodeDomain("a@xn--80ac.example"))
}

// Each letter by itself is read as it is in a text.
func TestLatinTextOfEachLetter(t *testing.T) {
	for r := range rune(0x3000) {
		alone, before := lookalike.LatinText(string(r)), lookalike.LatinText("\u3042"+string(r))
		require.Equal(t, before, "\u3042"+alone, "%U", r)
		require.Equal(t, "x"+alone+"y", lookalike.LatinText("X"+string(r)+"Y"), "%U", r)
	}
	require.Equal(t, "a\ufffdb", lookalike.LatinText("A\xffB"))
}
