package calendar

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/mime/internal/windowszone"
)

// zones resolves the names of time zones in one calendar.
type zones struct {
	described map[string]*described     // the zones that the calendar describes, by TZID
	locations map[string]*time.Location // by TZID; nil for a zone that the database does not have
}

// maxZones bounds the zones of one calendar, both described and named.
const maxZones = 100

func newZones(root *component) *zones {
	z := &zones{described: map[string]*described{}, locations: map[string]*time.Location{}}
	for _, c := range root.children {
		if id := line(c.text("TZID")); c.name == "VTIMEZONE" && id != "" && len(z.described) < maxZones {
			z.described[id] = describe(c)
		}
	}
	return z
}

// resolve finds the instant of a time in a zone. The database takes precedence over the calendar's description:
// programs describe zones wrongly, or only for the current year.
func (z *zones) resolve(id string, wall time.Time) (time.Time, bool) {
	if id == "" {
		return time.Time{}, false
	}
	location, seen := z.locations[id]
	if !seen {
		if len(z.locations) == maxZones {
			return time.Time{}, false // each look-up of an unknown name reads files
		}
		location = lookUp(id)
		if d := z.described[id]; location == nil && d != nil && d.location != "" {
			location = lookUp(d.location)
		}
		z.locations[id] = location
	}
	if location != nil {
		return Moment{Time: wall, Floating: true}.In(location), true
	}
	if d := z.described[id]; d != nil {
		if offset, known := d.offset(wall); known {
			return wall.Add(-offset).In(time.FixedZone(id, int(offset/time.Second))), true
		}
	}
	return time.Time{}, false
}

// zoneName matches names that the database can have: none that leaves its directory, and not "Local".
var zoneName = regexp.MustCompile(
	`^(?:[A-Za-z_]+(?:/[A-Za-z0-9_+-]+){1,2}|UTC|GMT|EST|MST|HST|EST5EDT|CST6CDT|MST7MDT|PST8PDT|CET|EET|WET|MET)$`)

// lookUp finds a zone by name; nil if there is none.
//
// QUIRK: Outlook and Exchange write the Windows names of zones; old programs put a registry before the IANA name
// ("/mozilla.org/20050126_1/Europe/Berlin"). Samples: outlook-invitation, zone-registry.
func lookUp(id string) *time.Location {
	id = strings.Trim(id, `" `)
	if name, known := windowszone.Lookup(id); known {
		id = name
	}
	parts := strings.Split(id, "/")
	for _, n := range []int{3, 2, len(parts)} {
		name := strings.Join(parts[max(0, len(parts)-n):], "/")
		if len(name) > 64 || !zoneName.MatchString(name) {
			continue
		}
		if location, err := time.LoadLocation(name); err == nil {
			return location
		}
	}
	return nil
}

// described is a zone as a calendar describes it (VTIMEZONE, RFC 5545, section 3.6.5).
type described struct {
	location    string // X-LIC-LOCATION: the IANA name
	observances []observance
}

// An observance is standard or daylight time: its onsets and its offset from UTC.
type observance struct {
	start    time.Time // the first onset
	from, to time.Duration
	yearly   bool
	month    time.Month
	weekday  time.Weekday
	week     int // of the month; negative from its end; 0 if the rule gives a fixed day
	until    time.Time
}

const maxObservances = 100

func describe(c *component) *described {
	d := &described{location: line(c.text("X-LIC-LOCATION"))}
	for _, child := range c.children {
		if child.name != "STANDARD" && child.name != "DAYLIGHT" || len(d.observances) == maxObservances {
			continue
		}
		from, ok1 := parseOffset(child.text("TZOFFSETFROM"))
		to, ok2 := parseOffset(child.text("TZOFFSETTO"))
		start := (&zones{}).moment(property{}, child.text("DTSTART"))
		if !ok1 || !ok2 || start.IsZero() {
			continue
		}
		o := observance{start: start.Time, from: from, to: to}
		o.readRule(child.text("RRULE"))
		d.observances = append(d.observances, o)
	}
	return d
}

