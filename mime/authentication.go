package mime

import (
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// An AuthServer is the server whose word on the authentication of mail is taken: the one that received it from outside.
type AuthServer struct {
	// ID is its authserv-id (RFC 8601, section 2.5), such as "mx.google.com" for Gmail. Nothing is trusted without one.
	ID string
	// Host is its name in its Received field. Empty means that the name is ID or below it.
	Host string
	// Internal are the names of hosts of the same provider through which mail goes behind it, in their Received fields. Those that
	// write no "from" into theirs, as Gmail's, need not be named.
	Internal []string
	// Below says that the server puts its results right below its Received field, as Gmail does, and not above. Set it only
	// for a server that writes results for all mail from outside: where it writes none, the sender's would stand there.
	Below bool
}

// Authentication is what a trusted server found out about the sender of a message.
type Authentication struct {
	Results []AuthResult
}

// Authentication returns the results that the server itself put on top of the message (RFC 8601, section 5). Those of other
// servers are left out, and so are those that name the server but stand where the sender could have written them:
//
//   - Results above the Received field of the server count, all of them.
//   - With [AuthServer.Below], where there are none, the first field right below it counts; between them there may be
//     Received-SPF, Return-Path and the fields of ARC, and nothing else.
//   - Everything further down, and everything below a Received field from outside that is not the server's, is ignored.
//
// The header must be that of the message as the server delivered it: a message that was put into a mailbox in another way can
// say anything.
func (h Header) Authentication(server AuthServer) Authentication {
	var a Authentication
	if server.ID == "" {
		return a
	}
	above, below := h.zones(server)
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

// traceFields are those that may stand between a server's Received field and its results.
var traceFields = map[string]bool{
	"received-spf": true, "return-path": true, "arc-seal": true, "arc-message-signature": true, "arc-authentication-results": true,
}

func (a *Authentication) add(f *Field, server AuthServer) {
	if !strings.EqualFold(f.Name, "Authentication-Results") {
		return
	}
	if r, ok := ParseAuthResults(f.text()); ok && strings.EqualFold(r.ServID, server.ID) {
		a.Results = append(a.Results, r.Results...)
	}
}

// zones cuts the header at the Received field by which the server took the message: what is above is the provider's. Below
// are the fields up to the next Received, if the server's was found.
//
// Without a Received field at all, no one took the message from outside, and all of it may be the sender's.
func (h Header) zones(server AuthServer) (above, below Header) {
	boundary := -1
	for i := range h {
		if !strings.EqualFold(h[i].Name, "Received") {
			continue
		}
		if boundary >= 0 {
			return h[:boundary], h[boundary+1 : i]
		}
		from, by := received(h[i].text())
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

func (s AuthServer) received(by string) bool {
	host := s.Host
	if host == "" {
		host = s.ID
	}
	return isOrBelow(by, host)
}

func (s AuthServer) isInternal(by string) bool {
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

// received reads who wrote a Received field (RFC 5321, section 4.4), and whether it says whom it had the message from. The word
// behind "from" is the client's to choose.
func received(value string) (from bool, by string) {
	words := strings.Fields(uncomment(value))
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

// Result returns the result of the method, in lower case: "pass" if one of several passed, else the first; empty when the server
// says nothing about it.
func (a Authentication) Result(method string) string {
	result := ""
	for _, r := range a.Results {
		if r.Method != method {
			continue
		}
		if r.Result == "pass" {
			return r.Result
		}
		if result == "" {
			result = r.Result
		}
	}
	return result
}

// Verifies reports whether the domain of an address in From is shown to be the sender's: DMARC passed for it (RFC 7489), or,
// where the domain has no DMARC policy, SPF or DKIM passed for a domain that has the same organisational domain. It says
// nothing about the part before the @, nor about the name.
func (a Authentication) Verifies(from Address) bool {
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

// aligns reports whether SPF or DKIM passed in alignment with the domain, relaxed (RFC 7489, section 3.1).
func (a Authentication) aligns(domain string) bool {
	organization := OrganizationalDomain(domain)
	for _, r := range a.Results {
		if r.Result != "pass" {
			continue
		}
		var of string
		switch r.Method {
		case "spf":
			of = r.Property("smtp", "mailfrom")
		case "dkim":
			if of = r.Property("header", "d"); of == "" {
				of = r.Property("header", "i")
			}
		}
		if OrganizationalDomain(of) == organization {
			return true
		}
	}
	return false
}

// VerifiedFrom returns the address in From if the server verifies its domain, as [Authentication.Verifies] says; false if it does
// not, and for a message with several addresses in From.
func (m *Message) VerifiedFrom(server AuthServer) (Address, bool) {
	fields := 0
	m.Header.each("From", func(*Field) { fields++ })
	if len(m.From) != 1 || fields != 1 || !m.Header.Authentication(server).Verifies(m.From[0]) {
		return Address{}, false
	}
	return m.From[0], true
}

// OrganizationalDomain returns the domain that its owner registered, in lower case and with IDN as ASCII: the public suffix and
// one label more, by the public suffix list. A public suffix, or a name that is under none, is its own. The argument may be
// an address.
func OrganizationalDomain(domain string) string {
	domain = asciiDomain(domain)
	if registered, err := publicsuffix.EffectiveTLDPlusOne(domain); err == nil {
		return registered
	}
	return domain
}

// maxDomain is more than the bytes that the 253 of a domain (RFC 1035, section 2.3.4) can have before they are ASCII. The cost of
// punycode grows with the square of them.
const maxDomain = 1000

// asciiDomain is the domain of an address, or the domain itself, in the form in which domains are compared.
func asciiDomain(s string) string {
	s = strings.Trim(s[strings.LastIndexByte(s, '@')+1:], " \t.<>")
	if len(s) > maxDomain {
		return strings.ToLower(s)
	}
	if ascii, err := idna.Lookup.ToASCII(s); err == nil {
		return ascii
	}
	return strings.ToLower(s)
}
