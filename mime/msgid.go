package mime

import (
	"strings"
	"unicode"
)

// ParseMessageIDs reads the ids of a References, In-Reply-To or Message-ID field (RFC 5322, section 3.6.4), without
// their angle brackets and the blanks inside.
//
// QUIRK: where there are no brackets at all, each word is an id. Text around bracketed ids, which old mail has in
// In-Reply-To, is left out. Sample: ids-odd.
//
// It reads 100,000 ids at most.
func ParseMessageIDs(value string) []string { return parseMessageIDs(value, maxItems) }

func parseMessageIDs(value string, limit int) (ids []string) {
	if !strings.Contains(value, "<") {
		for id := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '>' || unicode.IsSpace(r) }) {
			if len(ids) == limit {
				break
			}
			ids = append(ids, id)
		}
		return ids
	}
	for {
		_, rest, found := strings.Cut(value, "<")
		if !found || len(ids) == limit {
			return ids
		}
		var id string
		id, value, _ = strings.Cut(rest, ">")
		if id = strings.TrimLeft(stripBlanks(id), "<"); id != "" {
			ids = append(ids, id)
		}
	}
}

// stripBlanks takes blanks out. Bytes of no text are replaced, so that two beside a blank do not join to another one.
func stripBlanks(s string) string {
	if !strings.ContainsFunc(s, unicode.IsSpace) {
		return s
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), "")
}