// readRule reads the usual rules of zones: once a year, on a day of a month or on its nth weekday. Any other rule
// counts as a single onset.
func (o *observance) readRule(rule string) {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.ToUpper(rule), ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	if parts["FREQ"] != "YEARLY" || parts["INTERVAL"] != "" && parts["INTERVAL"] != "1" {
		return
	}
	o.yearly, o.month = true, o.start.Month()
	if month, err := strconv.Atoi(parts["BYMONTH"]); err == nil && month >= 1 && month <= 12 {
		o.month = time.Month(month)
	}
	if day := parts["BYDAY"]; len(day) > 2 {
		o.weekday = time.Weekday(strings.Index("SUMOTUWETHFRSA", day[len(day)-2:]) / 2)
		o.week, _ = strconv.Atoi(strings.TrimPrefix(day[:len(day)-2], "+"))
		o.week = max(-5, min(5, o.week))
	}
	o.until = (&zones{}).moment(property{}, parts["UNTIL"]).Time
}

// onset returns when the observance begins in the year, in local time.
func (o *observance) onset(year int) time.Time {
	s := o.start
	day := time.Date(year, o.month, s.Day(), s.Hour(), s.Minute(), s.Second(), 0, time.UTC)
	switch {
	case o.week > 0:
		day = time.Date(year, o.month, 1, s.Hour(), s.Minute(), s.Second(), 0, time.UTC)
		ahead := (int(o.weekday) - int(day.Weekday()) + 7) % 7
		day = day.AddDate(0, 0, ahead+7*(o.week-1))
	case o.week < 0:
		day = time.Date(year, o.month+1, 0, s.Hour(), s.Minute(), s.Second(), 0, time.UTC)
		back := (int(day.Weekday()) - int(o.weekday) + 7) % 7
		day = day.AddDate(0, 0, -back+7*(o.week+1))
	}
	return day
}

// latest returns the last onset that is not after the time; zero if there is none.
func (o *observance) latest(wall time.Time) time.Time {
	if wall.Before(o.start) {
		return time.Time{}
	}
	last := o.start
	if !o.yearly {
		return last
	}
	for year := wall.Year() - 1; year <= wall.Year(); year++ {
		onset := o.onset(year)
		if !onset.After(wall) && onset.After(last) && (o.until.IsZero() || !onset.After(o.until.Add(24*time.Hour))) {
			last = onset
		}
	}
	if !o.until.IsZero() && o.until.Before(wall) {
		if onset := o.onset(o.until.Year()); onset.After(last) && !onset.After(o.until.Add(24*time.Hour)) {
			last = onset
		}
	}
	return last
}

// offset returns the offset of the observance that began last.
func (d *described) offset(wall time.Time) (time.Duration, bool) {
	var latest, earliest time.Time
	var offset, before time.Duration
	for i := range d.observances {
		o := &d.observances[i]
		if onset := o.latest(wall); !onset.IsZero() && onset.After(latest) {
			latest, offset = onset, o.to
		}
		if earliest.IsZero() || o.start.Before(earliest) {
			earliest, before = o.start, o.from
		}
	}
	if latest.IsZero() {
		return before, len(d.observances) > 0
	}
	return offset, true
}

var offsetText = regexp.MustCompile(`^([+-])(\d{2}):?(\d{2})(?::?(\d{2}))?$`)

// parseOffset reads RFC 5545, section 3.3.14.
func parseOffset(s string) (time.Duration, bool) {
	found := offsetText.FindStringSubmatch(s)
	if found == nil {
		return 0, false
	}
	var n [5]int
	for i := 2; i < len(found); i++ {
		n[i], _ = strconv.Atoi(found[i])
	}
	if n[2] > 23 || n[3] > 59 || n[4] > 59 {
		return 0, false
	}
	offset := time.Duration(n[2])*time.Hour + time.Duration(n[3])*time.Minute + time.Duration(n[4])*time.Second
	if found[1] == "-" {
		offset = -offset
	}
	return offset, true
}
