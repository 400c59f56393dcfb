package mailbox

import (
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
)

// parseLabels reads X-Gmail-Labels: a list of names with commas between them, the whole or parts of it in encoded words,
// names that hold a comma in double quotes.
func parseLabels(value string) []string {
	var labels []string
	var name strings.Builder
	quoted := false
	flush := func() {
		if s := strings.TrimSpace(name.String()); s != "" {
			labels = append(labels, s)
		}
		name.Reset()
	}
	for _, c := range rawmail.DecodeText(value) {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			flush()
		default:
			name.WriteRune(c)
		}
	}
	flush()
	return labels
}
