package mailbox

import (
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
)

// parseLabels parses X-Gmail-Labels: a list of names separated by commas. The list or parts of it may be encoded
// words, and names that contain a comma are in double quotes.
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
