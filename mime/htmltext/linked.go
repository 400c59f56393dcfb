package htmltext

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// darkLinkColor is that of links on pages for dark windows.
var darkLinkColor = rgba{0x9e, 0x9e, 0xff, 255}

// readScheme finds the meta element that asks for a dark window. The last such element begins at last.
func (r *reader) readScheme(last int) {
	templates := 0
	for s := (scanner{source: r.scanner.source}); s.pos <= last; {
		switch token := s.next(); {
		case token == endOfPage:
			return
		case token == startToken && s.tag == tagTemplate:
			templates++
		case token == endToken && s.tag == tagTemplate:
			templates = max(0, templates-1)
		case token == startToken && s.tag == tagMeta && templates == 0:
			self := identity{attrs: s.attrs}
			if name, _ := self.attribute("name"); strings.EqualFold(trimCSS(name), "color-scheme") {
				content, _ := self.attribute("content")
				content = lowerASCII(content)
				r.isDark = strings.Contains(content, "dark") && !strings.Contains(content, "light")
				return
			}
		}
	}
}

// readLinkedSheet reads the sheet in the address of a link element.
func (r *reader) readLinkedSheet(s *scanner) {
	self := identity{attrs: s.attrs}
	address := strings.TrimSpace(s.set.get(attrHref))
	if !startsWithFold(address, "data:") {
		return // nothing is loaded
	}
	isSheet := false
	rel, _ := self.attribute("rel")
	for rel != "" {
		var word string
		word, rel = nextWord(rel)
		if strings.EqualFold(word, "alternate") {
			return
		}
		isSheet = isSheet || strings.EqualFold(word, "stylesheet")
	}
	if isSheet && mediaApplies(lowerCSS(s.set.get(attrMedia))) {
		r.sheet.addData(address)
	}
}

// addData reads the sheet that an address contains.
func (s *cssSheet) addData(address string) {
	const most = 64 << 10
	kind, data, ok := strings.Cut(address[len("data:"):], ",")
	if s.imports++; s.imports > 16 || len(address) > most {
		s.overfull = true
		return
	}
	kind = lowerASCII(kind)
	if !ok || !strings.HasPrefix(kind, "text/css") {
		return
	}
	decoded, err := url.PathUnescape(data)
	if err == nil && strings.HasSuffix(trimCSS(kind), "base64") {
		var raw []byte
		raw, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(decoded, "="))
		decoded = string(raw)
	}
	if err != nil {
		s.overfull = true
		return
	}
	s.add(decoded)
}

// importSheet reads the sheet of an @import rule. If the rule has conditions, the sheet may not apply.
func (s *cssSheet) importSheet(rule string, at ruleContext) {
	rule = trimCSS(rule)
	address, rest := rule, ""
	if startsWithFold(rule, "url(") {
		length := bracketLength(rule[len("url"):])
		address, rest = trimCSS(strings.TrimSuffix(rule[len("url("):len("url")+length], ")")), rule[len("url")+length:]
	}
	if address != "" && (address[0] == '"' || address[0] == '\'') {
		length := quotedLength(address)
		if rest == "" {
			rest = address[length:]
		}
		address = strings.Trim(address[:length], address[:1])
	}
	if address = unescapeCSS(address); !startsWithFold(address, "data:") {
		return
	}
	if trimCSS(rest) != "" || at.depth > 0 {
		s.overfull = true
		return
	}
	s.addData(address)
}

func startsWithFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
