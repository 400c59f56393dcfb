package enrich

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
)

// maxScanned bounds how much of a text is looked at, in bytes; a model sees about as much.
const maxScanned = 16 << 10

// textOf returns the subject and what a person sees of the body.
func textOf(ctx context.Context, msg *postroom.Message) string {
	text := msg.Subject + "\n" + bodytext.From(ctx).Body(msg).Text
	return text[:min(len(text), maxScanned)]
}

const (
	months = `jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|mär(?:z)?|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|okt(?:ober)?|nov(?:ember)?|dec(?:ember)?|dez(?:ember)?`
	// clock is a time of a day: hours, minutes, am or pm.
	clock = `(\d{1,2})(?:[:.h](\d{2}))?\s?(am|pm|a\.m\.|p\.m\.|uhr)?`
	// between is what stands between a day and a time.
	between = `(?:,|\s|\bat\b|\bum\b|\bab\b|\bfrom\b|\bvon\b|@|-)+`
)

var (
	// aTime is what may be a part of an appointment: a time, a day, or a word for one, in the languages of most mail.
	aTime = regexp.MustCompile(`(?i)\b(?:\d{4}-\d{2}-\d{2}t)?\d{1,2}[:.h]\d{2}\b|\b\d{1,2}\s?(?:am|pm|a\.m\.|p\.m\.|uhr)\b|\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]?(?:\d{2,4})?\b` +
		`|\b\d{1,2}(?:st|nd|rd|th|\.)?\s(?:` + months + `)\b|\b(?:` + months + `)\s\d{1,2}\b` +
		`|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:today|tonight|tomorrow|noon|next week|this week|weekend)\b` +
		`|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|heute|morgen|übermorgen|nächste woche|wochenende)\w*\b` +
		`|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|aujourd'hui|lunes|martes|jueves|viernes|domingo|mañana|hoy|luned|marted|gioved|venerd|domani|oggi)` +
		`|[月火水木金土日]曜|明日|今日|\d月\d|周[一二三四五六日]|明天|今天`)

	// A day of which the form leaves no doubt, and a time after it. A day with slashes is one of two.
	isoDay     = regexp.MustCompile(`(?i)\b(\d{4})-(\d{2})-(\d{2})(?:t|` + between + `)` + clock)
	dottedDay  = regexp.MustCompile(`(?i)\b(\d{1,2})\.\s?(\d{1,2})\.(\d{4})` + between + clock)
	namedDay   = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th|\.)?\s(` + months + `)\.?(?:,?\s(\d{4}))?` + between + clock)
	namedMonth = regexp.MustCompile(`(?i)\b(` + months + `)\.?\s(\d{1,2})(?:st|nd|rd|th)?(?:,?\s(\d{4}))?` + between + clock)
)

// mentionsTime reports whether a text may name an appointment: without a day and a time it does not.
func mentionsTime(text string) bool { return aTime.MatchString(text) }

// byText finds the one event of a text that says its day and time in a form that leaves no doubt, for who has no model.
// What it is called is the subject. Two different times are two guesses, and no event.
func byText(ctx context.Context, msg *postroom.Message) []Event {
	text, sent := textOf(ctx, msg), msg.Date
	if sent.IsZero() {
		sent = msg.ReceivedAt
	}
	found := map[string]bool{}
	for _, form := range []struct {
		pattern          *regexp.Regexp
		year, month, day int // the groups
	}{{isoDay, 1, 2, 3}, {dottedDay, 3, 2, 1}, {namedDay, 3, 2, 1}, {namedMonth, 3, 1, 2}} {
		for _, m := range form.pattern.FindAllStringSubmatch(text, maxEvents) {
			if at, ok := momentOf(m[form.year], m[form.month], m[form.day], m[4], m[5], m[6], sent); ok {
				found[at] = true
			}
		}
	}
	if len(found) != 1 {
		return nil
	}
	for at := range found {
		return []Event{{Title: bounded(msg.Subject, maxText), Start: at}}
	}
	return nil
}

// minute is the form of the times of events.
const minute = "2006-01-02T15:04"

// momentOf returns the time that the parts say, if it is one, and after the mail was sent. Without a year it is the
// next such day. A bare number without minutes or a word for a time is no time.
func momentOf(year, month, day, hour, minutes, half string, sent time.Time) (string, bool) {
	d, h := number(day), number(hour)
	mo, ok := monthOf(month)
	half = strings.ToLower(strings.ReplaceAll(half, ".", ""))
	if minutes == "" && half == "" || !ok || h > 23 || number(minutes) > 59 {
		return "", false
	}
	if half == "am" || half == "pm" {
		if h < 1 || h > 12 {
			return "", false
		}
		if h %= 12; half == "pm" {
			h += 12
		}
	}
	y := number(year)
	if year == "" {
		if y = sent.Year(); time.Date(y, mo, d, 23, 59, 0, 0, sent.Location()).Before(sent) {
			y++
		}
	}
	at := time.Date(y, mo, d, h, number(minutes), 0, 0, time.UTC)
	if at.Month() != mo || at.Day() != d || at.Before(sent.Add(-24*time.Hour)) || y > sent.Year()+maxYears {
		return "", false
	}
	return at.Format(minute), true
}

// maxYears is how far ahead an appointment is made.
const maxYears = 3

// number reads digits, of which there are four at most; 0 for none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// monthOf reads the number or the name of a month.
func monthOf(s string) (time.Month, bool) {
	if n := number(s); n >= 1 && n <= 12 {
		return time.Month(n), true
	}
	runes := []rune(strings.ToLower(s))
	if len(runes) < 3 {
		return 0, false
	}
	switch string(runes[:3]) {
	case "jan":
		return time.January, true
	case "feb":
		return time.February, true
	case "mar", "mär":
		return time.March, true
	case "apr":
		return time.April, true
	case "may", "mai":
		return time.May, true
	case "jun":
		return time.June, true
	case "jul":
		return time.July, true
	case "aug":
		return time.August, true
	case "sep":
		return time.September, true
	case "oct", "okt":
		return time.October, true
	case "nov":
		return time.November, true
	case "dec", "dez":
		return time.December, true
	}
	return 0, false
}
