package injection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

// The plain part of a newsletter may say that it cannot be shown, where it can be read, and how to leave. A longer one
// is a message of its own.
func TestANewsletterThatCannotBeShown(t *testing.T) {
	html := "<p>" + strings.Repeat("Spring offers for garden tools, seeds and pots in all our shops. ", 20) + "</p>"
	note := "This newsletter is written in HTML, and your mail program cannot display it.\n\nTo read the current issue, please " +
		"copy this address into your browser:\nhttps://news.example/issue/2026-03\n\nYou receive this message because you have " +
		"registered at news.example. If you no longer want to receive it, follow this link to leave the mailing list: " +
		"https://news.example/leave\n"
	msg := &postroom.Message{BodyHTML: html, BodyPlain: note}
	require.Empty(t, Indicators(t.Context(), msg))
	var other strings.Builder
	for n := range 100 {
		fmt.Fprintf(&other, "transfer%c%c ", 'a'+n/10, 'a'+n%10)
	}
	msg.BodyPlain = note + other.String()
	require.NotEmpty(t, Indicators(t.Context(), msg))
	msg.BodyPlain = strings.NewReplacer("HTML", "colour", "browser", "window").Replace(note)
	require.NotEmpty(t, Indicators(t.Context(), msg))
}
