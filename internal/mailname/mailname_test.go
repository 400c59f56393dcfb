package mailname_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/mailname"
)

func TestForms(t *testing.T) {
	for address, want := range map[string]string{
		"X@Example.COM":                 "x@example.com",
		"Jürgen@BÜCHER.example":         "jürgen@xn--bcher-kva.example",
		"a@b@Bücher.example":            "a@b@xn--bcher-kva.example",
		"x@ban\u212a.example":           "x@ban\u212a.example",
		"x@bücher。example":              "x@xn--bcher-kva.example",
		"x@..ü":                         "x@..ü",
		"x@\xff.example":                "x@\xff.example",
		"x@Ü\xff.example":               "x@Ü\xff.example",
		"bücher.example":                "bücher.example", // no domain: there is no @
		"*@*.bücher.example":            "*@*.xn--bcher-kva.example",
		"":                              "",
		"x@" + strings.Repeat("ü", 300): "x@" + strings.Repeat("ü", 300),
	} {
		require.Equal(t, want, mailname.Address(address), "%q", address)
		require.Equal(t, want, mailname.Address(want), "%q", address)
	}
}
