package authres_test

import (
	"strings"
	"testing"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/stretchr/testify/require"
)

func TestCovers(t *testing.T) {
	const (
		pass  = "dkim=pass header.i=@shop.example header.s=s1 header.b=AbCdEfGh"
		both  = "h=from:list-unsubscribe:list-unsubscribe-post; b=AbCdEfGhIj"
		plain = "List-Unsubscribe: <https://shop.example/u>\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\n"
	)
	for name, tt := range map[string]struct {
		results, signatures, fields, want string
	}{
		"covered":              {pass, "d=shop.example; s=s1; " + both, plain, "shop.example"},
		"blanks in the tags":   {pass, "d=shop.example; s=s1; h=From : List-Unsubscribe :\n List-Unsubscribe-Post; b=AbCd\n EfGhIj", plain, "shop.example"},
		"one is not covered":   {pass, "d=shop.example; s=s1; h=from:list-unsubscribe; b=AbCdEfGhIj", plain, ""},
		"failed":               {strings.Replace(pass, "pass", "fail", 1), "d=shop.example; s=s1; " + both, plain, ""},
		"another signature":    {pass, "d=shop.example; s=s1; h=from; b=AbCdEfGhIj\nDKIM-Signature: d=shop.example; s=s1; h=list-unsubscribe:list-unsubscribe-post; b=Zz", plain, ""},
		"another domain":       {pass, "d=evil.example; s=s1; " + both, plain, ""},
		"another selector":     {pass, "d=shop.example; s=s2; " + both, plain, ""},
		"a domain below":       {"dkim=pass header.i=@news.shop.example header.b=AbCd", "d=shop.example; s=s1; " + both, plain, "news.shop.example"},
		"a field was added":    {pass, "d=shop.example; s=s1; " + both, "List-Unsubscribe: <https://evil.example/>\n" + plain, ""},
		"as many are listed":   {pass, "d=shop.example; s=s1; h=list-unsubscribe:list-unsubscribe:list-unsubscribe-post; b=AbCdEfGhIj", "List-Unsubscribe: <https://shop.example/2>\n" + plain, "shop.example"},
		"nothing is there":     {pass, "d=shop.example; s=s1; " + both, "", ""},
		"unnamed, one of two":  {"dkim=pass header.d=shop.example", "d=shop.example; s=s1; " + both + "\nDKIM-Signature: d=shop.example; s=s2; h=from; b=Zz", plain, ""},
		"unnamed, both of two": {"dkim=pass header.d=shop.example", "d=shop.example; s=s1; " + both + "\nDKIM-Signature: d=shop.example; s=s2; " + both, plain, "shop.example"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mime.ParseBytes([]byte(strings.ReplaceAll("Authentication-Results: mx.example; "+tt.results+"\n"+
				"Received: from a.example by mx.example; Fri, 27 Nov 2026 10:00:00 +0000\nDKIM-Signature: "+tt.signatures+"\n"+
				tt.fields+"From: news@shop.example\n\nSocks.", "\n", "\r\n")), nil)
			require.NoError(t, err)
			domain, ok := authres.Read(m.Header, authres.Server{ID: "mx.example"}).
				Covers(m.Header, "List-Unsubscribe", "List-Unsubscribe-Post")
			require.Equal(t, tt.want != "", ok)
			require.Equal(t, tt.want, domain)
		})
	}
}
