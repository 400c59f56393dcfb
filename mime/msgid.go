package mime

import (
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"strings"
	"unicode"
)

// ParseMessageIDs parses the ids of a References, In-Reply-To or Message-ID field (RFC 5322, section 3.6.4), without
// their angle brackets and inner blanks. It reads at most 100,000 ids.
//
// QUIRK: if there are no brackets at all, each word is an id. Text around bracketed ids, which old mail has in
// In-Reply-To, is left out. Some programs write ids as encoded-words. Samples: ids-odd, 77-irt-encoded.
func ParseMessageIDs(value string) []string { return parseMessageIDs(value, maxItems) }

func parseMessageIDs(value string, limit int) (ids []string) {
	if strings.Contains(value, "=?") {
		value, _ = decodeWords(value, nil)
	}
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
		if id = strings.TrimLeft(fieldvalue.WithoutBlanks(id), "<"); id != "" {
			ids = append(ids, id)
		}
	}
}
