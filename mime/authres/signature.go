package authres

import (
	"strings"

	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
)

// Covers returns the domain that a DKIM signature is for, which the server has verified and which covers all fields of
// the names in the header (RFC 6376, section 5.4.2), and false if there is none. A signature covers the lowest fields
// of a name, as many as its h= tag lists: one that a relay has added above is not covered.
//
// A result says which signature it is about by header.b, the beginning of the signature, or else only by its domain
// and selector. All signatures that a result may be about must cover the fields: anyone can add one that claims to.
func (a Findings) Covers(h mime.Header, names ...string) (domain string, ok bool) {
	for _, r := range a.Results {
		if r.Method != "dkim" || !a.passes(r) {
			continue
		}
		found, covered := 0, true
		h.Each("DKIM-Signature", func(f *mime.Field) {
			signature := fieldvalue.Tags(f.Raw())
			if isAbout(r, signature) {
				found++
				covered = covered && coversAll(h, signature["h"], names)
			}
		})
		if found > 0 && covered {
			return signedBy(r), true
		}
	}
	return "", false
}

// signedBy returns the domain that a result is about: that of the signature, or of the identity that it signs for,
// which may be below it.
func signedBy(r Result) string {
	domain := r.Property("header", "d")
	if domain == "" {
		_, domain, _ = strings.Cut(r.Property("header", "i"), "@")
	}
	return strings.ToLower(domain)
}

// isAbout reports whether a result may be about a signature.
func isAbout(r Result, signature map[string]string) bool {
	selector, b := r.Property("header", "s"), r.Property("header", "b")
	return signature["b"] != "" && isOrBelow(signedBy(r), signature["d"]) &&
		(selector == "" || strings.EqualFold(selector, signature["s"])) && strings.HasPrefix(signature["b"], b)
}

// coversAll reports whether the h= tag of a signature lists each name as often as the header has it, and at least once.
func coversAll(h mime.Header, listed string, names []string) bool {
	for _, name := range names {
		in, of := 0, 0
		h.Each(name, func(*mime.Field) { in++ })
		for field := range strings.SplitSeq(listed, ":") {
			if strings.EqualFold(field, name) {
				of++
			}
		}
		if in == 0 || of < in {
			return false
		}
	}
	return true
}
