package injection

import (
	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// gmailServer is the server whose Authentication-Results are trusted.
var gmailServer = authres.Server{ID: "mx.google.com", Below: true}

func headerOf(msg *postroom.Message) mime.Header {
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return header
}

// unverified reports whether the server has looked at the sender, and has found nothing that vouches for its domain:
// anyone has an SPF pass of a domain of their own.
func unverified(a authres.Findings, from mime.Address) bool {
	looked := a.Result("dmarc") != "" || a.Result("spf") != "" || a.Result("dkim") != ""
	return looked && from.Email != "" && !a.Verifies(from)
}

// failedMethods names the failed methods of a sender's authentication; empty if none failed. Without a DMARC result,
// a sender fails if nothing passed and SPF or DKIM failed, or if SPF is softfail and DKIM is neutral or permerror.
func failedMethods(a authres.Findings) string {
	dmarc, spf, dkim := a.Result("dmarc"), a.Result("spf"), a.Result("dkim")
	switch {
	case dmarc == "fail":
		return "DMARC"
	case dmarc == "pass" || spf == "pass" || dkim == "pass":
		return ""
	case spf == "fail" && dkim == "fail":
		return "SPF and DKIM"
	case spf == "fail":
		return "SPF"
	case dkim == "fail":
		return "DKIM"
	case spf == "softfail" && (dkim == "neutral" || dkim == "permerror"):
		return "SPF and DKIM"
	}
	return ""
}
