package queueui

import (
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"time"
)

// zoneName is the name of the cookie with the time zone of the reader, which the page's script sets, and of the
// parameter of a page's address: the viewers of an address share the page.
const zoneName = "zone"

// inZone returns the address of the request with the zone of its reader.
func inZone(r *http.Request) *url.URL {
	cookie, err := r.Cookie(zoneName)
	if err != nil || r.URL.Query().Has(zoneName) {
		return r.URL
	}
	if zone, err := time.LoadLocation(cookie.Value); err != nil || zone == time.Local || zone == time.UTC {
		return r.URL
	}
	at := *r.URL
	query := at.Query()
	query.Set(zoneName, cookie.Value)
	at.RawQuery = query.Encode()
	return &at
}

// zoneOf returns the zone of an address; UTC if it has none.
func zoneOf(u *url.URL) *time.Location {
	zone, err := time.LoadLocation(u.Query().Get(zoneName))
	if err != nil || zone == time.Local {
		return time.UTC
	}
	return zone
}

// localized has the templates for each zone; there are some hundreds at most.
var localized sync.Map

// templatesIn returns the templates that show times in a zone.
func templatesIn(zone *time.Location) (*template.Template, error) {
	if made, ok := localized.Load(zone.String()); ok {
		return made.(*template.Template), nil //nolint:forcetypeassert // nothing else is stored
	}
	made, err := templates.Clone()
	if err != nil {
		return nil, err
	}
	made.Funcs(template.FuncMap{
		"clock":   func(at time.Time) string { return at.In(zone).Format("15:04:05.000") },
		"instant": func(at time.Time) string { return instant(at, zone) },
	})
	localized.Store(zone.String(), made)
	return made, nil
}

var instants = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// inText shows the times within a text in a zone.
func inText(text string, zone *time.Location) string {
	return instants.ReplaceAllStringFunc(text, func(found string) string {
		at, err := time.Parse(time.RFC3339, found)
		if err != nil {
			return found
		}
		return at.In(zone).Format("2006-01-02 15:04 MST")
	})
}

// instant is a time in full.
func instant(at time.Time, zone *time.Location) string {
	if at.IsZero() {
		return "–"
	}
	return at.In(zone).Format("2006-01-02 15:04:05.000 MST")
}
