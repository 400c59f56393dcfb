package authres

import (
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"strings"
)

// A Server is the server whose authentication results are trusted: the server that received the message from outside.
type Server struct {
	// ID is the server's authserv-id (RFC 8601, section 2.5), such as "mx.google.com" for Gmail. If it is empty, nothing
	// is trusted.
	ID string
	// Host is the server's name in its Received field. Empty means that the name is ID or a subdomain of it.
	Host string
	// Internal lists the hosts of the same provider that handle mail after the server, as their Received fields name
	// them. Hosts whose Received fields have no "from", such as Gmail's, need not be listed.
	Internal []string
	// Below reports that the server puts its results right below its Received field, as Gmail does, instead of above.
	// Set it only for a server that writes results for all mail from outside. Otherwise, if the server writes none,
	// results forged by the sender take their place.
	Below bool
}

// Findings holds the findings of a trusted server about the sender of a message.
type Findings struct {
	Results []Result
}

// Read returns the results that the server itself put on top of the message (RFC 8601, section 5). Results of other
// servers are left out. So are results that name the server but stand where the sender could have written them:
//
//   - All results above the Received field of the server count.
//   - With [Server.Below], if there are none above, the first results field below the Received field counts. Only
//     Received-SPF, Return-Path and the fields of ARC may stand in between.
//   - Everything further down is ignored, and so is everything below a Received field from outside that is not the
//     server's.
//
// The header must be that of the message as the server delivered it: a message that was put into a mailbox in another
// way can claim anything.
func Read(h mime.Header, server Server) Findings {
	var a Findings
	if server.ID == "" {
		return a
	}
	above, below := splitZones(h, server)
	for i := range above {
		a.add(&above[i], server)
	}
	if !server.Below || len(a.Results) > 0 {
		return a
	}
	for i := range below {
		if !traceFields[strings.ToLower(below[i].Name)] {
			a.add(&below[i], server)
			break
		}
	}
	return a
}

// traceFields are the fields that may stand between a server's Received field and its results.
var traceFields = map[string]bool{
	"received-spf": true, "return-path": true, "arc-seal": true, "arc-message-signature": true, "arc-authentication-results": true,
}

func (a *Findings) add(f *mime.Field, server Server) {
	if !strings.EqualFold(f.Name, "Authentication-Results") {
		return
	}
	if r, ok := Parse(f.Raw()); ok && strings.EqualFold(r.ServID, server.ID) {
		a.Results = append(a.Results, r.Results...)
	}
}

// splitZones splits the header at the Received field of the server. The fields above are the provider's. Below are
// the fields up to the next Received, if the server's was found.
//
// If there is no Received field at all, no server received the message from outside, and the sender may have written
// all of it.
func splitZones(h mime.Header, server Server) (above, below mime.Header) {
	boundary := -1
	for i := range h {
		if !strings.EqualFold(h[i].Name, "Received") {
			continue
		}
		if boundary >= 0 {
			return h[:boundary], h[boundary+1 : i]
		}
		from, by := received(h[i].Raw())
		switch {
		case server.received(by) && from:
			boundary = i
		case !from || server.isInternal(by):
		default:
			return h[:i], nil
		}
	}
	if boundary < 0 {
		return nil, nil
	}
	return h[:boundary], h[boundary+1:]
}

func (s Server) received(by string) bool {
	host := s.Host
	if host == "" {
		host = s.ID
	}
	return isOrBelow(by, host)
}

func (s Server) isInternal(by string) bool {
	for _, host := range s.Internal {
		if isOrBelow(by, host) {
			return true
		}
	}
	return false
}

func isOrBelow(name, domain string) bool {
	name, domain = strings.ToLower(name), strings.ToLower(domain)
	return domain != "" && (name == domain || strings.HasSuffix(name, "."+domain))
}

// received returns the host that wrote a Received field (RFC 5321, section 4.4), and reports whether the field names
// the host that sent the message. The client chooses the word after "from".
func received(value string) (from bool, by string) {
	words := strings.Fields(fieldvalue.Uncomment(value))
	if len(words) > 0 && strings.EqualFold(words[0], "from") {
		from, words = true, words[min(2, len(words)):]
	}
	for i, word := range words {
		if strings.EqualFold(word, "by") && i+1 < len(words) {
			return from, words[i+1]
		}
	}
	return from, ""
}

// Result returns the result of the method in lower case; empty if the server gives none. Of several results the worse
// counts: "fail", otherwise the first that is not "pass". A message may have DKIM signatures of several domains, so for "dkim" it is "pass"
// if all results for one domain are.
func (a Findings) Result(method string) string {
	result := ""
	for _, r := range a.Results {
		if r.Method != method {
			continue
		}
		if method == "dkim" && a.passes(r) {
			return r.Result
		}
		if result == "" || result == "pass" || r.Result == "fail" {
			result = r.Result
		}
	}
	return result
}

// passes reports whether a result passed, and all others about the same: of the method, and for DKIM of the domain.
func (a Findings) passes(r Result) bool {
	for _, other := range a.Results {
		if other.Method == r.Method && other.Result != "pass" && (r.Method != "dkim" || signer(other) == signer(r)) {
			return false
		}
	}
	return r.Result == "pass"
}

// signer returns the domain of a DKIM signature.
func signer(r Result) string {
	domain := r.Property("header", "d")
	if domain == "" {
		domain = r.Property("header", "i")
	}
	return OrganizationalDomain(domain)
}

// Verifies reports whether the server verified that the sender controls the domain of an address in From: DMARC
// passed for it (RFC 7489), or, if the domain has no DMARC policy, SPF or DKIM passed for a domain with the same
// organizational domain. It does not verify the part before the @ or the name.
func (a Findings) Verifies(from mime.Address) bool {
	domain := asciiDomain(from.Email)
	if domain == "" || !strings.Contains(from.Email, "@") {
		return false
	}
	passed := false
	for _, r := range a.Results {
		if r.Method == "dmarc" && r.Result != "none" && r.Result != "bestguesspass" { // Exchange's word for no policy
			if r.Result != "pass" || asciiDomain(r.Property("header", "from")) != domain {
				return false
			}
			passed = true
		}
	}
	return passed || a.aligns(domain)
}

// aligns reports whether SPF or DKIM passed in relaxed alignment with the domain (RFC 7489, section 3.1).
func (a Findings) aligns(domain string) bool {
	organization := OrganizationalDomain(domain)
	for _, r := range a.Results {
		if !a.passes(r) {
			continue
		}
		var of string
		switch r.Method {
		case "spf":
			of = OrganizationalDomain(r.Property("smtp", "mailfrom"))
		case "dkim":
			of = signer(r)
		}
		if of == organization {
			return true
		}
	}
	return false
}

// VerifiedFrom returns the address in From and true if [Findings.Verifies] reports that the server verified its
// domain. It returns false otherwise, and for a message with several addresses in From.
func VerifiedFrom(m *mime.Message, server Server) (mime.Address, bool) {
	fields := 0
	m.Header.Each("From", func(*mime.Field) { fields++ })
	if len(m.From) != 1 || fields != 1 || !Read(m.Header, server).Verifies(m.From[0]) {
		return mime.Address{}, false
	}
	return m.From[0], true
}
