package mime

import (
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"net/url"
	"strings"
)

// A List describes the mailing list or the bulk mail that a message belongs to. All of it is the sender's claim. The
// zero List is for a header without list fields.
type List struct {
	// ID identifies the list (RFC 2919), in lower case and without angle brackets. Name is its description.
	ID   string
	Name string

	Unsubscribe Unsubscribe

	// The http, https and mailto links of RFC 2369, in the order of the sender's preference.
	Subscribe []*url.URL
	Post      []*url.URL
	Help      []*url.URL
	Owner     []*url.URL
	Archive   []*url.URL
	// PostForbidden reports "List-Post: NO": the list accepts no mail (RFC 2369, section 3.4).
	PostForbidden bool
}

// Unsubscribe holds the ways to leave a list (RFC 2369, section 3.2), in the order of the sender's preference.
type Unsubscribe struct {
	// OneClick is the address where a POST of "List-Unsubscribe=One-Click" leaves the list at once (RFC 8058). It is
	// always https. It is nil if there is none, or if the message has no List-Unsubscribe-Post field.
	//
	// RFC 8058, section 4, requires a valid DKIM signature that covers both fields. The List is not checked for one:
	// SignedBy holds the domains of the signatures that claim to cover them. Compare them with the "dkim" results of
	// authres.Read.
	OneClick *url.URL
	SignedBy []string
	// Web are the http and https links, including OneClick. A person opens them; a GET must not count as consent.
	Web  []*url.URL
	Mail []Mailto
}

// A Mailto is the mail that a mailto link describes (RFC 6068). Fields other than to, subject and body are left out.
type Mailto struct {
	To      []string // addresses
	Subject string   // one line
	Body    string   // lines end in LF
}

// maxLinks bounds the links of one kind.
const maxLinks = 20

// List reads the list fields of a header.
func (h Header) List() List {
	var l List
	if f := h.field("List-Id"); f != nil {
		l.ID, l.Name = listID(f)
	}
	l.Subscribe, _ = h.links("List-Subscribe")
	l.Post, l.PostForbidden = h.links("List-Post")
	l.Help, _ = h.links("List-Help")
	l.Owner, _ = h.links("List-Owner")
	l.Archive, _ = h.links("List-Archive")
	l.Unsubscribe = h.unsubscribe()
	return l
}

// listID returns the id in the angle brackets.
//
// QUIRK: RFC 2919, section 3, requires brackets; ids without them occur. Sample: list-id-bare.
func listID(f *Field) (id, name string) {
	value := fieldvalue.Uncomment(f.Raw())
	open := strings.LastIndexByte(value, '<')
	if open < 0 {
		return strings.ToLower(fieldvalue.WithoutBlanks(value)), ""
	}
	id, _, _ = strings.Cut(value[open+1:], ">")
	name, _ = decodeWords(strings.Trim(strings.TrimSpace(value[:open]), `"`), nil)
	return strings.ToLower(fieldvalue.WithoutBlanks(id)), fieldvalue.OneLine(name)
}

func (h Header) unsubscribe() Unsubscribe {
	var u Unsubscribe
	links, _ := h.links("List-Unsubscribe")
	for _, link := range links {
		if link.Scheme != "mailto" {
			u.Web = append(u.Web, link)
		} else if mail, ok := parseMailto(link); ok {
			u.Mail = append(u.Mail, mail)
		}
	}
	if !strings.EqualFold(fieldvalue.WithoutBlanks(h.Get("List-Unsubscribe-Post")), "List-Unsubscribe=One-Click") {
		return u
	}
	for _, link := range u.Web {
		if link.Scheme == "https" && u.OneClick == nil {
			u.OneClick = link
			u.SignedBy = h.signers("list-unsubscribe", "list-unsubscribe-post")
		}
	}
	return u
}

// signers returns the domains whose DKIM signatures claim to cover all the fields (RFC 6376, section 3.5).
func (h Header) signers(fields ...string) []string {
	var domains []string
	h.Each("DKIM-Signature", func(f *Field) {
		signature := fieldvalue.Tags(f.Raw())
		covered := ":" + strings.ToLower(signature["h"]) + ":"
		for _, field := range fields {
			if !strings.Contains(covered, ":"+field+":") {
				return
			}
		}
		if domain := signature["d"]; domain != "" {
			domains = append(domains, strings.ToLower(domain))
		}
	})
	return domains
}

// links returns the links of all fields of the name. no reports the word NO in their place.
//
// QUIRK: links without angle brackets, in encoded-words, and broken over lines occur, as do repeated fields. Nobody
// can tell where one without both brackets ends: it is none in List-Unsubscribe, where a wrong one would be asked.
// Samples: list-links-bare, list-links-encoded, 41e-lu-nobrackets.
func (h Header) links(name string) (links []*url.URL, no bool) {
	for _, value := range h.Values(name) {
		for value != "" && len(links) < maxLinks {
			var text string
			var isBracketed bool
			if text, value, isBracketed = cutLink(value); !isBracketed && name == "List-Unsubscribe" {
				continue
			}
			no = no || strings.EqualFold(text, "NO")
			if link, err := url.Parse(text); err == nil && isLink(link) {
				links = append(links, link)
			}
		}
	}
	return links, no
}

// cutLink cuts the next link off a list: the text in angle brackets, or a word. isBracketed reports whether it has
// both.
func cutLink(s string) (link, rest string, isBracketed bool) {
	s = strings.TrimLeft(s, " \t,")
	switch {
	case strings.HasPrefix(s, "("):
		_, rest, closed := fieldvalue.CutComment(s)
		if !closed {
			return "", "", false
		}
		return "", rest, false
	case strings.HasPrefix(s, "<"):
		link, rest, isBracketed = strings.Cut(s[1:], ">")
		return fieldvalue.WithoutBlanks(link), rest, isBracketed && !strings.Contains(link, "<")
	}
	end := strings.IndexAny(s, " \t,<")
	if end < 0 {
		return s, "", false
	}
	return s[:end], s[end:], false
}

func isLink(u *url.URL) bool {
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != "" || u.RawQuery != ""
	default:
		return false
	}
}

// parseMailto parses a mailto link (RFC 6068, section 2). It returns false if the link has no address.
func parseMailto(u *url.URL) (Mailto, bool) {
	var m Mailto
	m.addTo(u.Opaque)
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, text, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(text) // a plus sign is one
		if err != nil {
			continue
		}
		switch strings.ToLower(name) {
		case "to":
			m.addTo(text)
		case "subject":
			m.Subject = fieldvalue.OneLine(value)
		case "body":
			m.Body = strings.ReplaceAll(strings.ToValidUTF8(value, "\uFFFD"), "\r\n", "\n")
		}
	}
	return m, len(m.To) > 0
}

func (m *Mailto) addTo(list string) {
	for text := range strings.SplitSeq(list, ",") {
		value, err := url.PathUnescape(text)
		value = strings.TrimSpace(value)
		if err != nil || fieldvalue.OneLine(value) != value || strings.ContainsAny(value, " \t<>,;") {
			continue
		}
		if local, domain, found := strings.Cut(value, "@"); found && local != "" && domain != "" && len(m.To) < maxLinks {
			m.To = append(m.To, value)
		}
	}
}
