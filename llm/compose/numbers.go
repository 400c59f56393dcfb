package compose

import (
	"cmp"
	"regexp"
	"strings"
)

const (
	digits = `\p{Nd}+(?:[.,'’]\p{Nd}+|[ \x{00A0}\x{202F}]\p{Nd}{3}\b)*`
	signs  = `[€$£¥%]`
	codes  = `(?:eur|euros?|usd|dollars?|gbp|pounds?|pfund|chf|franken|francs?|jpy|yen|percent|prozent)\b`

	amountPattern = `(?:` + signs + `|\b` + codes + `)\s?` + digits + `|` + digits + `\s?(?:` + signs + `|` + codes + `)`
	// Numbers, telephone numbers, dates and times of digits, and ranges.
	numberPattern = `\p{Nd}+(?:[.,:'’/–-]\p{Nd}+|[ \x{00A0}\x{202F}]\p{Nd}{3}\b)*`
)

var (
	separator = regexp.MustCompile(`\P{Nd}+`)
	// cents are decimals; a group of three digits is none, or may be none.
	cents  = regexp.MustCompile(`[.,](\p{Nd}+)$`)
	unit   = regexp.MustCompile(`(?i)` + signs + `|[\p{L}]+`)
	ranges = regexp.MustCompile(`[ \x{00A0}\x{202F}/–-]`)
	units  = map[string]string{"€": "eur", "euro": "eur", "euros": "eur", "$": "usd", "dollar": "usd", "dollars": "usd",
		"£": "gbp", "pound": "gbp", "pounds": "gbp", "pfund": "gbp",
		"franken": "chf", "franc": "chf", "francs": "chf", "¥": "jpy",
		"yen": "jpy", "percent": "%", "prozent": "%"}
)

// values are the numbers that a text of digits may mean: 1.200 is more than a thousand or a bit more than one.
func values(f string) (list []string) {
	whole := func(f, decimals string) {
		n := cmp.Or(strings.TrimLeft(ascii(f), "0"), "0")
		if decimals = strings.TrimRight(ascii(decimals), "0"); decimals != "" {
			n += "." + decimals
		}
		list = append(list, "number "+n)
	}
	decimals := cents.FindStringSubmatch(f)
	if decimals == nil {
		whole(f, "")
		return list
	}
	before := strings.TrimSuffix(f, decimals[0])
	sign := decimals[0][:1]
	if len(ascii(decimals[1])) == 3 && !strings.ContainsAny(before, strings.Trim(".,", sign)) {
		whole(f, "")
	}
	if !strings.Contains(before, sign) {
		whole(before, decimals[1])
	}
	if len(list) == 0 { // 1.20.3 is no number
		list = append(list, "digits "+f)
	}
	return list
}

// dates are the days that a text of digits may mean: 3/7 is in March or in July.
func dates(f string) (list []date) {
	parts := separator.Split(f, -1)
	add := func(d date) {
		if d.year > 0 && d.year < 100 {
			d.year += 2000
		}
		if d.valid() {
			list = append(list, d)
		}
	}
	n := make([]int, max(3, len(parts))) // of two parts, the year is 0
	for i, p := range parts {
		if n[i] = atoi(p); len(ascii(p)) > 2 && len(ascii(p)) != 4 {
			return nil
		}
	}
	switch {
	case strings.ContainsAny(f, " ,:'’"):
	case len(parts) == 3 && n[0] > 31:
		add(date{n[0], n[1], n[2]})
	case len(parts) == 3 || len(parts) == 2 && !strings.ContainsAny(f, "–-"):
		add(date{n[2], n[1], n[0]})
		if !strings.Contains(f, ".") {
			add(date{n[2], n[0], n[1]})
		}
	}
	return list
}

var clock = regexp.MustCompile(`^\p{Nd}{1,2}[.:]\p{Nd}{2}$`)

// long is how many digits a telephone number or an account has at least, which are the same whatever separates them.
const long = 7

func numberTells(f string) (all []string) {
	for _, part := range ranges.Split(f, -1) {
		all = append(all, values(part)...)
	}
	all = append(all, values(f)...)
	for _, d := range dates(f) {
		all = append(all, d.tells()...)
	}
	if clock.MatchString(f) {
		all = append(all, times(f)...)
	}
	if run := ascii(f); len(run) >= long {
		all = append(all, "digits "+run)
	}
	return all
}

func numberClaims(f string) [][]string {
	run := ascii(f)
	if len(run) < 2 {
		return nil
	}
	claims := each(values(f))
	for _, d := range dates(f) {
		claims = append(claims, d.claims()...)
	}
	if clock.MatchString(f) {
		claims = append(claims, timeClaims(f)...)
	}
	if len(run) >= long {
		claims = append(claims, []string{"digits " + run})
	}
	if parts := ranges.Split(f, -1); len(parts) > 1 {
		var all []string
		for _, part := range parts {
			all = append(all, values(part)[0])
		}
		claims = append(claims, all)
	}
	return claims
}

// amount splits an amount into the numbers it may mean and its unit.
func amount(f string) (numbers []string, in string) {
	in = strings.ToLower(unit.FindString(f))
	if other, is := units[in]; is {
		in = other
	}
	return values(strings.TrimSpace(unit.ReplaceAllString(f, ""))), "unit " + in
}

func amountTells(f string) []string {
	numbers, in := amount(f)
	return append(numbers, in)
}

func amountClaims(f string) (claims [][]string) {
	numbers, in := amount(f)
	for _, n := range numbers {
		claims = append(claims, []string{n, in})
	}
	return claims
}
