package mime

import (
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"github.com/postroom-go/postroom/mime/internal/windowszone"
)

// zones are the names with an offset in RFC 5322, section 4.3, in hours. All others mean -0000: UTC, zone unknown.
var zones = map[string]int{
	"ut": 0, "utc": 0, "gmt": 0, "z": 0,
	"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
	// QUIRK: not in the RFC, but common. Sample: date-zone.
	"cet": 1, "cest": 2, "met": 1, "mest": 2, "bst": 1, "eet": 2, "eest": 3, "msk": 3, "jst": 9, "kst": 9,
}

// maxDate bounds a date's text, comments included, in bytes.
const maxDate = 400

const months = "janfebmaraprmayjunjulaugsepoctnovdec"

// ParseDate parses the value of a date field (RFC 5322, sections 3.3 and 4.3).
//
// QUIRK: the weekday, the zone and the seconds may be missing, the order may be that of asctime(3) or ISO 8601, and
// years may have two or three digits. The zone may be "GMT+0100" or a name that Windows has for one. A date without
// day, month, year or time is invalid. Samples: date-asctime, date-iso.
func ParseDate(value string) (date time.Time, ok bool) {
	if len(value) > maxDate {
		return time.Time{}, false
	}
	d := dateParser{year: -1, offset: time.UTC}
	tokens := dateTokens(value)
	for i, token := range tokens {
		if d.hasTime && d.windowsZone(strings.Join(tokens[i:], " ")) || !d.token(strings.ToLower(token)) {
			break // people write anything after the zone
		}
	}
	return d.date()
}

// dateTokens removes comments and splits at blanks, commas and quotes, but not around colons.
func dateTokens(value string) []string {
	var out strings.Builder
	for value != "" {
		open := strings.IndexByte(value, '(')
		if open < 0 {
			out.WriteString(value)
			break
		}
		out.WriteString(value[:open] + " ")
		_, rest, closed := fieldvalue.CutComment(value[open:])
		if !closed {
			break
		}
		value = rest
	}
	text := strings.Join(strings.Fields(noSeparators.Replace(out.String())), " ")
	return strings.Fields(strings.NewReplacer(" : ", ":", ": ", ":", " :", ":").Replace(text))
}

var noSeparators = strings.NewReplacer(",", " ", `"`, " ")

// A dateParser collects the fields of a date in any order.
type dateParser struct {
	year, month, day     int // year -1, others 0: not seen yet
	hour, minute, second int
	hasTime              bool
	offset               *time.Location
	daylight             bool // offset is a place, and the date says that it had daylight saving time, or not
	isPlace              bool
}

// token reads one token; false if it ends the date.
func (d *dateParser) token(s string) bool {
	digit := '0' <= s[0] && s[0] <= '9'
	switch {
	case strings.Contains(s, ":") && !d.hasTime:
		return d.time(s)
	case d.hasTime && !digit && strings.ContainsAny(s[1:], "+-"):
		return d.zone(s)
	case digit && !d.hasTime && d.day > 0 && (strings.Count(s, ".") == 2 || strings.Count(s, ".") == 1 && d.year >= 0):
		return d.time(strings.ReplaceAll(s, ".", ":"))
	case strings.Contains(s[1:], "-"): // 21-Nov-1997, 1997-11-21
		for part := range strings.SplitSeq(s, "-") {
			if part == "" || !d.token(part) {
				return false
			}
		}
		return true
	case digit && (!d.hasTime || d.year < 0):
		d.number(s)
		return true
	case d.month == 0 && d.monthName(s):
		return true
	case d.hasTime:
		return d.zone(s) || d.year < 0 // date(1) puts the year behind the zone
	default:
		return true // a weekday, or noise
	}
}

func (d *dateParser) monthName(s string) bool {
	if len(s) < 3 {
		return false
	}
	i := strings.Index(months, s[:3])
	if i%3 != 0 { // also -1
		return false
	}
	d.month = i/3 + 1
	return true
}

