package compose

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// months and weekdays are the names in English, German, French, Spanish, Italian, Dutch and Portuguese.
var (
	months = names(
		"january|januar|jänner|janvier|enero|gennaio|januari|janeiro|jan",
		"february|februar|février|febrero|febbraio|februari|fevereiro|feb",
		"march|märz|mars|marzo|maart|março|mar",
		"april|avril|abril|aprile|apr",
		"may|mai|mayo|maggio|mei|maio",
		"june|juni|juin|junio|giugno|junho|jun",
		"july|juli|juillet|julio|luglio|julho|jul",
		"august|août|agosto|augustus|aug",
		"september|septembre|septiembre|settembre|setembro|sept|sep",
		"october|oktober|octobre|octubre|ottobre|outubro|oct|okt",
		"november|novembre|noviembre|novembro|nov",
		"december|dezember|décembre|diciembre|dicembre|dezembro|dec|dez")
	weekdays = names(
		"sunday|sonntag|dimanche|domingo|domenica|zondag",
		"monday|montag|lundi|lunes|lunedì|maandag|segunda-feira",
		"tuesday|dienstag|mardi|martes|martedì|dinsdag|terça-feira",
		"wednesday|mittwoch|mercredi|miércoles|mercoledì|woensdag|quarta-feira",
		"thursday|donnerstag|jeudi|jueves|giovedì|donderdag|quinta-feira",
		"friday|freitag|vendredi|viernes|venerdì|vrijdag|sexta-feira",
		"saturday|samstag|sonnabend|samedi|sábado|sabato|zaterdag")
)

// names returns the place of each name.
func names(lists ...string) map[string]int {
	all := make(map[string]int)
	for i, list := range lists {
		for name := range strings.SplitSeq(list, "|") {
			all[name] = i
		}
	}
	return all
}

// oneOf matches each name as a whole word.
func oneOf(all map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if last := name[len(name)-1]; last < utf8.RuneSelf { // \b knows ASCII alone
			name += `\b`
		}
		list = append(list, name)
	}
	return `\b(?:` + strings.Join(list, "|") + `)`
}

var (
	monthPattern = `\p{Nd}{1,2}(?:st|nd|rd|th|\.|er|º|ª)?\s*(?:of\s+|de\s+|d['’])?` + oneOf(months) +
		`\.?(?:,?\s+(?:de\s+|del\s+)?\p{Nd}{4}\b)?|` +
		oneOf(months) + `\.?\s+\p{Nd}{1,2}(?:st|nd|rd|th)?\b(?:,?\s+\p{Nd}{4}\b)?|` +
		`(?:\p{Nd}{4}年)?\p{Nd}{1,2}月\p{Nd}{1,2}日`
	weekdayPattern = oneOf(weekdays)
	timePattern    = `\p{Nd}{1,2}(?:[:.]\p{Nd}{2})?\s*(?:a\.m\.|p\.m\.|(?:am|pm|uhr|o['’]clock)\b)|` +
		`\p{Nd}{1,2}\s?h(?:\p{Nd}{2})?\b|\p{Nd}{1,2}:\p{Nd}{2}(?::\p{Nd}{2})?\b`
	word   = regexp.MustCompile(`\p{L}{3,}`)
	number = regexp.MustCompile(`\p{Nd}+`)
)

// A date is a day, of any year if year is 0.
type date struct{ year, month, day int }

func (d date) valid() bool {
	if d.month < 1 || d.month > 12 || d.day < 1 || d.day > 31 || d.year != 0 && (d.year < 1900 || d.year > 2200) {
		return false
	}
	return d.day <= 29 || time.Date(2024, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC).Day() == d.day
}

func (d date) of() string { return fmt.Sprintf("day %d-%d", d.month, d.day) }

func (d date) inYear() string { return fmt.Sprintf("day %d-%d-%d", d.year, d.month, d.day) }

func (d date) tells() []string {
	if d.year == 0 {
		return []string{d.of(), d.of() + " of any year"}
	}
	at := time.Date(d.year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC)
	return []string{d.of(), d.inYear(), fmt.Sprint("number ", d.year), fmt.Sprint("weekday ", int(at.Weekday()))}
}

func (d date) claims() [][]string {
	if d.year == 0 {
		return [][]string{{d.of()}}
	}
	return [][]string{{d.inYear()}, {d.of() + " of any year", fmt.Sprint("number ", d.year)}}
}

// named reads a date with the name of a month, or with the signs of Chinese and Japanese.
func named(f string) (d date) {
	for _, n := range number.FindAllString(f, -1) {
		switch v := atoi(n); {
		case len(ascii(n)) == 4:
			d.year = v
		case d.day != 0: // 3月7日
			d.month, d.day = d.day, v
		default:
			d.day = v
		}
	}
	for _, w := range word.FindAllString(strings.ToLower(f), -1) {
		if i, is := months[w]; is {
			d.month = i + 1
		}
	}
	return d
}

func dateTells(f string) []string { return named(f).tells() }

func dateClaims(f string) [][]string { return named(f).claims() }

func weekday(f string) []string {
	return []string{fmt.Sprint("weekday ", weekdays[strings.ToLower(f)])}
}

func weekdayClaim(f string) [][]string { return each(weekday(f)) }

// times are the minutes of the day that a time may mean: 2:30 may be in the morning or in the afternoon.
func times(f string) (values []string) {
	list := number.FindAllString(f, -1)
	hour, minute := atoi(list[0]), 0
	if len(list) > 1 {
		minute = atoi(list[1])
	}
	at := func(hour int) { values = append(values, fmt.Sprintf("time %d:%d", hour, minute)) }
	switch rest := strings.ToLower(strings.ReplaceAll(f, ".", "")); {
	case strings.HasSuffix(rest, "pm"):
		at(hour%12 + 12)
	case strings.HasSuffix(rest, "am"):
		at(hour % 12)
	case hour < 12 && !strings.HasSuffix(rest, "uhr") && !strings.Contains(rest, "h"):
		at(hour)
		at(hour + 12)
	default:
		at(hour)
	}
	return values
}

func timeClaims(f string) [][]string { return each(times(f)) }

// ascii returns the digits of a text as those of ASCII.
func ascii(f string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsDigit(r) {
			return -1
		}
		zero := r
		for unicode.IsDigit(zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + (r - zero)
	}, f)
}

func atoi(f string) int {
	n, _ := strconv.Atoi(ascii(f))
	return n
}
