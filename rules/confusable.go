package rules

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
)

// lookalikes are the letters and digits that look like small Latin letters: those of Cyrillic, Greek, Armenian and Latin in the
// table of confusables of UTS 39 (Unicode security mechanisms, section 4). Letters with accents, wide and mathematical ones
// are taken apart before (NFKD), and the accents left out.
var lookalikes = lookalikePairs(
	"аa еe іi јj оo рp сc уy хx ѕs һh ԁd ԛq ԝw ӏl гr", // Cyrillic
	"αa γy ιi νv οo ρp σo υu",                         // Greek
	"օo սu ոn հh զq ցg աw",                            // Armenian
	"ıi ɑa ɡg ɩi ʋv ƽs łl øo đd ħh",                   // Latin
	"0o 1l |l", // 1, l and a capital I look alike; see skeleton
)

func lookalikePairs(lines ...string) map[rune]rune {
	pairs := map[rune]rune{}
	for _, line := range lines {
		for pair := range strings.FieldsSeq(line) {
			letters := []rune(pair)
			pairs[letters[0]] = letters[1]
		}
	}
	return pairs
}

// skeleton returns what is equal for texts that look alike (UTS 39, section 4).
func skeleton(text string) string {
	var out strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch letter, known := lookalikes[r]; {
		case unicode.In(r, unicode.Mn, unicode.Cf):
		case known:
			r = letter
			fallthrough
		default:
			if r == 'i' { // as a capital it is an l
				r = 'l'
			}
			if r == 'm' {
				out.WriteString("rn")
				continue
			}
			out.WriteRune(r)
		}
	}
	return out.String()
}

// unicodeDomain returns a domain as people see it.
func unicodeDomain(domain string) string {
	if shown, err := idna.ToUnicode(domain); err == nil {
		return shown
	}
	return domain
}

// compileConfusable tests whether the sender's domain looks like one of the values and is another; without values, whether a
// word of the domain or of the display name mixes scripts.
func compileConfusable(k *code, c *Condition) (leaf, *ConditionError) {
	protected := c.alternatives()
	if len(protected) == 0 {
		return leaf{test: (*view).isMixedSender, sender: true}, nil
	}
	if e := c.eachValue(domainFault); e != nil {
		return leaf{}, e
	}
	own, skeletons := map[string]bool{}, map[string]bool{}
	for _, domain := range protected {
		site := mime.OrganizationalDomain(domain)
		own[site], skeletons[skeleton(unicodeDomain(site))] = true, true
	}
	id := k.source(addressSource(inFrom, partSite))
	return leaf{
		sender: true,
		test: func(v *view) bool {
			for _, site := range v.texts(id) {
				if !own[site] && skeletons[skeleton(unicodeDomain(site))] {
					return true
				}
			}
			return false
		},
		explain: func(v *view) string { return v.found([]int32{id}, 0) },
	}, nil
}

func (v *view) isMixedSender() bool { return mimeAddress(v.msg.From).MixesScripts() }

// isSpoofed reports whether the display name holds an address of another site than the sender's.
func (v *view) isSpoofed() bool { return mimeAddress(v.msg.From).NamesAnother() }

func mimeAddress(a postroom.Address) mime.Address { return mime.Address{Name: a.Name, Email: a.Email} }

// found says what texts of sources a message has.
func (v *view) found(ids []int32, index int) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, indexed(v.texts(id), index)...)
	}
	return foundTexts(texts)
}

func foundTexts(texts []string) string {
	const shown, length = 3, 60
	if len(texts) == 0 {
		return "it has none"
	}
	quoted := make([]string, 0, shown)
	for _, text := range texts[:min(len(texts), shown)] {
		if runes := []rune(text); len(runes) > length {
			text = string(runes[:length]) + "…"
		}
		quoted = append(quoted, fmt.Sprintf("%q", text))
	}
	if more := len(texts) - shown; more > 0 {
		return fmt.Sprintf("it is %s and %d more", strings.Join(quoted, ", "), more)
	}
	return "it is " + strings.Join(quoted, ", ")
}
