package config

import (
	"strings"
	"time"
)

// discordID refuses values that are not ids at Discord, such as names.
func discordID(s, what string) string {
	if len(s) <= 20 && strings.Trim(s, "0123456789") == "" {
		return ""
	}
	return "the id of a " + what + ", which is a number"
}

func discordPeople(list []string) string {
	seen := map[string]bool{}
	for _, entry := range list {
		id, name, named := strings.Cut(entry, "=")
		if id == "" || discordID(id, "") != "" || seen[id] || named && strings.TrimSpace(name) != name ||
			named && name == "" {
			return `ids of accounts, which are numbers, each once, with a name for the record if you like, as "53908232506183680=ada"`
		}
		seen[id] = true
	}
	return ""
}

func remindInterval(d time.Duration) string {
	if d == 0 || d >= 10*time.Minute && d%time.Second == 0 {
		return ""
	}
	return "a duration of whole seconds from 10m, or 0s for never"
}

func socketAddress(s string) string {
	if rest, ok := strings.CutPrefix(s, "ws"); ok {
		s = "http" + rest
	} else if s != "" {
		return "an address that begins with ws:// or wss://"
	}
	return webAddress(s)
}

func withoutSpaces(s string) string {
	if strings.ContainsAny(s, " \t\r\n") {
		return "the token alone, without the word Bot"
	}
	return ""
}
