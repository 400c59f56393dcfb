package notes

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/safefolder"
)

// DefaultPath is the path of a note if none is configured.
const DefaultPath = "Mail/{{year}}/{{date}} {{subject}}"

// The bounds of a path, in bytes and in names.
const (
	maxTemplate = 200
	maxSegments = 6
)

// A pathTemplate is the segments of a path.
type pathTemplate []string

var placeholder = regexp.MustCompile(`\{\{\s*([^{}]*?)\s*\}\}`)

// variables are what a path may name, with the value of each.
var variables = map[string]func(m *postroom.Message, at time.Time, mailbox string) string{
	"year":    func(_ *postroom.Message, at time.Time, _ string) string { return at.Format("2006") },
	"month":   func(_ *postroom.Message, at time.Time, _ string) string { return at.Format("01") },
	"day":     func(_ *postroom.Message, at time.Time, _ string) string { return at.Format("02") },
	"date":    func(_ *postroom.Message, at time.Time, _ string) string { return at.Format(time.DateOnly) },
	"subject": func(m *postroom.Message, _ time.Time, _ string) string { return m.Subject },
	"sender":  func(m *postroom.Message, _ time.Time, _ string) string { return strings.ToLower(m.From.Email) },
	"sender_name": func(m *postroom.Message, _ time.Time, _ string) string {
		if safefolder.CleanName(m.From.Name) == "" {
			return strings.ToLower(m.From.Email)
		}
		return m.From.Name
	},
	"domain":  func(m *postroom.Message, _ time.Time, _ string) string { return m.From.Domain() },
	"mailbox": func(_ *postroom.Message, _ time.Time, mailbox string) string { return mailbox },
}

// Variables returns the names that a path may have in double braces, sorted.
func Variables() []string {
	names := make([]string, 0, len(variables))
	for name := range variables {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// CheckPath returns an error if no path of a note can be made of the text. It is relative to the folder, with slashes
// between folders, without the ending .md, and has [Variables] in double braces.
func CheckPath(text string) error {
	_, err := parsePath(text)
	return err
}

func parsePath(text string) (pathTemplate, error) {
	if text == "" || len(text) > maxTemplate {
		return nil, fmt.Errorf("a path must have 1 to %d bytes; such as %q", maxTemplate, DefaultPath)
	}
	for _, found := range placeholder.FindAllStringSubmatch(text, -1) {
		if variables[found[1]] == nil {
			return nil, fmt.Errorf("%s is no variable; the variables are {{%s}}", found[0],
				strings.Join(Variables(), "}}, {{"))
		}
	}
	segments := strings.Split(text, "/")
	if len(segments) > maxSegments {
		return nil, fmt.Errorf("a path may have %d folders at most", maxSegments-1)
	}
	for _, s := range segments {
		if err := checkSegment(s); err != nil {
			return nil, fmt.Errorf("%q in the path %q: %w", s, text, err)
		}
	}
	return segments, nil
}

// checkSegment refuses literals that would be changed in the name that is made.
func checkSegment(s string) error {
	literal := placeholder.ReplaceAllString(s, "x")
	switch {
	case s == "":
		return errors.New("a name is empty; write one between two slashes, and none before the first or after the last")
	case strings.HasSuffix(strings.ToLower(s), ".md"):
		return errors.New("the ending .md is added; leave it out")
	case safefolder.CleanName(literal) != literal:
		return fmt.Errorf("it has what a name of a file must not have on some system, or in a link; %q would do",
			safefolder.CleanName(literal))
	}
	return nil
}

// fill returns the folder of a note, empty for the vault itself, and its name without the ending.
func (p pathTemplate) fill(m *postroom.Message, at time.Time, mailbox string) (dir, name string) {
	names := make([]string, len(p))
	for i, segment := range p {
		filled := placeholder.ReplaceAllStringFunc(segment, func(found string) string {
			value := variables[placeholder.FindStringSubmatch(found)[1]]
			return strings.ReplaceAll(safefolder.CleanName(value(m, at, mailbox)), "/", " ")
		})
		if names[i] = safefolder.CleanName(filled); names[i] == "" {
			names[i] = "Unnamed"
		}
	}
	return strings.Join(names[:len(names)-1], "/"), names[len(names)-1]
}
