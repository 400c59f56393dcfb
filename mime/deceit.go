package mime

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// mixed are the scripts whose letters are put into Latin words in order to deceive.
var mixed = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

// MixesScripts reports whether a word of the name or of the domain, as people see it, has letters of Latin and of a script that
// looks like it: such words are made to be taken for others.
func (a Address) MixesScripts() bool {
	domain := a.Email[strings.LastIndexByte(a.Email, '@')+1:]
	if len(domain) <= maxDomain {
		if shown, err := idna.ToUnicode(domain); err == nil {
			domain = shown
		}
	}
	for word := range strings.FieldsFuncSeq(domain+" "+a.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		latin, other := false, false
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			other = other || unicode.In(r, mixed...)
		}
		if latin && other {
			return true
		}
	}
	return false
}

var addressInName = regexp.MustCompile(`[\pL\pN._%+-]+@((?:[\pL\pN-]+\.)+\pL[\pL\pN-]+)`)

// NamesAnother reports whether the name holds an address of another organisational domain than the address itself: what many
// mail clients show is not who has written.
func (a Address) NamesAnother() bool {
	own := OrganizationalDomain(a.Email)
	for _, found := range addressInName.FindAllStringSubmatch(a.Name, -1) {
		if OrganizationalDomain(found[1]) != own {
			return true
		}
	}
	return false
}
