package mime

import (
	"regexp"
	"strings"
	"unicode"
)

// mixed are the scripts whose letters are put into Latin words in order to deceive.
var mixed = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

// MixesScripts reports whether a word of the name or of the domain, as people see it, has letters of Latin and of a script that
// looks like it: such words are made to be taken for others.
func (a Address) MixesScripts() bool {
	for word := range strings.FieldsFuncSeq(UnicodeDomain(a.Email)+" "+a.Name, isBetweenWords) {
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

func isBetweenWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// imitated are names that mail is often made to come from, as they stand in domains.
var imitated = map[string]bool{
	"adobe": true, "airbnb": true, "amazon": true, "americanexpress": true, "apple": true, "bankofamerica": true, "binance": true,
	"booking": true, "citibank": true, "coinbase": true, "commerzbank": true, "docusign": true, "dropbox": true, "facebook": true,
	"github": true, "gmail": true, "google": true, "hotmail": true, "icloud": true, "instagram": true, "linkedin": true,
	"mastercard": true, "metamask": true, "microsoft": true, "netflix": true, "office365": true, "onedrive": true, "outlook": true,
	"paypal": true, "postbank": true, "revolut": true, "santander": true, "sharepoint": true, "sparkasse": true, "spotify": true,
	"stripe": true, "telegram": true, "twitter": true, "volksbank": true, "wellsfargo": true, "whatsapp": true, "yahoo": true,
}

// skeletonsImitated are what disguises of these names look like. A capital I for an l is none: there are names which differ in that.
var skeletonsImitated = func() map[string]bool {
	skeletons := make(map[string]bool, len(imitated))
	for name := range imitated {
		skeletons[skeleton(name, false)] = true
	}
	return skeletons
}()

// Imitates reports whether the domain or the name is written to be taken for another: with a word that looks like one of some
// forty names of well-known companies and is not spelled so, as paypa1; or with a label of the domain that is all of Cyrillic
// letters which look like Latin ones, under a top-level domain that is not of a country which writes so.
func (a Address) Imitates() bool {
	domain := UnicodeDomain(OrganizationalDomain(a.Email))
	for word := range strings.FieldsFuncSeq(domain+" "+strings.ToLower(a.Name), isBetweenWords) {
		if !imitated[word] && skeletonsImitated[skeleton(word, false)] {
			return true
		}
	}
	label, top, _ := strings.Cut(domain, ".")
	return looksLatin(label) && isASCII(top) && !writesCyrillic[top[strings.LastIndexByte(top, '.')+1:]]
}

// writesCyrillic are the top-level domains in ASCII of countries that write so.
var writesCyrillic = map[string]bool{
	"bg": true, "by": true, "kg": true, "kz": true, "md": true, "me": true, "mk": true, "mn": true, "rs": true, "ru": true,
	"su": true, "tj": true, "ua": true, "uz": true,
}

// looksLatin reports whether a word has Cyrillic letters, and all its letters look like Latin ones.
func looksLatin(word string) bool {
	cyrillic := false
	for _, r := range word {
		_, looks := lookalikes[r]
		cyrillic = cyrillic || unicode.Is(unicode.Cyrillic, r)
		if unicode.IsLetter(r) && r >= 0x80 && !looks {
			return false
		}
	}
	return cyrillic
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
