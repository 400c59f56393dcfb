package notes

import (
	"regexp"

	"github.com/postroom-go/postroom/gmail/internal/safefolder"
)

// fileName is the name of an attached file.
func fileName(name string) string {
	name = safefolder.CleanName(name)
	if name == "" {
		return "file"
	}
	return withEnding(name)
}

// run are the endings of files that Obsidian and its plugins read as notes, or run.
var run = regexp.MustCompile(`(?i)\.(md|markdown|mdx|canvas|base|js|mjs|cjs|css|json|html?|xhtml|svg)$`)

func withEnding(name string) string {
	if run.MatchString(name) {
		return name + ".txt"
	}
	return name
}
