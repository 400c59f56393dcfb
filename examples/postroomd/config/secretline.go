package config

import (
	"regexp"
	"strings"
	"sync"
)

// withoutSecret returns a line of a file for an error: a secret is replaced by as many dots as it has characters, and
// so is the part of an address before its host. A reference to the environment is not a secret, and stays.
func withoutSecret(line string) string {
	name := secretNames().FindStringIndex(line)
	if name == nil {
		return line
	}
	value := line[name[1]:]
	start, end := 0, len(value)
	_, inline, _ := strings.Cut(value, "://")
	switch {
	case strings.HasPrefix(strings.TrimLeft(value, `"'`), "env:"):
		return line
	case inline != "" && !strings.Contains(inline, "password"):
		start, end = strings.Index(value, "://")+len("://"), strings.LastIndex(value, "@")
	}
	if end < start {
		return line
	}
	return line[:name[1]] + value[:start] + visible.ReplaceAllLiteralString(value[start:end], "•") + value[end:]
}

var visible = regexp.MustCompile(`\S`)

// secretNames matches the name of a setting that is a secret, or may contain one, and the text before its value, even
// if the line is not TOML.
var secretNames = sync.OnceValue(func() *regexp.Regexp {
	var names []string
	for _, s := range settings {
		switch s.field(&Config{}).(type) {
		case *Secret, *Database:
			_, name, _ := strings.Cut(s.key, ".")
			names = append(names, name)
		}
	}
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(names, "|") + `)["']?(?:\s*[=:]\s*|\s+)`)
})
