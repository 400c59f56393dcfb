package safehtml

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// attributes are those of a tag that may matter, as the sender wrote them.
type attributes map[string]string

// kept are the attributes that an element keeps, in the order in which they are written, and what their values are
// like.
var kept = []struct {
	name string
	like *regexp.Regexp
}{
	{"align", word}, {"bgcolor", color}, {"border", number}, {"cellpadding", number}, {"cellspacing", number},
	{"color", color}, {"colspan", number}, {"dir", word}, {"face", fonts}, {"height", number}, {"hidden", anything},
	{"lang", word}, {"nowrap", anything}, {"rowspan", number}, {"scope", word}, {"size", number}, {"span", number},
	{"start", number}, {"type", word}, {"valign", word}, {"value", number}, {"width", number},
}

var (
	word     = regexp.MustCompile(`^[A-Za-z][A-Za-z-]{0,20}$`)
	number   = regexp.MustCompile(`^[+-]?[0-9]{1,4}(?:\.[0-9]{1,2})?(?:px|%)?$`)
	color    = regexp.MustCompile(`^(?:#?[0-9A-Fa-f]{3,8}|[A-Za-z]{3,20})$`)
	fonts    = regexp.MustCompile(`^[\pL0-9 ,'"_-]{1,200}$`)
	anything = regexp.MustCompile(``)
)

// read are the attributes that elements keep, or that become something else.
var read = func() map[string]bool {
	names := map[string]bool{"alt": true, "href": true, "src": true, "style": true, "text": true}
	for _, k := range kept {
		names[k.name] = true
	}
	return names
}()

// attributes reads those of the tag. Of two with one name the first counts, as in browsers.
func (c *cleaner) attributes(more bool) attributes {
	found := attributes{}
	for more {
		var name, value []byte
		name, value, more = c.z.TagAttr()
		if !read[string(name)] {
			continue
		}
		if _, again := found[string(name)]; !again {
			found[string(name)] = strings.ToValidUTF8(string(value), "\ufffd")
		}
	}
	return found
}

// pageColors makes properties of style of the colors of a body, which a div does not have otherwise. What its style
// says counts more.
func (a attributes) pageColors() {
	for _, of := range [][2]string{{"text", "color"}, {"bgcolor", "background-color"}} {
		if value := strings.TrimSpace(a[of[0]]); color.MatchString(value) {
			a["style"] = of[1] + ":" + value + ";" + a["style"]
		}
	}
	delete(a, "bgcolor")
}

// kept returns the attributes that an element keeps, written anew.
func (a attributes) kept() string {
	var b strings.Builder
	for _, k := range kept {
		value, has := a[k.name]
		value = strings.TrimSpace(value)
		switch {
		case !has:
		case k.like == anything:
			b.WriteString(" " + k.name) // that it is there is all that counts
		case k.like.MatchString(value):
			writeAttribute(&b, k.name, value)
		}
	}
	if style := cleanStyle(a["style"]); style != "" {
		writeAttribute(&b, "style", style)
	}
	return b.String()
}

func writeAttribute(b *strings.Builder, name, value string) {
	b.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
}

// plainText is an attribute as text for people, of at most n bytes.
func plainText(s string, n int) string {
	s = strings.Join(strings.Fields(strings.Map(readable, s)), " ")
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return strings.TrimSpace(cutText(s, n))
}
