package calendar

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Moment is a time of a calendar: an instant, a time of day in any zone, or a day.
type Moment struct {
	// Time is the instant in the zone of the calendar. For a floating moment it is the time, and for an all-day moment
	// the day, in UTC, which is not when it takes place: use In.
	Time time.Time
	// Zone is the zone's name as the calendar spells it; empty for UTC, for days and for floating times without a name.
	Zone string
	// AllDay marks a day (RFC 5545, section 3.3.4).
	AllDay bool
	// Floating marks a time without a zone (RFC 5545, section 3.3.5, form 1), or in an unknown one.
	Floating bool
}

// IsZero reports whether the calendar gives no time.
func (m Moment) IsZero() bool { return m.Time.IsZero() }

// In returns the instant in the location. A day begins at midnight there, and a floating time is a time there.
func (m Moment) In(location *time.Location) time.Time {
	if !m.AllDay && !m.Floating || m.IsZero() {
		return m.Time.In(location)
	}
	t := m.Time
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, location)
}

// add adds days by the calendar and the rest by the clock (RFC 5545, section 3.3.6).
func (m Moment) add(d duration) Moment {
	if t := m.Time.AddDate(0, 0, d.days).Add(d.clock); t.Year() <= maxYear {
		m.Time = t
	}
	return m
}

// maxYear is the last year that iCalendar and JSON can represent.
const maxYear = 9999

// moments reads a list of times.
func (z *zones) moments(p property) []Moment {
	var found []Moment
	for value := range strings.SplitSeq(p.value, ",") {
		value, _, _ = strings.Cut(value, "/") // a period begins with its start
		if m := z.moment(p, value); !m.IsZero() {
			found = append(found, m)
		}
	}
	return found
}

// dateTime matches a date, or a date with a time, including 24 o'clock and leap seconds.
var dateTime = regexp.MustCompile(`^(\d{8})(?:T(\d{2})(\d{2})(\d{2})?)?(Z)?$`)

// moment reads a date or time (RFC 5545, sections 3.3.4 and 3.3.5); the zero Moment if it is invalid.
//
// QUIRK: a date without VALUE=DATE, a date with a Z after it, and a time without seconds occur. Sample: odd-dates.
func (z *zones) moment(p property, value string) Moment {
	found := dateTime.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(value)))
	if found == nil {
		return Moment{}
	}
	day, err := time.Parse("20060102", found[1])
	if err != nil || day.Year() < 1 {
		return Moment{}
	}
	if found[2] == "" {
		return Moment{Time: day, AllDay: true}
	}
	hour, _ := strconv.Atoi(found[2])
	minute, _ := strconv.Atoi(found[3])
	second, _ := strconv.Atoi(found[4])
	if hour > 24 || minute > 59 || second > 60 {
		return Moment{}
	}
	wall := day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
	if wall.Year() > maxYear {
		return Moment{}
	}
	if found[5] == "Z" {
		return Moment{Time: wall}
	}
	name := strings.TrimSpace(line(p.parameter("TZID")))
	if t, known := z.resolve(name, wall); known {
		return Moment{Time: t, Zone: name}
	}
	return Moment{Time: wall, Zone: name, Floating: true}
}

// A duration counts days by the calendar and the rest by the clock.
type duration struct {
	days  int
	clock time.Duration
}

var durationText = regexp.MustCompile(
	`^([+-]?)P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$`)

// parseDuration reads RFC 5545, section 3.3.6. A negative duration is invalid.
func parseDuration(s string) (duration, bool) {
	found := durationText.FindStringSubmatch(strings.ToUpper(s))
	if found == nil || found[1] == "-" || len(s) < len("P1D") {
		return duration{}, false
	}
	var n [7]int
	for i := 2; i < len(found); i++ {
		n[i], _ = strconv.Atoi(found[i])
	}
	return duration{
		days:  7*n[2] + n[3],
		clock: time.Duration(n[4])*time.Hour + time.Duration(n[5])*time.Minute + time.Duration(n[6])*time.Second,
	}, true
}
