package mime

import (
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"golang.org/x/net/idna"
)

// encodeEmail returns an address with its domain in ASCII, unless the message is for SMTPUTF8.
func (o *Outgoing) encodeEmail(email string) (string, error) {
	if o.SMTPUTF8 || isASCII(email) {
		return email, nil
	}
	at := strings.LastIndexByte(email, '@')
	local, domain := email[:at], email[at+1:]
	if !isASCII(local) {
		return "", fmt.Errorf("%w: %q cannot be written in ASCII; set SMTPUTF8 if all servers on the way can take it",
			ErrInvalid, fieldvalue.Excerpt(email))
	}
	ascii, err := idna.Lookup.ToASCII(domain)
	if err != nil || !isDotAtom(ascii) {
		return "", fmt.Errorf("%w: %q is no international domain name (RFC 5891)", ErrInvalid, fieldvalue.Excerpt(domain))
	}
	return local + "@" + ascii, nil
}

// isEmptyGroup reports whether an address stands for a group without members, such as undisclosed-recipients.
func (a Address) isEmptyGroup() bool { return a.Group != "" && a.Name == "" && a.Email == "" }

// encodeAddresses returns a list in the form of a header. Neighbors of one group are written as a group (RFC 5322,
// section 3.4). The addresses must be valid.
func (o *Outgoing) encodeAddresses(list []Address, room int) string {
	var out strings.Builder
	group := ""
	for i, a := range list {
		if group != "" && a.Group != group {
			out.WriteByte(';')
			group = ""
		}
		if i > 0 {
			out.WriteString(", ")
		}
		switch {
		case a.isEmptyGroup():
			out.WriteString(encodeGroup(a.Group, room) + ";")
			continue
		case a.Group != group:
			out.WriteString(encodeGroup(a.Group, room) + " ")
			group = a.Group
		}
		email, _ := o.encodeEmail(a.Email)
		if a.Name != "" {
			email = encodePhrase(a.Name, room) + " <" + email + ">"
		}
		out.WriteString(email)
	}
	if group != "" {
		out.WriteByte(';')
	}
	return out.String()
}

// encodeGroup returns the form of a group's name. A blank must follow an encoded-word (RFC 2047, section 5).
func encodeGroup(name string, room int) string {
	phrase := encodePhrase(name, room)
	if strings.HasSuffix(phrase, "?=") {
		phrase += " "
	}
	return phrase + ":"
}
