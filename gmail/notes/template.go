package notes

import "github.com/postroom-go/postroom/gmail/internal/safefolder"

// DefaultPath is the path of a note if none is configured.
const DefaultPath = "Mail/{{year}}/{{date}} {{subject}}"

// Variables returns the names that a path may have in double braces, sorted.
func Variables() []string { return safefolder.Variables() }

// CheckPath returns an error if no path of a note can be made of the text. It is relative to the folder, with slashes
// between folders, without the ending .md, and has [Variables] in double braces.
func CheckPath(text string) error {
	_, err := parsePath(text)
	return err
}

func parsePath(text string) (safefolder.Template, error) {
	return safefolder.ParseTemplate(text, DefaultPath, ".md")
}
