package authres

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/publicsuffix"
)

func TestSuffixesAreSorted(t *testing.T) {
	rules := strings.Split(strings.TrimSuffix(suffixes, "\n"), "\n")
	require.Greater(t, len(rules), 9000)
	require.True(t, slices.IsSorted(rules))
	for _, rule := range rules {
		require.True(t, hasRule("", rule), rule)
	}
}

// The list answers as that of x/net does, which it is made from: go generate ./mime/authres makes it anew.
func TestRegisteredDomainsAreThoseOfTheList(t *testing.T) {
	for rule := range strings.Lines(suffixes) {
		rule = strings.TrimSpace(rule)
		name := strings.TrimPrefix(strings.Replace(rule, "*", "any", 1), "!")
		for _, domain := range []string{name, "a." + name, "b.a." + name, "c.b.a." + name, "x" + name} {
			requireSameDomain(t, domain)
		}
	}
}

func FuzzRegisteredDomain(f *testing.F) {
	for _, domain := range []string{
		"", ".", "com", "example.com", "a.b.co.uk", "www.ck", "a.ck", "b.a.ck", "city.kawasaki.jp", "a.kawasaki.jp",
		"x.y.compute.amazonaws.com",
		"1.2.3.4", "::1", "a..b", ".com", "com.", "cromulent", "a.cromulent", "*.ck", "!www.ck", "a.*.ck", "a\nb.com",
	} {
		f.Add(domain)
	}
	f.Fuzz(requireSameDomain)
}

func requireSameDomain(t *testing.T, domain string) {
	if strings.ContainsAny(domain, "*!\n") {
		return // no domain of DNS has them
	}
	want, err := publicsuffix.EffectiveTLDPlusOne(domain)
	got, ok := registeredDomain(domain)
	require.Equal(t, err == nil, ok, domain)
	require.Equal(t, want, got, domain)
}
