package lookalike

import (
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/htmltext"
	"golang.org/x/text/unicode/norm"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// mixed are the scripts whose letters are mixed into Latin words in order to deceive.
var mixed = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee}

// MixesScripts reports whether a word of the address's name or of its domain, as people see it, has letters of Latin
// and of a script that looks like it. Such words are made to pass for others.
func MixesScripts(a mime.Address) bool {
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

// imitated are often imitated names, as they stand in domains.
var imitated = map[string]bool{
	"adobe": true, "airbnb": true, "amazon": true, "americanexpress": true, "apple": true, "bankofamerica": true, "binance": true,
	"booking": true, "citibank": true, "coinbase": true, "commerzbank": true, "docusign": true, "dropbox": true, "facebook": true,
	"github": true, "gmail": true, "google": true, "hotmail": true, "icloud": true, "instagram": true, "linkedin": true,
	"mastercard": true, "metamask": true, "microsoft": true, "netflix": true, "office365": true, "onedrive": true, "outlook": true,
	"paypal": true, "postbank": true, "revolut": true, "santander": true, "sharepoint": true, "sparkasse": true, "spotify": true,
	"stripe": true, "telegram": true, "twitter": true, "volksbank": true, "wellsfargo": true, "whatsapp": true, "yahoo": true,
}

// skeletonsImitated are the looks of disguises of these names. A capital I for an l is not among them: genuine names
// differ in that.
var skeletonsImitated = func() map[string]bool {
	skeletons := make(map[string]bool, len(imitated))
	for name := range imitated {
		skeletons[skeleton(name, false)] = true
	}
	return skeletons
}()

// Imitates reports whether the domain or the name of the address is written to be mistaken for another. It has a word
// that looks like one of about forty names of well-known companies but is spelled differently, such as paypa1. Or a
// label of the domain consists of Cyrillic letters that look like Latin ones, under a top-level domain whose country
// does not use Cyrillic.
func Imitates(a mime.Address) bool {
	domain := UnicodeDomain(authres.OrganizationalDomain(a.Email))
	if hasCapitalI(a.Email[strings.LastIndexByte(a.Email, '@')+1:] + " " + a.Name) {
		return true
	}
	for word := range strings.FieldsFuncSeq(domain+" "+strings.ToLower(a.Name), isBetweenWords) {
		if !imitated[word] && skeletonsImitated[skeleton(word, false)] {
			return true
		}
	}
	label, top, _ := strings.Cut(domain, ".")
	return looksLatin(label) && isASCIIDomain(top) && !writesCyrillic[top[strings.LastIndexByte(top, '.')+1:]]
}

// hasCapitalI reports whether a word becomes an imitated name if its capital I is read as l. A word in capitals does
// not: there the two differ.
func hasCapitalI(text string) bool {
	for word := range strings.FieldsFuncSeq(text, isBetweenWords) {
		if strings.Contains(word, "I") && word != strings.ToUpper(word) && !imitated[strings.ToLower(word)] &&
			imitated[strings.ToLower(strings.ReplaceAll(word, "I", "l"))] {
			return true
		}
	}
	return false
}

// writesCyrillic are the ASCII top-level domains of countries that use Cyrillic.
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

var addressInName = regexp.MustCompile(`[\pL\pN._%+-]+@([\pL\pN-]+(?:\.[\pL\pN-]+)*)`)

// NamesAnother reports whether the name of the address contains an address with another organizational domain than
// the address itself, whatever form of the @ it has. A host without a dot is another if it is no label of the address's
// domain. Many mail clients show only the name, which then is not the real sender.
func NamesAnother(a mime.Address) bool {
	own := authres.OrganizationalDomain(a.Email)
	domain := strings.ToLower(a.Email[strings.LastIndexByte(a.Email, '@')+1:])
	for _, found := range addressInName.FindAllStringSubmatch(shownName(a.Name), -1) {
		if !strings.Contains(found[1], ".") {
			if !slices.Contains(strings.Split(domain, "."), strings.ToLower(found[1])) {
				return true
			}
			continue
		}
		if authres.OrganizationalDomain(found[1]) != own {
			return true
		}
	}
	return false
}

// shownName returns a name with plain forms of wide and small characters, and without invisible ones.
func shownName(name string) string {
	return strings.Map(func(r rune) rune {
		if htmltext.IsInvisible(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
}

func isASCIIDomain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}
