package compose

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// A kind is a kind of facts that a model must not invent. A fact is compared by its values, so that another form of the
// same value counts as the same.
type kind struct {
	pattern string
	// tells are the values that a known text tells with the fact.
	tells func(f string) []string
	// claims are the values that an answer claims with it: the fact is known if all values of one of the lists are. A
	// fact with no list is none.
	claims func(f string) [][]string
}

// kinds are tried in this order where several match.
var kinds = []*kind{
	{`\[check:[^\]]*\]`, nil, nil}, // a mark of the model's own
	{`https?://[^\s<>"]+|www\.[^\s<>"]+`, link, linkClaim},
	{`[\p{L}\p{Nd}_.+-]+@[\p{L}\p{Nd}_-]+(?:\.[\p{L}\p{Nd}_-]+)+`, link, linkClaim},
	{`(?:[\p{L}\p{Nd}-]+\.)+\p{L}{2,}(?:/[^\s<>"]*)?`, domain, domainClaim},
	{monthPattern, dateTells, dateClaims},
	{amountPattern, amountTells, amountClaims},
	{timePattern, times, timeClaims},
	{weekdayPattern, weekday, weekdayClaim},
	{numberPattern, numberTells, numberClaims},
}

// fact matches all kinds, each in a group of its own.
var fact = func() *regexp.Regexp {
	var groups []string
	for _, k := range kinds {
		groups = append(groups, "("+k.pattern+")")
	}
	return regexp.MustCompile("(?i)" + strings.Join(groups, "|"))
}()

// eachFact calls fn with the kind and the place of each fact of a text. Punctuation behind it is none of it.
func eachFact(text string, fn func(k *kind, start, end int)) {
	for _, at := range fact.FindAllStringSubmatchIndex(text, -1) {
		for i := range kinds {
			if start, end := at[2+2*i], at[3+2*i]; start >= 0 {
				if kinds[i].claims != nil {
					end = start + len(strings.TrimRight(text[start:end], ".,;:!?)'"))
				}
				fn(kinds[i], start, end)
			}
		}
	}
}

// unseen are characters that nobody sees in a number.
var unseen = regexp.MustCompile(`(\p{Nd})\p{Cf}+`)

// mark marks the facts of a text that are not known. What stands in a mark is not known: it was invented before.
func mark(text, known string) string {
	have := make(map[string]bool)
	eachFact(known, func(k *kind, start, end int) {
		if k.tells == nil {
			return
		}
		for _, value := range k.tells(known[start:end]) {
			have[value] = true
		}
	})
	text = unseen.ReplaceAllString(text, "$1")
	var b strings.Builder
	done := 0
	eachFact(text, func(k *kind, start, end int) {
		if k.claims == nil || isKnown(k.claims(text[start:end]), have) {
			return
		}
		b.WriteString(text[done:start] + "[check: " + text[start:end] + "]")
		done = end
	})
	return b.String() + text[done:]
}

func isKnown(claims [][]string, have map[string]bool) bool {
	return len(claims) == 0 || slices.ContainsFunc(claims, func(values []string) bool {
		return !slices.ContainsFunc(values, func(v string) bool { return !have[v] })
	})
}

// each makes a list of its own of each value.
func each(values []string) (lists [][]string) {
	for _, v := range values {
		lists = append(lists, []string{v})
	}
	return lists
}

var scheme = regexp.MustCompile(`^(?:https?://)?(?:www\.)?`)

func link(f string) []string {
	return []string{"link " + strings.TrimRight(scheme.ReplaceAllString(strings.ToLower(f), ""), "/")}
}

func linkClaim(f string) [][]string { return each(link(f)) }

// domain is an address of the web without https:// before it. A word with a full stop in it is none unless it ends in a
// domain that is in use.
func domain(f string) []string {
	host, _, _ := strings.Cut(strings.ToLower(f), "/")
	if _, icann := publicsuffix.PublicSuffix(host); !icann {
		return nil
	}
	return link(f)
}

func domainClaim(f string) [][]string { return each(domain(f)) }
