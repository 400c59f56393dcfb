package safehtml

import (
	"html"
	"net"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

const (
	maxAddress  = 8 << 10 // of a link, in bytes: longer ones are no links
	maxLinkText = 1 << 10 // what is read of its text, in bytes
	maxShown    = 300     // what is shown of an address that mail goes to, in bytes
)

// A link is an a with an address that may be followed.
type link struct {
	href string
	host string // or the address that a mail goes to
	text *strings.Builder
}

// newLink reads the address of a link; nil if nobody should follow it.
func newLink(address string) *link {
	address = strings.Map(func(r rune) rune {
		if r < 0x20 {
			return -1 // as browsers read it
		}
		return r
	}, strings.TrimSpace(address))
	if len(address) > maxAddress || strings.Contains(address, `\`) {
		return nil // browsers read a backslash as a slash, and others do not
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	l := &link{text: new(strings.Builder)}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if l.host = asciiHost(u); l.host == "" {
			return nil
		}
	case "mailto":
		return newMailLink(u)
	default:
		return nil
	}
	u.User = nil // it is there to be taken for the host
	l.href = u.String()
	return l
}

// newMailLink reads an address that mail goes to, and the subject and text that it begins with. Others that it would
// go to as well are left out, since nobody sees them.
func newMailLink(u *url.URL) *link {
	to, err := url.PathUnescape(u.Opaque)
	if to = plainText(to, maxAddress); err != nil || to == "" || len(to) > maxShown || strings.Count(to, "@") > 1 {
		return nil
	}
	l := &link{href: "mailto:" + url.PathEscape(to), host: to, text: new(strings.Builder)}
	next := "?"
	for field := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(field, "=")
		value, err := url.PathUnescape(value)
		switch name = strings.ToLower(name); {
		case err != nil || name != "subject" && name != "body":
			continue
		case name == "subject":
			value = plainText(value, maxAddress)
		}
		value = strings.ToValidUTF8(value, "\ufffd")
		l.href += next + name + "=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20")
		next = "&"
	}
	if len(l.href) > maxAddress {
		return nil
	}
	return l
}

var hostName = regexp.MustCompile(`^[a-z0-9_.-]{1,255}$`)

var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false))

// asciiHost makes the host of an address the one that a browser asks, in ASCII, so that letters of other scripts are
// told apart, and returns it; empty if it has none.
func asciiHost(u *url.URL) string {
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil {
		u.Host = "[" + ip.String() + "]" + port(u)
		return ip.String()
	}
	host, err := toASCII.ToASCII(host)
	if host = strings.ToLower(host); err != nil || !hostName.MatchString(host) {
		return ""
	}
	u.Host = host + port(u)
	return host
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return ":" + p
	}
	return ""
}

// start is the tag of the link.
func (l *link) start(a attributes) string {
	var b strings.Builder
	b.WriteString("<a")
	writeAttribute(&b, "href", l.href)
	writeAttribute(&b, "title", l.host)
	b.WriteString(` target="_blank" rel="noopener noreferrer"` + a.kept() + ">")
	return b.String()
}

// add reads text of the link.
func (l *link) add(s string) {
	if l.text.Len() <= maxLinkText {
		l.text.WriteString(cutText(s, maxLinkText+utf8.UTFMax-l.text.Len()))
	}
}

// noteClass is the class of the notes of hosts. Nothing else in a result has a class.
const noteClass = "host"

// note is the true host of a link whose text names another.
func (l *link) note() string {
	if l.text.Len() <= maxLinkText && !namesAnother(seen(l.text.String()), l.host) {
		return ""
	}
	return ` <bdi class="` + noteClass + `">[` + html.EscapeString(l.host) + "]</bdi>"
}

// seen is a text as people see it: without what is invisible, and with the dot of a host wherever browsers read one.
func seen(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me):
			return -1
		case r == '\u3002':
			return '.'
		}
		return r
	}, norm.NFKC.String(text))
}

// namesAnother reports whether a text names a host, and one that is not the given one.
func namesAnother(text, host string) bool {
	for word := range strings.FieldsSeq(text) {
		if named := hostIn(word); named != "" && !sameHost(named, host) {
			return true
		}
	}
	return false
}

// domain is what people take for a host: labels with dots, the last one of letters.
var domain = regexp.MustCompile(`^[\pL\pN_-]+(?:\.[\pL\pN_-]+)*\.\pL{2,}$`)

// hostIn returns the host that a word is an address of; empty if it looks like none.
func hostIn(word string) string {
	if _, after, found := strings.Cut(word, "://"); found {
		word = after
	}
	word = strings.Trim(word, `[](){}<>"'.,;:!?`)
	if at := strings.IndexAny(word, "/?#:"); at >= 0 {
		word = word[:at]
	}
	name := word[strings.LastIndexByte(word, '@')+1:]
	if !domain.MatchString(name) {
		return ""
	}
	if ascii, err := toASCII.ToASCII(name); err == nil {
		name = ascii
	}
	return strings.ToLower(name)
}

// sameHost reports whether a text that names a host is honest about where a link leads: to it or its www, or to an
// address of it.
func sameHost(named, host string) bool {
	host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	return strings.TrimPrefix(named, "www.") == strings.TrimPrefix(host, "www.")
}
