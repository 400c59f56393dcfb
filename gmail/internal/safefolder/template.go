package safefolder

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// The bounds of a path, in bytes and in names.
const (
	maxTemplate = 200
	maxSegments = 6
)

// A Template is the path of a file about a message, with variables in double braces: its folders, and its name without
// the ending.
type Template struct{ segments []string }

// A Filling is what a template is filled with.
type Filling struct {
	Message *postroom.Message
	At      time.Time         // when the message came, in the zone of dates
	Mailbox string            // the address of the account
	Besides map[string]string // the values of further variables
}

var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// variables are what every path may name, with the value of each.
var variables = map[string]func(m *postroom.Message, at time.Time, mailbox string) string{
	"year":    func(_ *postroom.Message, at time.Time, _ string) string { return at.Format("2006") },
	"month":   func(_ *postroom.Message, at time.Time, _ string) string { return at.Format("01") },
	"day":     func(_ *postroom.Message, at time.Time, _ string) string { return at.Format("02") },
	"date":    func(_ *postroom.Message, at time.Time, _ string) string { return at.Format(time.DateOnly) },
	"subject": func(m *postroom.Message, _ time.Time, _ string) string { return m.Subject },
	"sender":  func(m *postroom.Message, _ time.Time, _ string) string { return strings.ToLower(m.From.Email) },
	"sender_name": func(m *postroom.Message, _ time.Time, _ string) string {
		if CleanName(m.From.Name) == "" {
			return strings.ToLower(m.From.Email)
		}
		return m.From.Name
	},
	"domain":  func(m *postroom.Message, _ time.Time, _ string) string { return m.From.Domain() },
	"mailbox": func(_ *postroom.Message, _ time.Time, mailbox string) string { return mailbox },
}

// Variables returns the names that a path may have in double braces, sorted: those of all paths, and those besides.
func Variables(besides ...string) []string {
	names := slices.Clone(besides)
	for name := range variables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ParseTemplate returns an error if no path can be made of the text. It is relative to the folder, with slashes between
// folders, without an ending, and has variables in double braces. The example is that of errors, the ending the one
// that is added to all; empty: each file has its own.
func ParseTemplate(text, example, ending string, besides ...string) (t Template, err error) {
	if text == "" || len(text) > maxTemplate {
		return t, fmt.Errorf("a path must have 1 to %d bytes; such as %q", maxTemplate, example)
	}
	known := Variables(besides...)
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known, found[1]) {
			return t, fmt.Errorf("%s is no variable; the variables are {{%s}}", found[0], strings.Join(known, "}}, {{"))
		}
	}
	t.segments = strings.Split(text, "/")
	if len(t.segments) > maxSegments {
		return t, fmt.Errorf("a path may have %d folders at most", maxSegments-1)
	}
	for _, s := range t.segments {
		if err := checkSegment(s, ending); err != nil {
			return t, fmt.Errorf("%q in the path %q: %w", s, text, err)
		}
	}
	return t, nil
}

// checkSegment refuses literals that would be changed in the name that is made.
func checkSegment(s, ending string) error {
	literal := placeholder.ReplaceAllString(s, "x")
	switch {
	case s == "":
		return errors.New("a name is empty; write one between two slashes, and none before the first or after the last")
	case ending != "" && strings.HasSuffix(strings.ToLower(s), ending):
		return fmt.Errorf("the ending %s is added; leave it out", ending)
	case CleanName(literal) != literal:
		return fmt.Errorf("it has what a name of a file must not have on some system, or in a link; %q would do",
			CleanName(literal))
	}
	return nil
}

// Fill returns the folder of a file, empty for the folder of all itself, and its name without the ending.
func (t Template) Fill(with Filling) (dir, name string) {
	names := make([]string, len(t.segments))
	for i, segment := range t.segments {
		filled := placeholder.ReplaceAllStringFunc(segment, func(found string) string {
			return CleanName(with.value(placeholder.FindStringSubmatch(found)[1]))
		})
		if names[i] = CleanName(filled); names[i] == "" {
			names[i] = "Unnamed"
		}
	}
	return strings.Join(names[:len(names)-1], "/"), names[len(names)-1]
}

func (f Filling) value(name string) string {
	if value, ok := f.Besides[name]; ok {
		return value
	}
	return variables[name](f.Message, f.At, f.Mailbox)
}

// Digits are the first n digits of the hash of a message, as every database that has the message computes it.
func Digits(mailbox string, m *postroom.Message, n int) string {
	return HashOf([]byte(strings.ToLower(mailbox) + "\n" + m.ProviderID))[:n]
}
