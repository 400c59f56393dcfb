package config

import (
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// Archive is the section [archive]: a copy of all mail in a folder.
type Archive struct {
	URL     string // of the folder; empty: there is no archive
	KeyFile Path   // empty: it is not encrypted
	Every   time.Duration
	Verify  time.Duration // how often a part is verified
	Keep    string        // how long mail is kept, in years or months, such as 10y; empty: for ever
}

var keepTime = regexp.MustCompile(`^([1-9]\d{0,2})([ym])$`)

// KeepMonths is Keep in months; 0: for ever.
func (a *Archive) KeepMonths() int {
	m := keepTime.FindStringSubmatch(a.Keep)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	if m[2] == "y" {
		n *= 12
	}
	return n
}

func keepFor(a *Archive) string {
	if n := a.KeepMonths(); a.Keep == "" || n > 0 && n <= 1200 {
		return ""
	}
	return `a number of years or months, such as "10y" or "18m", at most "100y", or "" for ever`
}

var archiveSettings = []setting{
	{"archive.url", "", `"file:///srv/mail"`, func(c *Config) any { return &c.Archive.URL },
		func(c *Config) string { return folderURL(c.Archive.URL) }},
	{"archive.key_file", "", `"~/archive.key"`, func(c *Config) any { return &c.Archive.KeyFile }, nil},
	{"archive.every", "", `"24h"`, func(c *Config) any { return &c.Archive.Every },
		func(c *Config) string { return interval(c.Archive.Every) }},
	{"archive.verify", "", `"168h"`, func(c *Config) any { return &c.Archive.Verify },
		func(c *Config) string { return interval(c.Archive.Verify) }},
	{"archive.keep", "", `"10y"`, func(c *Config) any { return &c.Archive.Keep },
		func(c *Config) string { return keepFor(&c.Archive) }},
}

func folderURL(s string) string {
	u, err := url.Parse(s)
	if s == "" || err == nil && u.Scheme == "file" && u.Host == "" && u.RawQuery == "" && filepath.IsAbs(u.Path) {
		return ""
	}
	return "file:/// and the absolute path of a folder, such as file:///srv/mail"
}
