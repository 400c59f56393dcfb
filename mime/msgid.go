package mime

import "strings"

// ParseMessageIDs reads the ids of a References, In-Reply-To or Message-ID field (RFC 5322, section 3.6.4), without
// their angle brackets and the blanks inside.
//
// QUIRK: where there are no brackets at all, each word is an id. Text around bracketed ids, which old mail has in
// In-Reply-To, is left out. Sample: ids-odd.
func ParseMessageIDs(value string) []string {
	var ids []string
	if !strings.Contains(value, "<") {
		return append(ids, strings.Fields(strings.ReplaceAll(value, ">", " "))...)
	}
	for {
		_, rest, found := strings.Cut(value, "<")
		if !found {
			return ids
		}
		var id string
		id, value, _ = strings.Cut(rest, ">")
		if id = strings.TrimLeft(stripBlanks(id), "<"); id != "" {
			ids = append(ids, id)
		}
	}
}

func stripBlanks(s string) string {
	return strings.Join(strings.Fields(s), "")
}