// number takes in the day, the year, or the month of ISO 8601, where the year came first.
func (d *dateParser) number(s string) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil:
	case len(s) > 3 && d.year < 0:
		d.year = n
	case len(s) == 3 && s[0] == '0' && d.day == 0: // QUIRK: a day of three digits. Sample: date-day.
		d.day = n
	case d.year >= 0 && d.month == 0 && d.day == 0:
		d.month = n
	case d.day == 0:
		d.day = n
	case d.year < 0 && n < 50:
		d.year = 2000 + n
	case d.year < 0:
		d.year = 1900 + n
	}
}

// time reads hours, minutes and perhaps seconds, with whatever is glued to them.
func (d *dateParser) time(s string) bool {
	if date, clock, found := strings.Cut(s, "t"); found && strings.Contains(date, "-") { // ISO 8601
		return d.token(date) && d.time(clock)
	}
	clock := s
	if i := strings.IndexFunc(s, func(r rune) bool { return r != ':' && (r < '0' || r > '9') }); i >= 0 {
		clock = s[:i]
	}
	parts := strings.Split(clock, ":")
	numbers := [3]int{}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || i > 2 {
			return false
		}
		numbers[i] = n
	}
	d.hour, d.minute, d.second, d.hasTime = numbers[0], numbers[1], numbers[2], true
	if zone := strings.TrimLeft(s[len(clock):], ".0123456789"); zone != "" {
		d.zone(zone)
	}
	return true
}

// zone reads the text after the time. It returns true if a more exact zone may follow, as in "GMT +0200".
func (d *dateParser) zone(s string) bool {
	switch {
	case s == "am":
		d.hour %= 12
		return true
	case s == "pm":
		d.hour = d.hour%12 + 12
		return true
	case s[0] != '+' && s[0] != '-':
		if i := strings.IndexAny(s, "+-"); i > 0 && zones[s[:i]] == 0 { // GMT+0100, as JavaScript writes it
			return d.zone(s[i:])
		}
		hours, named := zones[s]
		if hours != 0 {
			d.offset = time.FixedZone("", hours*3600)
		}
		return named
	}
	digits := strings.ReplaceAll(s[1:], ":", "")
	n, _ := strconv.Atoi(digits) // an invalid number is 0 or out of range
	if len(digits) <= 2 {
		n *= 100
	}
	if n >= 2400 || n%100 > 59 {
		return false
	}
	seconds := (n/100*60 + n%100) * 60
	if s[0] == '-' {
		seconds = -seconds
	}
	if seconds != 0 {
		d.offset = time.FixedZone("", seconds)
	}
	return false
}

// windowsZone reads the name that Windows has for a zone.
//
// QUIRK: "Pacific Daylight Time" for a zone, by programs on Windows. Sample: dates.
func (d *dateParser) windowsZone(s string) bool {
	name := strings.ToLower(s)
	standard := strings.NewReplacer(" daylight time", " standard time", " summer time", " standard time").Replace(name)
	iana, known := windowszone.Lookup(standard)
	if !known {
		return false
	}
	place, err := time.LoadLocation(iana)
	if err != nil {
		return false
	}
	d.offset, d.isPlace, d.daylight = place, true, standard != name
	return true
}

// placeOffset returns the offset that a place has in the year, with or without daylight saving time; the one that it
// had on the date if it has only one.
func (d *dateParser) placeOffset() *time.Location {
	offset := d.offset
	for _, month := range []time.Month{time.July, time.January, time.Month(d.month)} {
		at := time.Date(d.year, month, d.day, d.hour, d.minute, 0, 0, d.offset)
		if name, seconds := at.Zone(); at.IsDST() == d.daylight || offset == d.offset {
			offset = time.FixedZone(name, seconds)
		}
	}
	return offset
}

func (d *dateParser) date() (date time.Time, ok bool) {
	daysIn := time.Date(d.year, time.Month(d.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if !d.hasTime || d.year < 1900 || d.year > 9999 || d.month < 1 || d.month > 12 || d.day < 1 || d.day > daysIn ||
		d.hour > 23 || d.minute > 59 || d.second > 60 {
		return time.Time{}, false
	}
	if d.isPlace {
		d.offset = d.placeOffset()
	}
	return time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, d.offset), true
}
